"""The pages of web archives, as `dehusk clean` reads them. Needs FastWARC."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

HTML = {"text/html", "application/xhtml+xml"}


class ArchivedPage(NamedTuple):
    """An HTML response of an archive."""

    url: str
    html: bytes
    content_type: str | None
    robots_tags: str | None
    """X-Robots-Tag headers, one a line."""
    warc_record_id: str | None
    fetched_at: datetime | None
    status: int


def pages(archive: Any) -> Iterator[ArchivedPage]:
    """The successful HTML responses of an archive, in order. Content codings are undone.

    Args:
        archive: A path, a URL that fsspec can open, or a stream.
    """
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    for record in ArchiveIterator(archive, record_types=WarcRecordType.response, auto_decode="all"):
        http = record.http_headers
        if http is None or http.status_code is None or not 200 <= http.status_code < 300:
            continue
        content_type = http.get("Content-Type")
        if (content_type or "").split(";")[0].strip().lower() not in HTML:
            continue
        body = record.reader.read()
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
        if not body or not url:
            continue
        tags = [value for name, value in http.astuples() if name.lower() == "x-robots-tag"]
        yield ArchivedPage(
            url=url,
            html=body,
            content_type=content_type,
            robots_tags="\n".join(tags) or None,
            warc_record_id=record.headers.get("WARC-Record-ID"),
            fetched_at=record.record_date,
            status=http.status_code,
        )

"""The pages of web archives, as `dehusk clean` reads them. Needs FastWARC."""

import gzip
import logging
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

HTML = {"text/html", "application/xhtml+xml"}

logger = logging.getLogger("dehusk.warc")


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
    """The successful HTML responses of an archive, in order.

    Content codings are undone: gzip, deflate, and with the packages brotli and zstandard also br and zstd. A body that
    cannot be decoded is left out, with a warning that names its URL. An archive that was cut off ends where it was cut.

    Args:
        archive: A path, a URL that fsspec can open, or a stream.

    Raises:
        OSError: The archive cannot be read. The message names it.
    """
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    try:
        for record in ArchiveIterator(archive, record_types=WarcRecordType.response, auto_decode="none"):
            page = _page(record)
            if page is not None:
                yield page
    except OSError as e:
        raise OSError(f"{archive}: {e}") from e


def _page(record: Any) -> ArchivedPage | None:
    http = record.http_headers
    if http is None or http.status_code is None or not 200 <= http.status_code < 300:
        return None
    headers = [(name.lower(), value) for name, value in http.astuples()]
    first = dict(reversed(headers))
    content_type = first.get("content-type")
    url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
    if (content_type or "").split(";")[0].strip().lower() not in HTML or not url:
        return None
    body = record.reader.read()
    if "chunked" in first.get("transfer-encoding", "").lower():
        body = _joined(body)
    try:
        body = _decoded(body, first.get("content-encoding", ""))
    except (OSError, EOFError, ValueError, zlib.error, ImportError) as e:
        logger.warning("%s: left out: its body cannot be decoded: %s", url, e)
        return None
    if not body:
        return None
    return ArchivedPage(
        url=url,
        html=body,
        content_type=content_type,
        robots_tags="\n".join(value for name, value in headers if name == "x-robots-tag") or None,
        warc_record_id=record.headers.get("WARC-Record-ID"),
        fetched_at=record.record_date,
        status=http.status_code,
    )


def _joined(body: bytes) -> bytes:
    """The chunks of a body, joined. A body that has none stays as it is: many archives keep the header without them."""
    chunks, at = [], 0
    while True:
        end = body.find(b"\r\n", at)
        try:
            length = int(body[at:end].split(b";")[0], 16) if end >= 0 else -1
        except ValueError:
            length = -1
        if length < 0 or end + 2 + length > len(body):
            return body if not chunks else b"".join(chunks)
        if length == 0:
            return b"".join(chunks)
        chunks.append(body[end + 2 : end + 2 + length])
        at = end + 2 + length + 2


def _decoded(body: bytes, codings: str) -> bytes:
    """A body without its content codings. An unknown coding leaves it as it is."""
    for coding in reversed([coding.strip().lower() for coding in codings.split(",")]):
        if coding in ("gzip", "x-gzip"):
            body = gzip.decompress(body)
        elif coding == "deflate":
            try:
                body = zlib.decompress(body)
            except zlib.error:
                body = zlib.decompress(body, -zlib.MAX_WBITS)
        elif coding == "br":
            import brotli

            try:
                body = brotli.decompress(body)
            except brotli.error as e:
                raise ValueError(f"brotli: {e}") from e
        elif coding == "zstd":
            import zstandard

            try:
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            except zstandard.ZstdError as e:
                raise ValueError(f"zstd: {e}") from e
    return body

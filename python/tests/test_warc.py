"""Archives with damaged records, beside the program."""

import gzip

import pytest
from conftest import site_page

pytest.importorskip("fastwarc")

from dehusk import warc  # noqa: E402

HTML = site_page("rye").encode()
BODIES = {
    "whole": ("", HTML),
    "gzip": ("Content-Encoding: gzip\r\n", gzip.compress(HTML)),
    "x-gzip": ("Content-Encoding: x-gzip\r\n", gzip.compress(HTML)),
    "gzip that is none": ("Content-Encoding: gzip\r\n", HTML),
    "cut gzip": ("Content-Encoding: gzip\r\n", gzip.compress(HTML)[:40]),
    "unknown coding": ("Content-Encoding: foo\r\n", HTML),
    "chunked": ("Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(HTML), HTML)),
    "chunked that is not": ("Transfer-Encoding: chunked\r\n", HTML),
}


def write(path, bodies):
    with open(path, "wb") as out:
        for n, (headers, body) in enumerate(bodies):
            block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/{n}\r\nWARC-Date: 2026-11-22T10:00:00Z\r\n"
                f"WARC-Record-ID: <urn:uuid:{n:032x}>\r\nContent-Type: application/http;msgtype=response\r\n"
                f"Content-Length: {len(block)}\r\n\r\n"
            )
            out.write(head.encode() + block + b"\r\n\r\n")


@pytest.mark.parametrize("name", BODIES)
def test_a_record_that_cannot_be_decoded_is_left_out_and_the_others_are_read(name, tmp_path):
    write(tmp_path / "a.warc", [BODIES["whole"], BODIES[name], BODIES["whole"]])
    read = {page.url: page.html for page in warc.pages(str(tmp_path / "a.warc"))}
    is_lost = name in ("gzip that is none", "cut gzip")
    assert list(read) == ["http://a.org/0", *([] if is_lost else ["http://a.org/1"]), "http://a.org/2"]
    assert set(read.values()) == {HTML}


def test_an_archive_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(OSError, match="none.warc"):
        list(warc.pages(str(tmp_path / "none.warc")))

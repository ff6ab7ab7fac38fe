"""`extract`, beside trafilatura's arguments."""

import json
import os

import dehusk
import pytest

ARTICLE = """<html lang=en><title>Rye - Grains</title><meta property="article:published_time" content="2026-11-22">
<nav><a href=/>Home</a> <a href=/news>News</a></nav>
<article><h1>Rye</h1><p>Rye is a grass, grown as a grain. It is closely related to wheat and barley, and it is used for
<a href=/bread>flour, bread</a> and beer. Many people like it.</p>
<table><tr><th>Grain<th>Harvest of the year<tr><td>Rye<td>eleven million tonnes</table>
<p>It is grown in the north and the east, and it can stand the cold better than most other grains can do.</p></article>
<footer>Some rights</footer>"""


def test_the_arguments_of_trafilatura():
    text = dehusk.extract(ARTICLE)
    assert text.startswith("Rye") and "Home" not in text and "tonnes" in text
    assert dehusk.extract(ARTICLE, output_format="txt") == text
    assert "tonnes" not in dehusk.extract(ARTICLE, include_tables=False)
    markdown = dehusk.extract(ARTICLE, "http://a.org/rye", output="markdown")
    assert "[flour, bread](http://a.org/bread)" in markdown
    assert "](" not in dehusk.extract(ARTICLE, output="markdown", include_links=False)
    with_metadata = dehusk.extract(ARTICLE, "http://a.org/rye", output="markdown", with_metadata=True)
    assert with_metadata.startswith('---\ntitle: "Rye"\nurl: "http://a.org/rye"\n') and with_metadata.endswith(markdown)
    row = json.loads(dehusk.extract(ARTICLE, "http://a.org/rye", output="json"))
    assert (row["title"], row["published"], row["text"]) == ("Rye", "2026-11-22", text)
    assert dehusk.extract(ARTICLE, target_language="en") == text
    assert dehusk.extract(ARTICLE, target_language="de") is None
    for argument in ("output", "output_format"):
        with pytest.raises(ValueError, match=f'^{argument}: "xml" is not known'):
            dehusk.extract(ARTICLE, **{argument: "xml"})
    assert dehusk.extract(ARTICLE, only_with_metadata=True) is None
    assert dehusk.extract(ARTICLE, "http://a.org/rye", only_with_metadata=True) == text
    assert len(dehusk.extract(ARTICLE, favor_recall=True)) >= len(dehusk.extract(ARTICLE, favor_precision=True))
    for output in ("text", "markdown", "html", "json"):
        assert dehusk.extract("", output=output) is None and dehusk.extract("<nav></nav>", output=output) is None


def test_extract_equals_the_program(dev_pages, dehusk_program, tmp_path):
    """Byte for byte, in all four forms, on each tenth page; with ALL_PAGES=1 on all 2,445 (three minutes)."""
    assert len(dev_pages) > 2000
    dev_pages = dev_pages[:: 1 if os.environ.get("ALL_PAGES") else 10]
    pages = [(page["html"], page.get("url") or "") for page in dev_pages]
    lines = [json.dumps({"url": url, "html": html}) for html, url in pages]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    show = ["--alone", "pages.jsonl", "--set", "store.noindex=show"]
    for form in ("text", "markdown", "html"):
        written = dehusk_program("clean", *show, "--json", "--format", form)
        assert len(written) == len(pages)
        for (html, url), line in zip(pages, written):
            ours = dehusk.extract(html, url if line["url"] else None, output=form)
            # Where nothing is left, `extract` gives None as trafilatura does, and the program an empty page.
            assert ours == line["content"] or (ours is None and not dehusk.Page(html).clean().text), line["page"]
    rows = dehusk_program("clean", *show, "--rows")
    for (html, url), row in zip(pages, rows):
        ours = dehusk.extract(html, url if row["url"] else None, output="json")
        # A page in a string has no source.
        assert (row.pop("source"), row.pop("source_id") != "") == ("pages.jsonl", True)
        assert ours is None or {**row, "source": None, "source_id": None} == json.loads(ours), row["url"]


def test_no_page_and_no_address_raises():
    text = dehusk.extract(ARTICLE)
    for url in ("", "no address", "http://a b/", "ftp://a.org/", "//"):
        assert dehusk.extract(ARTICLE, url) == text
    assert dehusk.extract(ARTICLE.replace("grass", "gra\ud800ss")) == text.replace("grass", "gra\ufffdss")
    for page in (None, "", "\x00", b"\xff\xfe", "<" * 1000, "&#xffffff;"):
        assert dehusk.extract(page) is None or isinstance(dehusk.extract(page), str)
    assert dehusk.clean_batch([ARTICLE, None, "\ud800"], output="text")[1] is None
    cleaned = dehusk.clean_batch([None, ARTICLE])
    assert cleaned[0] is None and cleaned[1].text == text

"""`dehusk.trafilatura`: the arguments, outputs and keys of trafilatura."""

import csv
import inspect
import io
import json

import dehusk.trafilatura
import pytest
from dehusk.trafilatura import KEYS, bare_extraction, extract

PAGE = """<html lang=en><title>Rye - Grains</title><meta name=author content="Ann Field">
<meta property="article:published_time" content="2026-11-22"><link rel=canonical href="http://a.org/rye">
<nav><a href=/>Home</a> <a href=/news>News</a></nav>
<article><h1>Rye</h1><p>Rye is a grass, grown as a grain. It is closely related to <b>wheat</b> and barley, and it is
used for <a href=/bread>flour, bread</a> and beer. Many people like it.</p>
<table><tr><th>Grain<th>Harvest of the year<tr><td>Rye<td>eleven million tonnes</table>
<p class=note>Sold in <b>sacks</b> of fifty kilograms by all the mills of the country, they say.</p>
<p>It is grown in the north and the east, and it can stand the cold better than most other grains can do.</p>
<p>It is grown in the north and the east, and it can stand the cold better than most other grains can do.</p>
</article><footer>Some rights</footer>"""


def test_outputs_and_keys():
    text = extract(PAGE)
    assert text.startswith("Rye\n") and "Home" not in text and "tonnes" in text and not text.endswith("\n")
    assert "tonnes" not in extract(PAGE, include_tables=False)
    document = bare_extraction(PAGE, as_dict=True)
    assert tuple(document) == (*KEYS, "body", "commentsbody")
    found = bare_extraction(PAGE)
    assert found.title == "Rye" and found.body is None and found.as_dict() == document
    assert (document["title"], document["author"], document["date"]) == ("Rye", "Ann Field", "2026-11-22")
    assert (document["text"], document["url"], document["hostname"]) == (text, "http://a.org/rye", "a.org")
    row = json.loads(extract(PAGE, output_format="json", with_metadata=True, record_id="7"))
    assert (row["source"], row["id"], row["tags"], row["text"]) == ("http://a.org/rye", "7", "", text)
    assert set(json.loads(extract(PAGE, output_format="json"))) == {"text", "comments"}
    cells = next(csv.reader(io.StringIO(extract(PAGE, output_format="csv")), delimiter="\t"))
    assert len(cells) == 11 and cells[:2] == ["http://a.org/rye", "null"] and cells[7] == text
    assert "**wheat**" in extract(PAGE, output_format="markdown") and "**wheat**" in extract(PAGE, include_formatting=True)
    assert "](" not in extract(PAGE, output_format="markdown")
    assert "](" in extract(PAGE, output_format="markdown", include_links=True)
    assert "<p>" in extract(PAGE, output_format="html")
    assert extract(PAGE, with_metadata=True).startswith('---\ntitle: "Rye"') and extract(PAGE, with_metadata=True).endswith(text)


def test_what_is_left_out():
    assert extract(PAGE, deduplicate=True).count("the cold") == 1
    assert extract(PAGE, target_language="de") is None and extract(PAGE, max_tree_size=5) is None
    assert extract(PAGE, url_blacklist={"http://a.org/rye"}) is None
    assert bare_extraction(PAGE, author_blacklist={"ann field"}).author is None
    assert extract(PAGE, only_with_metadata=True) is None and extract(PAGE, "http://a.org/rye", only_with_metadata=True)
    lxml = pytest.importorskip("lxml.html")
    assert "sacks" not in extract(PAGE, prune_xpath="//p[@class='note']") and "sacks" in extract(PAGE)
    assert extract(lxml.fromstring(PAGE)) == extract(PAGE)


def test_content_never_raises_and_arguments_say_what_is_wrong():
    assert extract(None) is None and extract(float("nan")) is None and extract("") is None
    assert extract(b"%PDF-1.7\n1 0 obj") is None and bare_extraction("<nav></nav>") is None
    for url in ("", "no address", "http://a b/", "ftp://a.org/", "/rye"):
        assert extract(PAGE, url) == extract(PAGE)
    assert "Rye" in extract(PAGE.replace("north", "nor\ud800th")) and "Rye" in extract(PAGE.encode("utf-16"))
    with pytest.raises(ValueError, match="output_format: 'xml': XML and TEI are not written"):
        extract(PAGE, output_format="xml")
    with pytest.raises(ValueError, match="settings of trafilatura"):
        extract(PAGE, config=object())


def test_the_signature_is_that_of_trafilatura():
    """By position, as trafilatura 2 has them."""
    theirs = pytest.importorskip("trafilatura")
    for name in ("extract", "bare_extraction"):
        want = list(inspect.signature(getattr(theirs, name)).parameters)
        assert list(inspect.signature(getattr(dehusk.trafilatura, name)).parameters) == want
    document = theirs.bare_extraction(PAGE, as_dict=True)
    assert set(document) == {*KEYS, "body", "commentsbody"}
    keys = set(json.loads(theirs.extract(PAGE, output_format="json", with_metadata=True)))
    assert set(json.loads(extract(PAGE, output_format="json", with_metadata=True))) == keys

#!/usr/bin/env python3
"""Measures metadata beside other tools.

    python scripts/measure_metadata.py --dates dates.jsonl --metadata metadata.jsonl --news news.jsonl
        [--bin target/release/dehusk]

`news.jsonl` has `url`, `html`, `title`, `authors` and `date`; trafilatura is run beside dehusk where it is installed.
`dates.jsonl` has `url`, `html` and `date`, the day of publication; htmldate is run beside dehusk where it is
installed. `metadata.jsonl` has `url`, `html` and `metadata` with title, byline, lang, siteName and publishedTime. Each
is measured twice: as it is, and without scripts of JSON-LD.
"""

import argparse
import json
import re
import subprocess
import tempfile

JSON_LD = re.compile(r"(?is)<script[^>]*application/ld\+json.*?</script>")


def rows_of(binary, pages):
    """What dehusk says of each page, by its number."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as out:
        for number, page in enumerate(pages):
            out.write(json.dumps({"url": page["url"], "html": page["html"]}) + "\n")
        out.flush()
        command = [binary, "clean", "--alone", "--rows", "--set", "store.noindex=show", out.name]
        text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == len(pages), (len(rows), len(pages))
    return rows


def htmldate_of(page):
    from htmldate import find_date

    try:
        return find_date(page["html"], url=page["url"], original_date=True)
    except Exception:  # A tool that fails on a page says nothing of it.
        return None


def dates(binary, pages, show):
    found = [row["published"] for row in rows_of(binary, pages)]
    right = sum(day == page["date"] for day, page in zip(found, pages))
    wrong = sum(day is not None and day != page["date"] for day, page in zip(found, pages))
    print(f"  dehusk    right {right / len(pages):.3f}  wrong {wrong / len(pages):.3f}")
    try:
        import htmldate  # noqa: F401
    except ImportError:
        print("  htmldate is not installed")
        return
    other = [htmldate_of(page) for page in pages]
    right = sum(day == page["date"] for day, page in zip(other, pages))
    wrong = sum(day is not None and day != page["date"] for day, page in zip(other, pages))
    print(f"  htmldate  right {right / len(pages):.3f}  wrong {wrong / len(pages):.3f}")
    if show:
        for ours, theirs, page, row in zip(found, other, pages, rows_of(binary, pages)):
            if ours != page["date"]:
                source = row["sources"].get("published")
                print("   ", page["date"], ours, source, theirs, page["url"])


def letters(text):
    return re.sub(r"\W+", "", text or "").lower()


FIELDS = {
    "title": lambda row: row["title"],
    "byline": lambda row: " ".join(row["authors"]),
    "siteName": lambda row: row["site_name"],
    "lang": lambda row: row["declared_language"],
    "publishedTime": lambda row: row["published"],
}


def same_value(gold, expected, value):
    if gold == "publishedTime":
        return (value or "") == expected[:10]
    expected = re.sub(r"(?i)^\s*by[\s:]+", "", expected) if gold == "byline" else expected
    return letters(value) == letters(expected)


def fields(binary, pages, show):
    for tool, rows in by_tools(binary, pages).items():
        for gold, value in FIELDS.items():
            known = [(page["metadata"][gold], value(row)) for page, row in zip(pages, rows) if page["metadata"].get(gold)]
            wrong = [(expected, found) for expected, found in known if not same_value(gold, expected, found)]
            for expected, found in wrong if show and tool == "dehusk" else []:
                print("   ", gold, repr(expected)[:90], repr(found)[:90])
            print(f"  {tool:12} {gold:14} right {1 - len(wrong) / max(1, len(known)):.3f} of {len(known)}")


def authors_of(text):
    return [author for author in (text or "").split(";") if author.strip()]


def by_trafilatura(page):
    from trafilatura.metadata import extract_metadata

    try:
        found = extract_metadata(page["html"], default_url=page["url"])
    except Exception:  # A tool that fails on a page says nothing of it.
        return {"title": None, "published": None, "authors": [], "site_name": None, "declared_language": None}
    return {"title": found.title, "published": (found.date or "")[:10], "authors": authors_of(found.author),
            "site_name": found.sitename, "declared_language": found.language}


def by_tools(binary, pages):
    """The rows of dehusk, and of trafilatura where it is installed."""
    tools = {"dehusk": rows_of(binary, pages)}
    try:
        import trafilatura  # noqa: F401

        tools["trafilatura"] = [by_trafilatura(page) for page in pages]
    except ImportError:
        print("  trafilatura is not installed")
    return tools


def news(binary, pages, show):
    tools = by_tools(binary, pages)
    for tool, rows in tools.items():
        titles = sum(letters(row["title"]) == letters(page["title"]) for row, page in zip(rows, pages))
        days = sum((row["published"] or "") == (page["date"] or "")[:10] for row, page in zip(rows, pages))
        right = wrong = missed = 0
        for row, page in zip(rows, pages):
            gold = {letters(author) for author in page["authors"] or []}
            found = {letters(author) for author in row["authors"]}
            right, wrong, missed = right + len(gold & found), wrong + len(found - gold), missed + len(gold - found)
            if show and tool == "dehusk" and (gold != found or letters(row["title"]) != letters(page["title"])):
                print("   ", page["title"], "|", row["title"], "|", page["authors"], "|", row["authors"])
        print(f"  {tool:12} titles {titles}, days {days}, authors right {right} wrong {wrong} missed {missed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dates")
    parser.add_argument("--metadata")
    parser.add_argument("--news")
    parser.add_argument("--bin", default="target/release/dehusk")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    options = parser.parse_args()
    for path, measure in [(options.dates, dates), (options.metadata, fields), (options.news, news)]:
        if not path:
            continue
        with open(path, encoding="utf-8") as lines:
            pages = [json.loads(line) for line in lines]
        for name, strip in [("as it is", False), ("without JSON-LD", True)]:
            print(f"{path}, {len(pages)} pages, {name}")
            change = (lambda html: JSON_LD.sub("", html)) if strip else (lambda html: html)
            measure(options.bin, [{**page, "html": change(page["html"])} for page in pages], options.show and not strip)


if __name__ == "__main__":
    main()

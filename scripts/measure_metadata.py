#!/usr/bin/env python3
"""Measures metadata beside other tools.

    python scripts/measure_metadata.py --dates dates.jsonl --metadata metadata.jsonl [--bin target/release/dehusk]

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
                source = json.loads(row["sources"]).get("published")
                print("   ", page["date"], ours, source, theirs, page["url"])


def letters(text):
    return re.sub(r"\W+", "", text or "").lower()


def fields(binary, pages, show):
    rows = rows_of(binary, pages)
    wanted = {
        "title": ("title", lambda row: row["title"]),
        "byline": ("byline", lambda row: " ".join(row["authors"])),
        "siteName": ("site_name", lambda row: row["site_name"]),
        "lang": ("declared_language", lambda row: row["declared_language"]),
        "publishedTime": ("published", lambda row: row["published"]),
    }
    for gold, (name, value) in wanted.items():
        known = [(page, row) for page, row in zip(pages, rows) if page["metadata"].get(gold)]
        right = 0
        for page, row in known:
            expected, ours = page["metadata"][gold], value(row)
            if gold == "publishedTime":
                same = (ours or "") == expected[:10]
            else:
                expected = re.sub(r"(?i)^\s*by[\s:]+", "", expected) if gold == "byline" else expected
                same = letters(ours) == letters(expected)
            right += same
            if show and not same:
                print("   ", name, repr(expected)[:90], repr(ours)[:90])
        print(f"  {name:18} right {right / max(1, len(known)):.3f} of {len(known)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dates")
    parser.add_argument("--metadata")
    parser.add_argument("--bin", default="target/release/dehusk")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    options = parser.parse_args()
    for path, measure in [(options.dates, dates), (options.metadata, fields)]:
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

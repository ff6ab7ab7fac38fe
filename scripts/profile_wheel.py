#!/usr/bin/env python3
"""The work by which `scripts/build_wheel.sh --guided` profiles the Python package: pages are learned from, and cleaned.

    python scripts/profile_wheel.py ARCHIVE...

ARCHIVE is a file of `dehusk export --format warc`.
"""

import gzip
import sys
from collections import defaultdict
from urllib.parse import urlsplit

import dehusk


def records(archive: str) -> list[tuple[str, bytes]]:
    """URL and body of each record."""
    found: list[tuple[str, bytes]] = []
    with gzip.open(archive) as file:
        while line := file.readline():
            if not line.startswith(b"WARC/"):
                continue
            fields: dict[str, str] = {}
            while header := file.readline().strip():
                name, _, value = header.decode().partition(":")
                fields[name.lower()] = value.strip()
            body = file.read(int(fields["content-length"]))
            if url := fields.get("warc-target-uri"):
                found.append((url, body))
    return found


def main() -> None:
    sites: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for archive in sys.argv[1:]:
        for url, body in records(archive):
            sites[urlsplit(url).netloc].append((url, body))
    n = 0
    for pages in sites.values():
        sample = [dehusk.Page(body, url) for url, body in pages[:9]]
        if len(sample) < 2:
            continue
        model = dehusk.SiteModel.from_bytes(dehusk.SiteModel.learn(sample).to_bytes())
        for url, body in pages:
            html = body.decode("utf-8", "replace")
            for keep in ("own", "main"):
                cleaned = model.clean(html, url=url, keep=keep)
                n += len(cleaned.text) + len(cleaned.markdown) + len(cleaned.html)
            n += len(dehusk.extract(html))
    if n == 0:
        sys.exit("no page was cleaned")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times the Python package beside trafilatura and Resiliparse, in one run over the same pages.

    python scripts/bench_python.py PAGES.jsonl [--pages 400]

PAGES.jsonl has lines with `html`. Needs the packages dehusk, trafilatura, lxml_html_clean and resiliparse. Each figure
is the median of three rounds, the tools in turn. The cost of the border is that of a call for a page with nothing in
it, and of a property.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import resiliparse.extract.html2text
import trafilatura

import dehusk


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--pages", type=int, default=400)
    options = parser.parse_args()
    with open(options.source, encoding="utf-8") as lines:
        pages = [json.loads(line)["html"] for line in lines if line.strip()]
    pages = pages[:: max(len(pages) // options.pages, 1)][: options.pages]
    size = sum(len(page.encode("utf-8", "replace")) for page in pages)

    def main_text(page: str) -> str:
        return resiliparse.extract.html2text.extract_plain_text(page, main_content=True)

    tools: dict[str, Callable[[], object]] = {
        "dehusk.extract": lambda: [dehusk.extract(page) for page in pages],
        "dehusk.clean_batch, 1 thread": lambda: dehusk.clean_batch(pages, output="text", threads=1),
        "dehusk.clean_batch, 2 threads": lambda: dehusk.clean_batch(pages, output="text", threads=2),
        "Resiliparse main content": lambda: [main_text(page) for page in pages],
        "trafilatura": lambda: [trafilatura.extract(page) for page in pages],
        "trafilatura fast": lambda: [trafilatura.extract(page, fast=True) for page in pages],
    }
    rounds = [{name: timed(work) for name, work in tools.items()} for _ in range(3)]
    base = statistics.median(round["Resiliparse main content"] for round in rounds)
    print(f"{len(pages)} pages, {size / len(pages) / 1000:.1f} KB each")
    print(f"{'tool':<32} {'ms/page':>8} {'pages/s':>9} {'MB/s':>7} {'Resiliparse = 1':>16}")
    for name in tools:
        seconds = statistics.median(round[name] for round in rounds)
        rate = len(pages) / seconds
        print(f"{name:<32} {1000 / rate:8.3f} {rate:9.0f} {size / seconds / 1e6:7.1f} {seconds / base:16.2f}")

    n = 20_000
    page = dehusk.Page("")
    for name, work in (
        ("extract of an empty page", lambda: [dehusk.extract("") for _ in range(n)]),
        ("a property of a page", lambda: [page.n_nodes for _ in range(n)]),
    ):
        print(f"{name}: {min(timed(work) for _ in range(5)) / n * 1e6:.2f} µs")


if __name__ == "__main__":
    main()

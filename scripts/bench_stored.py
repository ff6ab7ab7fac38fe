#!/usr/bin/env python3
"""Cleaning with stored models beside Resiliparse's main content, on one core, in one run over the same pages.

    python scripts/bench_stored.py DEHUSK SITES [--rounds 3]

DEHUSK is the program. SITES is a folder with `gold.toml` (the key page of each site) and saved pages below
`dev/SITE/www` or `dev2/SITE/www`. Each site is learned with `dehusk learn`; then all pages of the sites that were
learned are cleaned as JSON lines, with and without their models. Needs the package resiliparse. The figures are medians
of the rounds, the tools in turn. Those of `clean` are of the whole process, JSON, start and models included. Where the
package dehusk is installed, it is called in the process of Resiliparse with the same strings, too, with models that
were learned from nine pages of each site and stored as bytes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from resiliparse.extract.html2text import extract_plain_text

try:
    import dehusk
except ImportError:
    dehusk = None

CLEAN = {
    "clean --json": [],
    "clean --json, clean.keep=main": ["--set", "clean.keep=main"],
    "clean --json --alone": ["--alone"],
}


def one_core(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["taskset", "-c", "0", *command, "--config", "/dev/null"], check=True, capture_output=True)


def learned(program: str, sites: Path, database: str) -> tuple[list[tuple[str, str]], float]:
    """URL and text of the pages of all sites that can be learned, and the milliseconds that learning a site takes."""
    gold = tomllib.loads((sites / "gold.toml").read_text(encoding="utf-8"))["site"]
    pages: list[tuple[str, str]] = []
    seconds: list[float] = []
    for site in sorted(path for split in ("dev", "dev2") for path in (sites / split).glob("*/www")):
        name = site.parent.name
        host = f"{name}.example"
        start = time.monotonic()
        try:
            one_core(program, "learn", str(site), "--key", gold[name]["key_page"], "--host", host, "--db", database)
        except subprocess.CalledProcessError as error:
            print(f"{name} is left out: {error.stderr.decode().strip().splitlines()[-1]}", file=sys.stderr)
            continue
        seconds.append(time.monotonic() - start)
        for page in sorted(site.rglob("*.html")):
            url = f"http://{host}/{page.relative_to(site)}"
            pages.append((url, page.read_text(encoding="utf-8", errors="replace")))
    return pages, 1000 * statistics.median(seconds)


def on_one_core(work: Callable[[], object]) -> Callable[[], None]:
    """The work on core 0. What other processes print is not read on it."""

    def run() -> None:
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})
        work()
        os.sched_setaffinity(0, cores)

    return run


def calls(pages: list[tuple[str, str]]) -> dict[str, Callable[[], object]]:
    """The Python package on the pages: with the stored model of their site, for main content, and without."""
    if dehusk is None:
        return {}
    by_site: dict[str, list[tuple[str, str]]] = {}
    for url, html in pages:
        by_site.setdefault(url.split("/")[2], []).append((url, html))
    models = {}
    for site, own in by_site.items():
        sample = own[:: max(len(own) // 9, 1)][:9]
        models[site] = dehusk.SiteModel.learn([dehusk.Page(html, url) for url, html in sample]).to_bytes()
    models = {site: dehusk.SiteModel.from_bytes(stored) for site, stored in models.items()}

    def clean(keep: str) -> None:
        for site, own in by_site.items():
            for url, html in own:
                _ = models[site].clean(html, url=url, keep=keep).text

    return {
        "SiteModel.clean(html).text": lambda: clean("own"),
        'SiteModel.clean(html, keep="main").text': lambda: clean("main"),
        "extract(html)": lambda: [dehusk.extract(html) for _, html in pages],
    }


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("sites", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database, source = f"{folder}/models.db", f"{folder}/pages.jsonl"
        pages, ms_to_learn = learned(options.program, options.sites, database)
        with open(source, "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"url": url, "html": html}) + "\n" for url, html in pages)
        size = sum(len(html.encode("utf-8", "replace")) for _, html in pages)
        print(f"{len(pages):,} pages of {size / len(pages) / 1000:.1f} KB; learning a site {ms_to_learn:.0f} ms")

        def resiliparse() -> None:
            for _, html in pages:
                extract_plain_text(html, main_content=True)

        def program(extra: list[str]) -> Callable[[], object]:
            models = [] if "--alone" in extra else ["--db", database]
            return lambda: one_core(options.program, "clean", source, "--json", *models, *extra)

        tools = {"resiliparse": on_one_core(resiliparse)} | {name: program(extra) for name, extra in CLEAN.items()}
        tools |= {name: on_one_core(work) for name, work in calls(pages).items()}
        rounds: dict[str, list[float]] = {name: [] for name in tools}
        for _ in range(options.rounds):
            for name, work in tools.items():
                rounds[name].append(timed(work))
        base = statistics.median(rounds["resiliparse"])
        print(f"{'':<40}{'ms a page':>10}{'of Resiliparse':>16}")
        for name, seconds in rounds.items():
            middle = statistics.median(seconds)
            print(f"{name:<40}{1000 * middle / len(pages):>10.2f}{middle / base:>16.2f}")


if __name__ == "__main__":
    main()

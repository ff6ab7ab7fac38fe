#!/usr/bin/env python3
"""Markdown by the metrics of WebMainBench (PyPI webmainbench): text, code, formulas, tables, as edit similarity and TEDS.

    pip install webmainbench openai trafilatura html-to-markdown
    scripts/measure_webmainbench.py PAGES PROGRAM [PROGRAM ...] [--each]

PAGES is a file of JSON lines with html and groundtruth_content (.xz or not), or a folder with NAME.html and NAME.md.
Beside each program stand trafilatura, and html-to-markdown and pandoc (where it is installed), which convert the whole
page. A kind that neither a page nor what was made of it has is not scored. --each prints a line a page for the programs.
"""

import contextlib
import importlib.util
import io
import json
import lzma
import shutil
import subprocess
import sys
import types
from pathlib import Path


# The gold has the text of links, and no pictures.
FORM = ["--set", "clean.keep=main", "--set", "markdown.links=drop", "--set", "markdown.images=drop"]


def metrics():
    """The package's calculator. Its __init__ also loads extractors that need torch."""
    folder = Path(importlib.util.find_spec("webmainbench").submodule_search_locations[0])
    package = types.ModuleType("webmainbench")
    package.__path__ = [str(folder)]
    sys.modules["webmainbench"] = package
    from webmainbench.metrics.calculator import MetricCalculator

    return MetricCalculator()


def run(command, html):
    done = subprocess.run(command, input=html.encode(), capture_output=True, timeout=300, check=False)
    return done.stdout.decode(errors="replace")


def converters(programs):
    import html_to_markdown
    import trafilatura

    own = {
        program: lambda html, url, program=program: run(
            [program, "clean", "-", "--alone", "--format", "markdown", "--config", "/dev/null", *FORM], html
        )
        for program in programs
    }
    peers = {
        "trafilatura": lambda html, url: trafilatura.extract(
            html, url=url, output_format="markdown", include_tables=True
        ) or "",
        "html-to-markdown": lambda html, url: str(getattr(done := html_to_markdown.convert(html), "content", done)),
    }
    if shutil.which("pandoc"):
        peers["pandoc"] = lambda html, url: run(["pandoc", "-f", "html", "-t", "gfm"], html)
    return own | peers


def read_pages(path):
    if path.is_dir():
        named = [(file.stem, file.read_text("utf-8"), file.with_suffix(".md")) for file in sorted(path.glob("*.html"))]
        return [{"name": name, "html": html, "groundtruth_content": gold.read_text("utf-8")} for name, html, gold in named]
    read = lzma.open if path.suffix == ".xz" else open
    with read(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main():
    pages, *programs = [argument for argument in sys.argv[1:] if argument != "--each"]
    calculator = metrics()
    pages = read_pages(Path(pages))
    scores = {}
    for name, convert in converters(programs).items():
        for page in pages:
            markdown = convert(page["html"], page.get("url"))
            gold = page["groundtruth_content"]
            with contextlib.redirect_stdout(io.StringIO()):
                results = calculator.calculate_all(markdown, gold, None, page.get("content_list"))
            for metric, result in results.items():
                scores.setdefault(metric, {}).setdefault(name, []).extend([result.score] if result.success else [])
            if "--each" in sys.argv and name in programs:
                values = {metric: round(result.score, 3) for metric, result in results.items() if result.success}
                print(f"{page.get('name') or page.get('url')}: {values}")
    names = list(converters(programs))
    width = max(len(name) for name in names)
    print(" " * width, *(f"{metric:>12}" for metric in scores))
    for name in names:
        cells = []
        for by_name in scores.values():
            values = by_name.get(name, [])
            cells.append(f"{sum(values) / len(values):12.3f}" if values else f"{'-':>12}")
        print(f"{name:{width}}", *cells)


if __name__ == "__main__":
    main()

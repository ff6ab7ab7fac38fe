"""Main content by page-level extractors on the pages of left_out.py, scored alike; CPU time of dehusk beside them.

The time of dehusk is that of its whole process, with the reading and writing of JSON; its scores are left_out.py's.

rs-trafilatura is built from crates.io below target/peers/, where that is possible; what its process takes is counted.

    pip install trafilatura resiliparse lxml_html_clean
    python3 scripts/content/peers.py [--corpora sites,sites2]
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import trafilatura
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

import corpora
import score_text

EXTRACTORS = {
    "trafilatura": lambda html: trafilatura.extract(html) or "",
    "resiliparse": lambda html: extract_plain_text(HTMLTree.parse_from_bytes(html), main_content=True),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=",".join(name for name in corpora.WEIGHTS if name != "snippets"))
    names = parser.parse_args().corpora.split(",")
    rust_peer = build_rust_peer()
    for name in names:
        pages = [
            (Path(line["file"]).read_bytes() if "file" in line else line["html"].encode(), page["gold"])
            for line, page in corpora.lines_of(name)
        ]
        golds = [gold for _, gold in pages]
        for tool, extract in EXTRACTORS.items():
            start = time.process_time()
            texts = [extract(html) for html, _ in pages]
            report(tool, name, texts, golds, time.process_time() - start)
        if rust_peer:
            report("rs-trafilatura", name, *by_rust_peer(rust_peer, [html for html, _ in pages], golds))
        took = time_of_dehusk([html for html, _ in pages]) * 1000 / len(pages)
        print(f"{'dehusk alone':14} {name:11} {len(pages):4} pages  {took:35.1f} ms a page", flush=True)


def report(tool, name, texts, golds, seconds):
    found = [value for text, gold in zip(texts, golds) if (value := score_text.bag(text, gold))]
    p, r, f1 = (sum(value[k] for value in found) / len(found) for k in range(3))
    took = seconds * 1000 / len(golds)
    print(f"{tool:14} {name:11} {len(found):4} pages  F1 {f1:.4f} ({p:.3f}/{r:.3f})  {took:.1f} ms a page", flush=True)


def build_rust_peer():
    """The program of rs_trafilatura/, or None where it does not build."""
    folder = corpora.ROOT / "target" / "peers" / "rs_trafilatura"
    manifest = Path(__file__).parent / "rs_trafilatura" / "Cargo.toml"
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", manifest, "--target-dir", folder]
    if subprocess.run(command, check=False).returncode != 0:
        print("rs-trafilatura does not build here, skipped")
        return None
    return folder / "release" / "rs_trafilatura_peer"


def by_rust_peer(program, pages, golds):
    """Texts, their golds and the CPU seconds of the process, with the reading of one file a page."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for at, html in enumerate(pages):
            paths.append(Path(folder) / f"{at}.html")
            paths[-1].write_bytes(html)
        names = "".join(f"{path}\n" for path in paths)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [program], input=names, text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    texts = [json.loads(line) for line in run.stdout.split("\n") if line]
    return texts, golds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time_of_dehusk(pages):
    """CPU seconds of `dehusk clean --method alone` over all pages."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for at, html in enumerate(pages):
            file.write(json.dumps({"url": f"http://{at}.example/", "html": html.decode("utf-8", "replace")}) + "\n")
        file.flush()
        command = [
            corpora.ROOT / "target" / "release" / "dehusk",
            "clean",
            file.name,
            "--method",
            "alone",
            "--json",
            "--config",
            "/dev/null",
            "--set",
            "store.noindex=show",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

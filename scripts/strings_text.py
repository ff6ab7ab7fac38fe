"""Template strings on plain text: news pages as naive text, learned and cleaned site by site.

    scripts/strings_text.py PAGES.jsonl [KEY=VALUE ...]

PAGES.jsonl has lines {"id", "site", "gold", "html"}. Each page becomes text: no scripts and styles, a line for each
block, no tags. The strings of each site are learned from its pages and removed from them. Prints words F1 (P, R), means
over pages. Needs target/release/dehusk, or the program that PROGRAM names.
"""

import collections
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("PROGRAM", ROOT / "target" / "release" / "dehusk")
BLOCK = "address|article|aside|blockquote|body|br|div|dd|dl|dt|form|h[1-6]|hr|li|ol|option|p|pre|section|table|td|th|tr|ul"


def naive_text(page):
    page = re.sub(r"(?is)<(script|style|noscript|template|head)\b.*?</\1\s*>|<!--.*?-->", " ", page)
    page = re.sub(rf"(?i)</?({BLOCK})\b[^>]*>", "\n", page)
    lines = html.unescape(re.sub(r"<[^>]*>", " ", page)).splitlines()
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line) + "\n"


def words(text):
    return collections.Counter(re.findall(r"[぀-ヿ㐀-鿿가-힯]|\w+", text.lower()))


def score(found, gold):
    found, gold = words(found), words(gold)
    same = sum((found & gold).values())
    precision, recall = same / max(sum(found.values()), 1), same / max(sum(gold.values()), 1)
    return 2 * precision * recall / (precision + recall) if same else 0.0, precision, recall


def dehusk(folder, settings, *arguments):
    options = [option for setting in settings for option in ("--set", setting)]
    command = [PROGRAM, *arguments, "--config", "/dev/null", "--db", f"{folder}/strings.db", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


def main():
    settings = sys.argv[2:]
    sites = collections.defaultdict(list)
    for line in open(sys.argv[1], encoding="utf-8"):
        page = json.loads(line)
        sites[page["site"]].append({"id": page["id"], "text": naive_text(page["html"]), "gold": page["gold"]})
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        for site, pages in sites.items():
            file = Path(folder, "pages.jsonl")
            file.write_text("".join(json.dumps({"id": p["id"], "text": p["text"]}) + "\n" for p in pages))
            dehusk(folder, settings, "strings", "learn", "pages.jsonl", "--name", site)
        for site, pages in sites.items():
            file.write_text("".join(json.dumps({"id": p["id"], "text": p["text"]}) + "\n" for p in pages))
            lines = dehusk(folder, settings, "strings", "clean", "pages.jsonl", "--name", site, "--json").splitlines()
            for page, line in zip(pages, lines, strict=True):
                scores.append(score(json.loads(line)["content"], page["gold"]))
    means = [sum(column) / len(scores) for column in zip(*scores)]
    print("{:.3f} ({:.3f}, {:.3f})  {} pages, {} sites  {}".format(*means, len(scores), len(sites), " ".join(settings)))


if __name__ == "__main__":
    main()

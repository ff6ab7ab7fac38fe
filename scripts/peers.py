"""Main text of the pages of a pile by dehusk and by page-level extractors, scored alike: peers.py DEHUSK PILE.jsonl

The pile has lines {"id","site","gold","html"}. Prints mean precision, recall and F1 of the multiset of words, and the
milliseconds of CPU a page (of dehusk: labelling alone, parsing is in none of its figures). bench_piles.sh calls it.
"""
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter

import trafilatura
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(f"[{CJK}]|[^\\W{CJK}]+")

EXTRACTORS = {
    "trafilatura": lambda html: trafilatura.extract(html) or "",
    "trafilatura, favour recall": lambda html: trafilatura.extract(html, favor_recall=True) or "",
    "resiliparse, main content": lambda html: extract_plain_text(HTMLTree.parse(html), main_content=True),
}


def words(text):
    return WORD.findall(text.lower())


def score(found, wanted):
    found, wanted = words(found), words(wanted)
    hits = sum((Counter(found) & Counter(wanted)).values())
    p, r = hits / len(found) if found else 0.0, hits / len(wanted)
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def show(name, texts, gold, ms):
    rows = [score(texts.get(id, ""), text) for id, text in gold.items()]
    p, r, f1 = (sum(row[k] for row in rows) / len(rows) for k in range(3))
    print(f"{name:<28}{p:7.3f}{r:7.3f}{f1:7.3f}{ms:>10}")


def main(dehusk, pile):
    pages = [json.loads(line) for line in open(pile, encoding="utf-8")]
    gold = {page["id"]: page["gold"] for page in pages if words(page["gold"])}
    print(f"{pile}: {len(gold)} pages\n{'':<28}{'P':>7}{'R':>7}{'F1':>7}{'ms/page':>10}")
    for method in ("main", "site_model", "df", "alone", "plain"):
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl", encoding="utf-8") as out:
            command = [dehusk, "evaluate", pile, "--config", "/dev/null", "--method", method, "--json", "--dump", out.name]
            report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            texts = {row["id"]: row["t"] for row in map(json.loads, out)}
        show(f"dehusk {method}", texts, gold, f"{report['clean_ms']:.2f}")
    for name, extract in EXTRACTORS.items():
        start = time.process_time()
        texts = {page["id"]: extract(page["html"]) for page in pages}
        show(name, texts, gold, f"{(time.process_time() - start) * 1000 / len(pages):.2f}")


main(*sys.argv[1:])

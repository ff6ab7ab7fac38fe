"""Main text of the pages of a pile by other programs: peers.py PILE.jsonl OUT_FOLDER

Writes OUT_FOLDER/NAME.jsonl with lines {"id","t"} for trafilatura and Resiliparse, and prints the CPU milliseconds
a page. bench_piles.sh calls it.
"""
import json, sys, time


def extractors():
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    yield "trafilatura", lambda html: trafilatura.extract(html) or ""
    yield "trafilatura-recall", lambda html: trafilatura.extract(html, favor_recall=True) or ""
    yield "resiliparse", lambda html: extract_plain_text(HTMLTree.parse(html), main_content=True)
    yield "resiliparse-all", lambda html: extract_plain_text(HTMLTree.parse(html), main_content=False)


def main(pile, folder):
    pages = [json.loads(line) for line in open(pile, encoding="utf-8")]
    for name, extract in extractors():
        start = time.process_time()
        with open(f"{folder}/{name}.jsonl", "w", encoding="utf-8") as out:
            for page in pages:
                out.write(json.dumps({"id": page["id"], "t": extract(page["html"])}) + "\n")
        print(f"{name} {(time.process_time() - start) * 1000 / len(pages):.2f} ms a page")


main(*sys.argv[1:])

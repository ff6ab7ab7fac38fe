"""Measures the figures of docs/results.md and docs/lab that are cheap, and prints those that moved.

    scripts/figures.py              measures, compares with docs/figures.json, prints what moved; exit code 1 if any did
    scripts/figures.py --write      measures, and writes docs/figures.json
    scripts/figures.py NAME...      only the figures whose name holds one of these
    scripts/figures.py --documents  measures nothing, compares the tables of these documents with docs/figures.json

Each run ends with the comparison of the documents; exit code 1 if a table prints another figure. Needs ../shared, which
is unpacked below target/content, and target/release/dehusk, or the program that PROGRAM names. Takes about seven minutes
on two cores. Figures are in sample where the weights of the program were fitted; docs/results.md says which are left
out.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "content"))

from archives import ARCHIVES, CACHE, unpacked  # noqa: E402

FILE = ROOT / "docs" / "figures.json"
PROGRAM = Path(os.environ.get("PROGRAM", ROOT / "target" / "release" / "dehusk")).resolve()
# Figures are printed with three places.
MOVED = 0.0015

SITES = {"sites": "sites/sites", "sites2": "sites2/sites2"}
PAGES = {
    "cttf": "pages/pages", "wwwxmu": "pages/pages", "wcxb": "pages/pages", "wcxb_multi": "pages2/pages2",
    "l3s": "pages2/pages2", "dragnet": "pages2/pages2",
}
# The collections of which docs/results.md has all methods.
PILES = ["cttf", "wwwxmu", "wcxb"]
METHODS = ["site_model", "main", "etdm", "df", "gottron", "strings", "text", "rtdm", "alone", "tps", "dsc", "mdr", "plain"]
ORDERS = ["turns", "forms", "menu", "paper", "random"]
LOADS = [2, 3, 4, 6, 8, 12, 16, 24]
# Settings that were chosen on the usual key pages, with each page as the key page.
CHOSEN = [
    *(f"site_model.threshold={t}" for t in ("0.25", "0.45", "0.55")),
    *(f"links.order={order}" for order in ("forms", "paper")),
    *(f"subdigraph.n={n} subdigraph.max_loads={n}" for n in (4, 6, 12)),
]
MAIN = "papers.tps.keep=main"
TPS = [f"papers.tps.gap=paper papers.tps.complement=false {MAIN}", f"papers.tps.complement=false {MAIN}", MAIN]
TPS += [f"papers.tps.search=best {MAIN}"]
PAPER = "papers.strings.weight=raw papers.strings.min_ratio=0 papers.strings.max_idiom=0 papers.strings.longest_idiom=0"
STRINGS = ["papers.strings.max_idiom=0", PAPER]
PLAIN_TEXT = ["", "papers.strings.max_idiom=0", "papers.strings.inner=drop", f"{PAPER} papers.strings.merge_text=true"]
# The documents with the tables, and the variants of single methods.
RESULTS = "docs/results.md"
LOADED = "docs/lab/2026-11-25-pages-loaded.md"
SYSTEMS = "docs/lab/2026-11-25-other-systems.md"
VOTES = "docs/lab/2026-11-26-preset-votes-sweep.md"
SWEEP = [None, None, "key F1", "pages F1", "words F1", "words R", "loads"]
FIVE = ["antora-felix", "drupal-dcnj2015", "hexo-cyblog", "wiki-aegisub", "wp-transito"]


def commands():
    """The name and the command line of each measurement."""
    for name, folder in SITES.items():
        corpus = f"target/content/{folder}"
        for method in METHODS:
            yield f"{name} {method}", f"evaluate {corpus} --method {method} --pages gold --json"
        yield f"{name} thesis2014", f"evaluate {corpus} --preset thesis2014 --pages gold --json"
        for method in ("site_model", "main"):
            yield f"{name} {method} each key", f"evaluate {corpus} --method {method} --pages each-key --json"
        yield f"{name} main after a walk", f"evaluate {corpus} --method main --pages gold --add-all --json"
        yield f"{name} all pages", f"evaluate {corpus} --pages all --json"
        yield f"{name} all pages after a walk", f"evaluate {corpus} --pages all --add-all --json"
        for variant in STRINGS:
            yield f"{name} strings {variant}", f"evaluate {corpus} --method strings --pages gold {sets(variant)} --json"
        for variant in TPS:
            yield f"{name} tps {variant}", f"evaluate {corpus} --method tps --pages gold {sets(variant)} --json"
    for name, folder in PAGES.items():
        for method in METHODS if name in PILES else ("alone", "main", "df", "tps", "plain"):
            yield f"{name} {method}", f"evaluate target/content/{folder}/{name}.jsonl --method {method} --json"
        for variant in TPS:
            yield f"{name} tps {variant}", f"evaluate target/content/{folder}/{name}.jsonl --method tps {sets(variant)} --json"
    for order in ORDERS:
        for n in LOADS:
            variant = f"links.order={order} subdigraph.n={n} subdigraph.max_loads={n}"
            yield f"sites loads {order} {n}", f"evaluate target/content/sites/sites --pages gold {sets(variant)} --json"
    for name, folder in SITES.items():
        for variant in CHOSEN:
            yield f"{name} each key {variant}", f"evaluate target/content/{folder} --pages each-key {sets(variant)} --json"
    for threshold in ("0.1", "0.5", "1.0", "1.1"):
        variant = f"--set papers.text.threshold={threshold} --json"
        yield f"five sites threshold {threshold}", f"cluster target/content/five --gold folder --method max {variant}"
    for method in ("cp", "cps", "ctss", "rtdm"):
        scale = sets("papers.cluster.distance=0")
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} {scale} --json"
    for method in ("mdl", "hash", "max"):
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} --json"
    for name in ("cttf", "wwwxmu", "l3s", "dragnet"):
        for variant in PLAIN_TEXT:
            file = f"target/content/{PAGES[name]}/{name}.jsonl"
            yield f"{name} plain text {variant}".strip(), f"scripts/strings_text.py {file} {variant}".strip()
    for name, folder in SITES.items():
        yield f"{name} sweep", f"scripts/sweep.sh target/content/{folder}"
    yield "demo", "demo"


def sets(variant):
    """The arguments of settings such as `a=1 b=2`."""
    return " ".join(f"--set {pair}" for pair in variant.split())


def unpack():
    for folder in ARCHIVES:
        unpacked(folder)
    five = CACHE / "five"
    five.mkdir(exist_ok=True)
    for site in FIVE:
        if not (five / site).exists():
            shutil.copytree(CACHE / SITES["sites"] / "dev" / site / "www", five / site)


def printed(arguments, folder=ROOT):
    environment = {**os.environ, "PROGRAM": str(PROGRAM)}
    return subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, cwd=folder, env=environment).stdout


def measured(command):
    if command.startswith("scripts/strings_text.py"):
        return dict(zip(("words F1", "words P", "words R"), numbers(printed([sys.executable, *shlex.split(command)]))))
    if command.startswith("scripts/sweep.sh"):
        rows = table_of(printed(shlex.split(command)))
        return {f"{row}: {key}": float(cell) for row, cells in rows for key, cell in zip(SWEEP, cells) if key}
    if command == "demo":
        with tempfile.TemporaryDirectory() as folder:
            table = printed([PROGRAM, "demo", "--quiet"], folder)
        rows = re.findall(r"(?m)^(\w+) .* (\d\.\d+) +(\d\.\d+) +[\d.]+% +[\d.]+%$", table)
        return {f"{site}: {key}": float(f1) for site, *f1s in rows for key, f1 in zip(("key F1", "all F1"), f1s)}
    report = json.loads(printed([PROGRAM, *shlex.split(command), "--quiet", "--config", "/dev/null"]))
    if command.startswith("cluster"):
        gold = report["gold"]
        return {"clusters": len(report["clusters"]), **{key: round(gold[key], 4) for key in gold if gold[key] is not None}}
    figures = {}
    for part, name in (("key", "key F1"), ("nodes", "pages F1"), ("bag", "words F1")):
        if report.get(part):
            figures[name] = round(report[part]["f1"], 4)
    if report.get("bag"):
        figures["words R"] = round(report["bag"]["recall"], 4)
    if "--pages each-key" in command:
        scores = {}
        for row in report["sites"]:
            if row["key"]:
                scores.setdefault(row["site"], []).append(row["key"]["f1"])
        means = sorted(sum(of_site) / len(of_site) for of_site in scores.values())
        tenth = means[: max(1, len(means) // 10)]
        figures["key under .5"] = sum(f1 < 0.5 for of_site in scores.values() for f1 in of_site)
        figures["worst tenth"] = round(sum(tenth) / len(tenth), 4)
    return figures


def numbers(text):
    return [float(number) for number in re.findall(r"\d*\.\d+", text)]


def table_of(text):
    """The rows of the first Markdown table: label without marks, and the other cells."""
    lines = re.search(r"(?m)(^\|.*\n)+", text)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(re.sub("[*`]", "", first), rest) for first, *rest in cells]


def row_of(document, mark, label):
    """The cells of a row of the first table after a mark: the row with this label, or the first that begins with it.
    Without a label, the rest of the paragraph."""
    text = (ROOT / document).read_text().split(mark, 1)[1]
    if label is None:
        return [text.split("\n\n", 1)[0]]
    rows = table_of(text)
    found = [cells for name, cells in rows if name == label]
    found += [cells for name, cells in rows if re.match(re.escape(label) + r"\b(?!-)", name)]
    return found[0] if found else []


def tables(figures):
    """Rows of the documents: document, text before the table, label, the figures in it; None where one is not kept."""
    quality = ("key F1", "pages F1", "words F1", "words R")
    for method in [*METHODS, "thesis2014"]:
        fields = quality[2:] if method == "plain" else quality
        yield RESULTS, "## Quality", method, [(f"{site} {method}", field) for site in SITES for field in fields]
    for n in LOADS:
        cells = [(f"sites loads {order} {n}", field) for order in ORDERS for field in quality[:3]]
        yield LOADED, "## F1 against pages loaded", str(n), cells
    labels = ["site_model.threshold .25", ".45", ".55", "links.order forms", "paper", "4 pages", "6 pages", "12 pages"]
    for label, variant in zip(labels, CHOSEN):
        cells = [(f"{site} each key {variant}", field) for site in SITES for field in ("key F1", "worst tenth")]
        yield LOADED, "**The same settings with each page as the key page**", label, cells
    for row in dict.fromkeys(key.split(": ")[0] for key in figures["sites sweep"] if ": " in key):
        if not re.match(r"n=\d", row):
            fields = (*quality, "loads")
            cells = [(f"{site} sweep", f"{row}: {field}") for site in SITES for field in fields]
            yield VOTES, "# The sweep behind", row, cells
    for method in METHODS:
        fields = ("key F1", "pages F1", None, None, "words F1", None, "words R")
        yield RESULTS, "## Other systems", method, [(f"sites {method}", field) for field in fields]
        cells = [(f"{pile} {method}", field) for pile in PILES for field in ("words F1", None, "words R")]
        yield RESULTS, "Words F1 of the mixed collections", method, cells
    cells = [(f"{site} all pages{walk}", "pages F1") for walk in ("", " after a walk") for site in SITES]
    yield RESULTS, "All pages (`--pages all`):", None, cells
    labels = ["as printed", "absolute gap (", "absolute gap, the rest", "the same, the most unequal"]
    variants = dict(zip(labels, (f"tps {variant}" for variant in TPS)))
    for label, variant in {**variants, "the default": "tps", "the whole page": "plain"}.items():
        cells = [(f"sites {variant}", field) for field in ("words F1", None, "words R")]
        yield SYSTEMS, "TPS in its variants", label, cells + [(f"{pile} {variant}", "words F1") for pile in PILES]
    labels = ["the default", "idioms removed", "the paper's parameters"]
    for label, variant in zip(labels, ("strings", *(f"strings {variant}" for variant in STRINGS))):
        cells = [(f"{site} {variant}", "pages F1") for site in SITES]
        cells += [(f"{site} {variant}", field) for site in SITES for field in ("words F1", None, "words R")]
        yield SYSTEMS, "Method `strings` on pages", label, cells
    labels = ["the default", "idioms removed", "strings inside of longer ones left", "the paper's parameters"]
    for label, variant in zip(labels, PLAIN_TEXT):
        names = [f"{name} plain text {variant}".strip() for name in ("cttf", "dragnet", "l3s", "wwwxmu")]
        cells = [(name, field) for name in names for field in ("words F1", "words P", "words R")]
        yield SYSTEMS, "On plain text", label, cells


def stale(figures):
    """How many figures the documents print, and those that are others in docs/figures.json, or in another table."""
    n_compared, others = 0, []
    for document, mark, label, cells in tables(figures):
        row = re.findall(r"\d*\.\d+", " ".join(row_of(document, mark, label)))
        if len(row) < len(cells):
            others.append(f"{document}: {mark} | {label}: {len(row)} figures for {len(cells)}")
        for number, (name, field) in zip(row, cells):
            known = field and figures[name][field]
            n_compared += bool(field)
            # Both are rounded.
            if field and abs(float(number) - known) > 0.56 * 10.0 ** -len(number.split(".")[1]):
                others.append(f"{document}: {mark} | {label}: {number}, but {name}, {field} is {known}")
    for label in ("main", "alone", "rs-trafilatura", "trafilatura", "Resiliparse"):
        own = f"dehusk {label}" if label in METHODS else label
        wanted = [numbers(cell)[:1] for cell in row_of(RESULTS, "The sites with precision and recall", label)[:2]]
        found = [numbers(cell)[:1] for cell in row_of(RESULTS, "### Main content", own)[:2]]
        n_compared += len(wanted)
        if found != wanted:
            others.append(f"{RESULTS}: {own}: {found}, but with precision and recall {wanted}")
    return n_compared, others


def main():
    began = time.monotonic()
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    found, n_moved = {}, 0
    if "--documents" not in sys.argv:
        unpack()
        for name, command in commands():
            if wanted and not any(part in name for part in wanted):
                continue
            figures = measured(command)
            found[name] = {"command": command if command.startswith("scripts/") else f"dehusk {command}", **figures}
            before = known.get(name, {})
            moved = [f"{key} {before.get(key, '-')} -> {value}" for key, value in figures.items()
                     if abs(value - before.get(key, -1)) > MOVED]
            n_moved += bool(moved)
            print(f"{name:32} {('  '.join(moved) if before else 'new') if moved else 'as before'}", flush=True)
        print(f"{len(found)} measured in {(time.monotonic() - began) / 60:.1f} minutes")
    figures = {**(known if wanted or not found else {}), **found}
    n_compared, of_documents = stale(figures)
    print("\n".join(of_documents) or f"the documents print the same ({n_compared} figures compared)")
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(figures, indent=1) + "\n")
    elif n_moved:
        sys.exit(f"{n_moved} of {len(found)} have moved: mend docs/results.md and docs/lab, then run with --write")
    if of_documents:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Measures the figures of docs/measurements.md that are cheap, and prints those that moved.

    scripts/figures.py              measures, compares with docs/figures.json, prints what moved; exit code 1 if any did
    scripts/figures.py --write      measures, and writes docs/figures.json
    scripts/figures.py NAME...      only the figures whose name holds one of these

Needs target/release/dehusk and ../shared, which is unpacked below target/content. Takes about five minutes on two cores.
Figures are in sample where the weights of the program were fitted; docs/measurements.md says which are left out.
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "content"))

from archives import ARCHIVES, CACHE, unpacked  # noqa: E402

FILE = ROOT / "docs" / "figures.json"
PROGRAM = ROOT / "target" / "release" / "dehusk"
# Figures are printed with three places.
MOVED = 0.0015

SITES = {"sites": "sites/sites", "sites2": "sites2/sites2"}
PAGES = {
    "cttf": "pages/pages", "wwwxmu": "pages/pages", "wcxb": "pages/pages", "wcxb_multi": "pages2/pages2",
    "l3s": "pages2/pages2", "dragnet": "pages2/pages2",
}
METHODS = ["site_model", "main", "etdm", "df", "gottron", "strings", "text", "rtdm", "alone", "tps", "dsc", "mdr", "plain"]
ORDERS = ["turns", "forms", "menu", "paper", "random"]
LOADS = [2, 3, 4, 6, 8, 12, 16, 24]
# Settings that were chosen on the usual key pages, with each page as the key page.
CHOSEN = [
    *(f"site_model.threshold={t}" for t in ("0.25", "0.45", "0.55")),
    *(f"links.order={order}" for order in ("forms", "paper")),
    *(f"subdigraph.n={n} subdigraph.max_loads={n}" for n in (4, 6, 12)),
]
TPS = ["tps.gap=paper tps.complement=false", "tps.complement=false", "tps.search=best", "tps.keep=list"]
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
    for name, folder in PAGES.items():
        for method in ("alone", "main", "df", "tps", "plain"):
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
        variant = f"--set text.threshold={threshold} --json"
        yield f"five sites threshold {threshold}", f"cluster target/content/five --gold folder --method max {variant}"
    for method in ("cp", "cps", "ctss", "rtdm"):
        scale = sets("cluster.distance=0")
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} {scale} --json"
    for method in ("mdl", "hash", "max"):
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} --json"


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


def measured(command):
    arguments = [PROGRAM, *shlex.split(command), "--config", "/dev/null"]
    report = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
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


def main():
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    unpack()
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    found, n_moved = {}, 0
    for name, command in commands():
        if wanted and not any(part in name for part in wanted):
            continue
        figures = measured(command)
        found[name] = {"command": f"dehusk {command}", **figures}
        before = known.get(name, {})
        moved = [f"{key} {before.get(key, '-')} -> {value}" for key, value in figures.items()
                 if abs(value - before.get(key, -1)) > MOVED]
        n_moved += bool(moved)
        print(f"{name:32} {'  '.join(moved) if moved else 'as before'}", flush=True)
    if "--write" in sys.argv:
        FILE.write_text(json.dumps({**known, **found}, indent=1) + "\n")
    elif n_moved:
        sys.exit(f"{n_moved} of {len(found)} have moved: mend docs/measurements.md, then run with --write")


if __name__ == "__main__":
    main()

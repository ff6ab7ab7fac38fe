"""Measures the figures of docs/measurements.md that are cheap, and prints those that moved.

    scripts/figures.py              measures, compares with docs/figures.json, prints what moved; exit code 1 if any did
    scripts/figures.py --write      measures, and writes docs/figures.json
    scripts/figures.py NAME...      only the figures whose name holds one of these

Needs target/release/dehusk and ../shared, which is unpacked below target/content. Takes about two minutes on two cores.
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
    for method in ("cp", "cps", "ctss", "rtdm"):
        sets = "--set cluster.distance=0"
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} {sets} --json"
    for method in ("mdl", "hash", "max"):
        yield f"five sites {method}", f"cluster target/content/five --gold folder --method {method} --json"


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

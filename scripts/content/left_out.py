"""Main content of the program on sites and pages whose domain its weights have not seen.

    python3 scripts/content/left_out.py --folds target/content/folds [--method main] [--set KEY=VALUE ...]

Runs `dehusk evaluate` once for each fold with the weights of that fold, and takes the scores of the pages in it.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import corpora
import score_text

DEHUSK = corpora.ROOT / "target" / "release" / "dehusk"
SITES = {"sites": "dev", "sites2": "dev2"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", required=True)
    parser.add_argument("--method", default="main")
    parser.add_argument("--corpora", default="sites,sites2")
    parser.add_argument("--pages", default="gold", help="each-key: each page with gold as the key page in turn")
    parser.add_argument("--add-all", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    for name in given.corpora.split(","):
        gold, scores = {}, {}
        for line, page in corpora.lines_of(name):
            gold[page["id"]] = page
        for fold in range(5):
            for marked in evaluated(name, given, Path(given.folds) / str(fold)):
                key = f"{marked['site']}|{marked['page']}" if name in SITES else marked["id"]
                page = gold.get(key)
                if page and corpora.fold_of(page["site"]) == fold:
                    scores[key] = score_text.bag(marked["t"], page["gold"])
        found = [value for value in scores.values() if value]
        sites = {}
        for key, value in scores.items():
            if value:
                sites.setdefault(gold[key]["site"], []).append(value[2])
        means = sorted(sum(values) / len(values) for values in sites.values())
        tenth = means[:max(1, len(means) // 10)]
        p, r, f1 = (sum(value[k] for value in found) / len(found) for k in range(3))
        print(f"{given.method:10} {name:11} {len(found):4} pages  F1 {f1:.4f} ({p:.3f}/{r:.3f})  "
              f"median site {means[len(means) // 2]:.3f}  worst tenth {sum(tenth) / len(tenth):.3f}", flush=True)


def evaluated(name, given, weights):
    place = corpora.CACHE / ("sites" if name == "sites" else "sites2") / name if name in SITES else None
    if place is None:
        folder = next(folder for folder, (_, names) in corpora.ARCHIVES.items() if name in names)
        place = corpora.CACHE / folder / folder / f"{name}.jsonl"
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as dump:
        command = [DEHUSK, "evaluate", place, "--method", given.method, "--weights", weights, "--dump", dump.name,
                   "--config", "/dev/null", "--pages", given.pages]
        command += ["--add-all"] if given.add_all else []
        for pair in given.set:
            command += ["--set", pair]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in open(dump.name, encoding="utf-8")]


if __name__ == "__main__":
    main()

"""Main content of the program on sites and pages whose domain its weights have not seen.

    python3 scripts/content/left_out.py --folds target/content/folds [--method main] [--set KEY=VALUE ...]

Runs `dehusk evaluate` once for each fold with the weights of that fold, and takes the scores of the pages in it. With
`--nodes` the scores are those of the template nodes of key pages; a site whose gold counts other nodes is left out.
"""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import corpora
import score_text

DEHUSK = corpora.ROOT / "target" / "release" / "dehusk"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", required=True)
    parser.add_argument("--method", default="main")
    parser.add_argument("--corpora", default=",".join(corpora.SITES))
    parser.add_argument("--pages", default="gold", help="each-key: each page with gold as the key page in turn")
    parser.add_argument("--add-all", action="store_true")
    parser.add_argument("--teach", type=int, default=0, help="pages of each site that the gold labels; they are not scored")
    parser.add_argument("--nodes", action="store_true", help="score template nodes of key pages (sets of sites)")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    pages = []
    for name in given.corpora.split(","):
        if given.nodes:
            node_scores(name, given)
            continue
        gold, scores = {}, {}
        for line, page in corpora.lines_of(name):
            gold[page["id"]] = page
        for fold in range(corpora.FOLDS):
            for marked in evaluated(name, given, Path(given.folds) / str(fold)):
                key = f"{marked['site']}|{marked['page']}" if name in corpora.SITES else marked["id"]
                page = gold.get(key)
                if page and corpora.fold_of(page["site"]) == fold:
                    scores[key] = score_text.bag(marked["t"], page["gold"])
        found = [value for value in scores.values() if value]
        pages += [(name, gold[key], value) for key, value in scores.items() if value]
        sites = {}
        for key, value in scores.items():
            if value:
                sites.setdefault(gold[key]["site"], []).append(value[2])
        means = sorted(sum(values) / len(values) for values in sites.values())
        tenth = means[:max(1, len(means) // 10)]
        p, r, f1 = (sum(value[k] for value in found) / len(found) for k in range(3))
        print(f"{given.method:10} {name:11} {len(found):4} pages  F1 {f1:.4f} ({p:.3f}/{r:.3f})  "
              f"median site {means[len(means) // 2]:.3f}  worst tenth {sum(tenth) / len(tenth):.3f}", flush=True)
    if pages:
        of_all(given, pages)


# Words of the gold below which a page is short.
SHORT = 50
# Pages of a kind of site, from which on it has a line.
FEWEST_PAGES = 40


def of_all(given, pages):
    """The mean of the sets, short pages, and the kinds of sites, by the first word of their names."""
    f1 = lambda chosen: sum(value[2] for _, _, value in chosen) / max(1, len(chosen))
    sets = [[row for row in pages if row[0] == name] for name in given.corpora.split(",")]
    print(f"{given.method:10} mean of the sets F1 {sum(map(f1, sets)) / len(sets):.4f}")
    short = [row for row in pages if len(row[1]["gold"].split()) < SHORT]
    print(f"{given.method:10} {len(short)} pages of under {SHORT} words F1 {f1(short):.4f}")
    kinds = {}
    for row in pages:
        if row[0] in corpora.SITES:
            kinds.setdefault(re.split("[-_.]", row[1]["site"])[0], []).append(row)
    for kind, chosen in sorted(kinds.items()):
        if len(chosen) >= FEWEST_PAGES:
            print(f"{given.method:10} {kind:11} {len(chosen):4} pages  F1 {f1(chosen):.4f}")


def node_scores(name, given):
    found, loads = [], []
    for fold in range(corpora.FOLDS):
        command = [*evaluation(place_of(name), given, Path(given.folds) / str(fold)), "--by-site", "--json"]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        for row in report["sites"]:
            if corpora.fold_of(row["site"]) == fold and not row["other_node_count"]:
                # Nothing was learned: nothing was found.
                score = row["key"] or {"f1": 0.0, "precision": 0.0, "recall": 0.0}
                found.append((row["site"], score))
                loads.append(row["learning"]["loads"])
    p, r, f1 = (sum(score[key] for _, score in found) / len(found) for key in ("precision", "recall", "f1"))
    sites = {}
    for site, score in found:
        sites.setdefault(site, []).append(score["f1"])
    means = sorted(sum(values) / len(values) for values in sites.values())
    tenth = means[: max(1, len(means) // 10)]
    print(
        f"{given.method:10} {name:11} {len(found):4} key pages  node F1 {f1:.4f} ({p:.3f}/{r:.3f})  "
        f"under .5 {sum(score['f1'] < 0.5 for _, score in found)}  median site {means[len(means) // 2]:.3f}  "
        f"worst tenth {sum(tenth) / len(tenth):.3f}  loads {sum(loads) / len(loads):.2f}",
        flush=True,
    )


def place_of(name):
    if name in corpora.SITES:
        return corpora.CACHE / name / name
    folder = next(folder for folder, (_, names) in corpora.ARCHIVES.items() if name in names)
    return corpora.CACHE / folder / folder / f"{name}.jsonl"


def evaluated(name, given, weights):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as dump:
        command = [*evaluation(place_of(name), given, weights), "--dump", dump.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in open(dump.name, encoding="utf-8")]


def evaluation(place, given, weights):
    command = [DEHUSK, "evaluate", place, "--method", given.method, "--weights", weights]
    command += ["--config", "/dev/null", "--pages", given.pages]
    command += ["--add-all"] if given.add_all else []
    command += ["--teach", str(given.teach)] if given.teach else []
    for pair in given.set:
        command += ["--set", pair]
    return command


if __name__ == "__main__":
    main()

"""Trains the forest that labels nodes (crates/template/src/site_model/nodes.forest), and prints it left out by site.

    scripts/nodes/train.py                      ten folds by site over all sets, then the forest of all sites
    scripts/nodes/train.py --ablate             the same without each group of features
    scripts/nodes/train.py --curve              trained on 36, 72, 137 and all sites of the other folds
    scripts/nodes/train.py --set-out            each set left out whole
    scripts/nodes/train.py --folds DIR          also writes the forest of each fold, for `evaluate --weights`

PROGRAM names the program that computes the features (target/release/dehusk). Needs lightgbm; see README.md.
"""

import os
import random
import sys
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np

from forest import feature_names, written
from rows import ROOT, SETS, folds, kinds, made, pages

PROGRAM = Path(os.environ.get("PROGRAM", ROOT / "target" / "release" / "dehusk")).resolve()
OUT = ROOT / "crates" / "template" / "src" / "site_model" / "nodes.forest"
N_FOLDS = 10
PARAMETERS = {
    "objective": "binary", "learning_rate": 0.1, "num_leaves": 16, "min_data_in_leaf": 150, "feature_fraction": 0.4,
    "bagging_fraction": 0.6, "bagging_freq": 1, "lambda_l2": 5, "max_bin": 63, "verbose": -1, "num_threads": 2,
    "seed": 1, "deterministic": True, "force_row_wise": True,
}
N_TREES = 100
# Weight of a page whose site has few training pages.
FEW = 0.3
# Nodes of a page that are drawn for training.
MOST_NODES = 250
# The costs and the limit of `TrainingSet::decide`.
COST_OUT, COST_BACK, SURE, ABSENT = 2.0, 16.0, 6.0, -1000.0
GROUPS = {
    "expected content": ["*expected*", "root_*", "density_*", "share_95", "share_50"],
    "matches by number": ["n_*", "few_equal", "kind_equal", "*_n_equal"],
    "text below": ["text_*", "*_text_*", "ln_letters", "*_ln_letters", "share_letters"],
    "tags": ["tag", "parent_tag"],
    "siblings": ["siblings_*", "ln_siblings"],
    "parents and ancestors": ["parent_*", "grand_*", "ancestor_*"],
    "place": ["depth", "position", "*_before", "*_after"],
    "the page": ["page_*"],
}


def sampled(of_pages, seed=0):
    """Rows, targets and weights: each site counts the same, each page of it too, by its template nodes."""
    random_numbers = np.random.default_rng(seed)
    n_of_site = {}
    for page in of_pages:
        n_of_site[page.site] = n_of_site.get(page.site, 0) + 1
    rows, targets, weights = [], [], []
    for page in of_pages:
        # Nodes that no training page has are decided without the forest.
        nodes = np.flatnonzero(page.rows[:, MAPPED] > 0)
        nodes = nodes[nodes > 0]
        if len(nodes) == 0:
            continue
        n = len(nodes)
        if n > MOST_NODES:
            nodes = random_numbers.choice(nodes, MOST_NODES, replace=False)
        weight = n / len(nodes) / max(page.template.sum(), 20) / n_of_site[page.site]
        weight *= FEW if page.rows[0, N_PAGES] < 5 else 1.0
        rows.append(page.rows[nodes])
        targets.append(page.template[nodes])
        weights.append(np.full(len(nodes), weight))
    weights = np.concatenate(weights)
    return np.concatenate(rows), np.concatenate(targets), weights / weights.mean()


NAMES = feature_names()
MAPPED = NAMES.index("n_mapped")
N_PAGES = NAMES.index("page_training_pages")


def trained(of_pages, without=()):
    rows, targets, weights = sampled(of_pages)
    if without:
        rows[:, without] = 0
    data = lgb.Dataset(rows, label=targets, weight=weights, feature_name=NAMES)
    return lgb.train(PARAMETERS, data, N_TREES)


def decoded(page, logits):
    """Whether each node is template: `max_sum_labels` of the program."""
    logits = np.where(page.rows[:, MAPPED] > 0, np.clip(logits, -SURE, SURE), ABSENT)
    parents, template, own = page.parents.tolist(), logits.tolist(), [0.0] * page.n
    for node in range(page.n - 1, 0, -1):
        parent = parents[node]
        template[parent] += max(template[node], own[node] - COST_OUT)
        own[parent] += max(own[node], template[node] - COST_BACK)
    labels = [True] * page.n
    for node in range(1, page.n):
        is_in = labels[parents[node]]
        labels[node] = template[node] >= own[node] - COST_OUT if is_in else template[node] - COST_BACK > own[node]
    return np.array(labels)


def labeled(model, of_pages, without=()):
    rows = np.concatenate([page.rows for page in of_pages])
    if without:
        rows[:, without] = 0
    logits = model.predict(rows, raw_score=True)
    ends = np.cumsum([page.n for page in of_pages])
    return [decoded(page, logits[end - page.n:end]) for page, end in zip(of_pages, ends)]


def f1(page, labels):
    hits = (page.template & labels).sum()
    wanted, found = page.template.sum(), labels.sum()
    return 2 * hits / (wanted + found) if wanted + found else 1.0


def kept(page, labels):
    content = page.letters[page.content].sum()
    return page.letters[page.content & ~labels].sum() / content if content else np.nan


def left_out(of_pages, more, without=(), most_sites=None, save=None):
    """The labels of each page by a forest that has not seen its site, and the folds. `more` is trained on, too."""
    fold, labels = folds(of_pages, N_FOLDS), {}
    for at in range(N_FOLDS):
        others = [page for page in of_pages + more if fold[page.site] != at]
        if most_sites:
            sites = sorted({page.site for page in others})
            chosen = set(random.Random(at).sample(sites, min(most_sites, len(sites))))
            others = [page for page in others if page.site in chosen]
        model = trained(others, without)
        own = [page for page in of_pages if fold[page.site] == at]
        labels.update(zip(map(id, own), labeled(model, own, without)))
        if save:
            place = Path(save) / str(at)
            place.mkdir(parents=True, exist_ok=True)
            (place / "nodes.forest").write_bytes(written(model))
            (place / "sites").write_text("\n".join(sorted({page.site for page in own})) + "\n")
    return [labels[id(page)] for page in of_pages], fold


def row(name, of_pages, labels):
    """A row of the table: F1 of key pages and of all (means over sites), collapses, worst tenth, content kept."""
    sites = {}
    for page, found in zip(of_pages, labels):
        sites.setdefault(page.site, []).append((page.is_key, f1(page, found), kept(page, found)))
    scores = [score for of_site in sites.values() for _, score, _ in of_site]
    keys = [np.mean([score for is_key, score, _ in of_site if is_key]) for of_site in sites.values()
            if any(is_key for is_key, _, _ in of_site)]
    means = sorted(np.mean([score for _, score, _ in of_site]) for of_site in sites.values())
    worst = means[:max(1, round(len(means) / 10))]
    parts = [part for of_site in sites.values() for _, _, part in of_site if not np.isnan(part)]
    cells = [f"{np.mean(keys):.3f}", f"{np.mean(means):.3f}", f"{sum(s < .5 for s in scores)}",
             f"{sum(s < .7 for s in scores)}", f"{len(scores)}", f"{np.mean(worst):.3f}", f"{np.mean(parts):.3f}"]
    print(f"| {name} | {len(sites)} | {' | '.join(cells)} |", flush=True)
    return np.mean(means)


HEAD = "| | sites | key pages | all pages | under .5 | under .7 | of pages | worst tenth of sites | content kept |"


def table(of_pages, labels, fold):
    print(HEAD + "\n|" + "---|" * 9)
    every = list(zip(of_pages, labels))

    def part(name, is_in):
        found = [pair for pair in every if is_in(pair[0])]
        if found:
            row(name, [page for page, _ in found], [label for _, label in found])

    part("all", lambda page: True)
    for corpus in SETS:
        part(corpus, lambda page: page.corpus == corpus)
    kind = kinds()
    counted = {}
    for site in {page.site for page in of_pages}:
        counted[kind[site]] = counted.get(kind[site], 0) + 1
    for name in sorted(name for name, n in counted.items() if n >= 4):
        part(name, lambda page: kind[page.site] == name)
    means = []
    for at in range(N_FOLDS):
        sites = {}
        for page, found in every:
            if fold[page.site] == at:
                sites.setdefault(page.site, []).append(f1(page, found))
        means.append(np.mean([np.mean(scores) for scores in sites.values()]))
    print(f"\nfolds: {np.mean(means):.3f}, from {min(means):.3f} to {max(means):.3f}")


def matching(patterns):
    from fnmatch import fnmatch

    return [at for at, name in enumerate(NAMES) if any(fnmatch(name, pattern) for pattern in patterns)]


def main():
    began = time.monotonic()
    of_pages = list(pages(made(PROGRAM, "eight"), NAMES))
    few = [page for n in (2, 4) for page in pages(
        made(PROGRAM, f"loads{n}", settings=[f"subdigraph.n={n}", f"subdigraph.max_loads={n}"]), NAMES)]
    print(f"{len(of_pages)} pages of {len({page.site for page in of_pages})} sites read")
    save = sys.argv[sys.argv.index("--folds") + 1] if "--folds" in sys.argv else None
    labels, fold = left_out(of_pages, few, save=save)
    table(of_pages, labels, fold)
    if "--ablate" in sys.argv:
        for name, patterns in GROUPS.items():
            without = matching(patterns)
            row(f"without {name} ({len(without)})", of_pages, left_out(of_pages, few, without)[0])
    if "--curve" in sys.argv:
        for n in (36, 72, 137):
            row(f"{n} sites", of_pages, left_out(of_pages, few, most_sites=n)[0])
    if "--set-out" in sys.argv:
        for corpus in SETS:
            model = trained([page for page in of_pages + few if page.corpus != corpus])
            own = [page for page in of_pages if page.corpus == corpus]
            row(f"{corpus}, left out", own, labeled(model, own))
    model = trained(of_pages + few)
    OUT.write_bytes(written(model))
    gains = sorted(zip(model.feature_importance("gain"), NAMES), reverse=True)
    total = sum(gain for gain, _ in gains)
    print("gain: " + ", ".join(f"{name} {gain / total:.3f}" for gain, name in gains[:20]))
    print("least: " + ", ".join(f"{name} {gain / total:.4f}" for gain, name in gains[-25:]))
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size} bytes; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

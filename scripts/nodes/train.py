"""Trains the forests that label nodes (crates/template/src/site_model/nodes.forest), and prints them left out by site.

    scripts/nodes/train.py                      ten folds by site over all sets, then the forests of all sites
    scripts/nodes/train.py --ablate             the same without each rule, and without each group of features
    scripts/nodes/train.py --curve              trained on 36, 72, 137 and all sites of the other folds
    scripts/nodes/train.py --set-out            each set left out whole
    scripts/nodes/train.py --folds DIR          also writes the forests of each fold, for `evaluate --weights`
    scripts/nodes/train.py --beside DIR         writes forests of the five folds of the page model beside its weights,
                                                so that `evaluate --weights` leaves a site out of everything

PROGRAM names the program that computes the features (target/release/dehusk), WEIGHTS the folder that
`scripts/content/train.py --folds` has written (target/content/folds). Needs lightgbm; see README.md.
"""

import contextlib
import os
import random
import sys
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np

from forest import feature_names, written
from rows import FOLDS, ROOT, SETS, fold_of, folds, kinds, made, pages

PROGRAM = Path(os.environ.get("PROGRAM", ROOT / "target" / "release" / "dehusk")).resolve()
# The weights of the page model by fold: each site is judged by a page model that has not seen it.
WEIGHTS = Path(os.environ.get("WEIGHTS", ROOT / "target" / "content" / "folds")).resolve()
OUT = ROOT / "crates" / "template" / "src" / "site_model" / "nodes.forest"
N_FOLDS = 10
PARAMETERS = {
    "objective": "binary", "learning_rate": 0.1, "num_leaves": 16, "min_data_in_leaf": 150, "feature_fraction": 0.4,
    "bagging_fraction": 0.6, "bagging_freq": 1, "lambda_l2": 5, "max_bin": 63, "verbose": -1, "num_threads": 2,
    "seed": 1, "deterministic": True, "force_row_wise": True,
}
N_TREES = 100
# Weight of a page whose site has two, four or all pages as training pages, beside eight.
OTHERS = 0.3
# Nodes of a page that are drawn for training.
MOST_NODES = 250
# The constants of decision.rs.
COST_OUT, COST_BACK, ABSENT, IN_DOUBT, FEW, LITTLE_OWN = 2.0, 16.0, -1000.0, 0.25, 20, 0.2
# What the decision would be without each rule: other values of these constants, with the same forests.
RULES = {
    "joint decision": {"COST_OUT": 0.0, "COST_BACK": 0.0},
    "second forest": {"IN_DOUBT": np.inf, "LITTLE_OWN": 0.0},
    "first forest": {"IN_DOUBT": -1.0},
    "a fifth of the letters": {"LITTLE_OWN": 0.0},
}
GROUPS = {
    "expected content": ["*expected*", "root_*", "density_*", "share_95", "share_50"],
    "matches by number": ["n_*", "few_equal", "kind_equal", "*_n_equal"],
    "text below": ["text_*", "*_text_*", "letters", "*_letters"],
    "tags": ["tag", "parent_tag"],
    "siblings": ["siblings", "siblings_*"],
    "parents and ancestors": ["parent_*", "grand_*", "ancestor_*"],
    "place": ["depth", "position", "*_before", "*_after"],
    "the page": ["page_*"],
}


def sampled(groups, which, seed=0):
    """Rows, targets and weights of pages: in each group of pages, each site has the weight of the group, and each page of
    it the same, by its template nodes."""
    random_numbers = np.random.default_rng(seed)
    rows, targets, weights = [], [], []
    for of_pages, weight_of_group in groups:
        n_of_site = {}
        for page in of_pages:
            n_of_site[page.site] = n_of_site.get(page.site, 0) + 1
        for page in of_pages:
            # Nodes that no training page has are decided without the forest.
            nodes = np.flatnonzero(page.rows[which][:, MAPPED] > 0)
            nodes = nodes[nodes > 0]
            if len(nodes) == 0:
                continue
            n = len(nodes)
            if n > MOST_NODES:
                nodes = random_numbers.choice(nodes, MOST_NODES, replace=False)
            weight = weight_of_group * n / len(nodes) / max(page.template.sum(), 20) / n_of_site[page.site]
            rows.append(page.rows[which][nodes])
            targets.append(page.template[nodes])
            weights.append(np.full(len(nodes), weight))
    weights = np.concatenate(weights)
    return np.concatenate(rows), np.concatenate(targets), weights / weights.mean()


NAMES = feature_names()
MAPPED, ON_ALL = NAMES.index("mapped"), NAMES.index("n_equal")


def judged_nodes(page):
    """The node that is judged in the place of each node: `judged_nodes` of the program."""
    is_on_all = page.rows[0][:, ON_ALL] == 1
    is_as_parent = (page.parents > 0) & is_on_all & is_on_all[page.parents]
    judged, parents = list(range(page.n)), page.parents.tolist()
    for node in np.flatnonzero(is_as_parent).tolist():
        judged[node] = judged[parents[node]]
    return np.array(judged)


def trained(groups, without=()):
    """The two forests: with guessed content, and with the content that the page model expects."""
    models = []
    for which in (0, 1):
        rows, targets, weights = sampled(groups, which)
        if without:
            rows[:, without] = 0
        data = lgb.Dataset(rows, label=targets, weight=weights, feature_name=NAMES)
        models.append(lgb.train(PARAMETERS, data, N_TREES))
    return models


def decoded(page, logits):
    """Whether each node is template, and whether the page is in doubt: `decision` of the program."""
    is_mapped = page.rows[0][:, MAPPED] > 0
    logits = np.where(is_mapped, logits[judged_nodes(page)], ABSENT)
    parents, template, own = page.parents.tolist(), logits.tolist(), [0.0] * page.n
    for node in range(page.n - 1, 0, -1):
        parent = parents[node]
        template[parent] += max(template[node], own[node] - COST_OUT)
        own[parent] += max(own[node], template[node] - COST_BACK)
    labels = [True] * page.n
    for node in range(1, page.n):
        is_in = labels[parents[node]]
        labels[node] = template[node] >= own[node] - COST_OUT if is_in else template[node] - COST_BACK > own[node]
    labels = np.array(labels)
    doubt = (1 / (1 + np.exp(np.abs(logits[is_mapped])))).sum()
    has_little = page.letters[~labels].sum() < LITTLE_OWN * page.letters.sum()
    return labels, has_little or doubt > IN_DOUBT * max(labels.sum(), FEW)


def logits_of(model, which, of_pages, without):
    rows = np.concatenate([page.rows[which] for page in of_pages])
    if without:
        rows[:, without] = 0
    return np.split(model.predict(rows, raw_score=True), np.cumsum([page.n for page in of_pages])[:-1])


def labeled(models, of_pages, without=()):
    """The labels of pages, and the number of those for which the page model is asked."""
    first = zip(of_pages, logits_of(models[0], 0, of_pages, without))
    found = [decoded(page, logits) for page, logits in first]
    asked = [at for at, (_, is_in_doubt) in enumerate(found) if is_in_doubt]
    if asked:
        doubtful = [of_pages[at] for at in asked]
        for at, page, logits in zip(asked, doubtful, logits_of(models[1], 1, doubtful, without)):
            found[at] = decoded(page, logits)[0], True
    return [labels for labels, _ in found], len(asked)


def f1(page, labels):
    hits = (page.template & labels).sum()
    wanted, found = page.template.sum(), labels.sum()
    return 2 * hits / (wanted + found) if wanted + found else 1.0


def kept(page, labels):
    content = page.letters[page.content].sum()
    return page.letters[page.content & ~labels].sum() / content if content else np.nan


def left_out(of_pages, more, without=(), most_sites=None, save=None, rules=(), with_all=False):
    """The labels of each page by forests that have not seen its site, and the folds. `more` is trained on, too. With
    `rules` the labels without each of them are in `by_rule`. With `with_all` a row is printed of the pages whose sites
    have all of their pages as training pages, the last of `more`."""
    fold, labels, n_asked = folds(of_pages, N_FOLDS), {}, 0
    of_all = {}
    by_rule = {name: {} for name in rules}
    for at in range(N_FOLDS):
        sites = sorted(site for site in fold if fold[site] != at)
        if most_sites:
            sites = random.Random(at).sample(sites, min(most_sites, len(sites)))
        models = trained(of_sites(set(sites), of_pages, more), without)
        own = [page for page in of_pages if fold[page.site] == at]
        found, n = labeled(models, own, without)
        labels.update(zip(map(id, own), found))
        n_asked += n
        if with_all:
            own_of_all = [page for page in more[-1] if fold[page.site] == at]
            of_all.update(zip(map(id, own_of_all), labeled(models, own_of_all, without)[0]))
        for name in rules:
            with changed(RULES[name]):
                by_rule[name].update(zip(map(id, own), labeled(models, own)[0]))
        if save:
            place = Path(save) / str(at)
            place.mkdir(parents=True, exist_ok=True)
            (place / "nodes.forest").write_bytes(written(models))
            (place / "sites").write_text("\n".join(sorted({page.site for page in own})) + "\n")
    print(f"the page model is asked on {n_asked / len(of_pages):.3f} of the pages", flush=True)
    if with_all:
        row("all pages of the site are training pages", more[-1], [of_all[id(page)] for page in more[-1]])
    found = [labels[id(page)] for page in of_pages]
    return (found, fold, by_rule) if rules else (found, fold)


@contextlib.contextmanager
def changed(constants):
    before = {name: globals()[name] for name in constants}
    globals().update(constants)
    try:
        yield
    finally:
        globals().update(before)


def of_sites(sites, of_pages, more):
    """The groups of pages to train on."""
    chosen = [[page for page in group if page.site in sites] for group in (of_pages, *more)]
    return [(group, OTHERS if at else 1.0) for at, group in enumerate(chosen)]


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
    def read(variant, *options):
        return list(pages(made(PROGRAM, variant, WEIGHTS, *options), NAMES))

    of_pages = read("eight")
    more = [read(f"loads{n}", "--set", f"subdigraph.n={n}", "--set", f"subdigraph.max_loads={n}") for n in (2, 4)]
    more.append(read("all", "--add-all"))
    print(f"{len(of_pages)} pages of {len({page.site for page in of_pages})} sites read")
    save = sys.argv[sys.argv.index("--folds") + 1] if "--folds" in sys.argv else None
    labels, fold, by_rule = left_out(of_pages, more, save=save, rules=RULES, with_all=True)
    table(of_pages, labels, fold)
    if "--ablate" in sys.argv:
        for name, without in by_rule.items():
            row(f"without {name}", of_pages, [without[id(page)] for page in of_pages])
        for name, patterns in GROUPS.items():
            without = matching(patterns)
            row(f"without {name} ({len(without)})", of_pages, left_out(of_pages, more, without)[0])
    if "--curve" in sys.argv:
        for n in (36, 72, 137):
            row(f"{n} sites", of_pages, left_out(of_pages, more, most_sites=n)[0])
    if "--set-out" in sys.argv:
        for corpus in SETS:
            others = {page.site for page in of_pages if page.corpus != corpus}
            models = trained(of_sites(others, of_pages, more))
            own = [page for page in of_pages if page.corpus == corpus]
            row(f"{corpus}, left out", own, labeled(models, own)[0])
    if "--beside" in sys.argv:
        place = Path(sys.argv[sys.argv.index("--beside") + 1])
        for at in range(FOLDS):
            sites = {site for site in fold if fold_of(site) != at}
            (place / str(at) / "nodes.forest").write_bytes(written(trained(of_sites(sites, of_pages, more))))
    models = trained(of_sites(set(fold), of_pages, more))
    OUT.write_bytes(written(models))
    for model, name in zip(models, ("guessed content", "expected content")):
        gains = model.feature_importance("gain")
        gains = sorted(zip(gains / gains.sum(), NAMES), reverse=True)
        print(f"{name}: gain " + ", ".join(f"{feature} {gain:.3f}" for gain, feature in gains[:20]))
        print("least: " + ", ".join(f"{feature} {gain:.4f}" for gain, feature in gains[-20:]))
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size} bytes; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

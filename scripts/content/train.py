"""Trains the page model on all sets, prints the table of pages whose domain was left out, writes the weights.

    python3 scripts/content/train.py --out crates/content/src/page.weights
"""

import argparse
import os
import pickle
import sys
import time
from pathlib import Path

# One thread: the order of sums, and with it the weights, must not depend on the machine's cores.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import classes
import corpora
import net as nets
import score
import weights
from corpora import FOLDS


def item_of(page, rows, guesses=None):
    """What the net trains on: targets and weights of each block."""
    n = page.n.astype(np.float32)
    if page.r is not None:
        y = page.r
        w = (np.minimum(n, 80) + 1) / max(80, min(n.sum(), 2 * page.n_gold + 50, 3000)) * np.maximum(0.2, abs(2 * y - 1))
        if page.neither is not None:
            w = np.where(page.neither > 0.5, w * 0.7, w)
        f1 = 1.0
    else:
        y, known = snippet_targets(page)
        w = np.where(known, 0.03, 0.0)
        f1 = 0.0
        if guesses is not None:
            guess = np.clip(guesses, 0.01, 0.99)
            y = np.where(known, y, guess)
            size = max(80, min(n.sum(), 2 * (guess * n).sum() + 50))
            w = w + np.where(known, 0, (np.minimum(n, 80) + 1) / size * abs(2 * guess - 1) * 0.5)
            f1 = 0.5
    return {"x": rows, "y": y.astype(np.float32), "w": w.astype(np.float32), "n": n,
            "weight": corpora.WEIGHTS[page.set], "f1": f1}


def snippet_targets(page):
    """1 for blocks with a snippet that must be there, 0 with one that must not; and whether either is known."""
    y, known = np.zeros(len(page.n)), np.zeros(len(page.n), bool)
    squeeze = lambda text: " ".join(text.split())
    starts = np.cumsum([0] + [len(text) + 1 for text in page.texts])[:-1]
    whole = " ".join(page.texts)
    for snippets, value, most in ((page.must_not, 0.0, 50), (page.must, 1.0, 2)):
        for snippet in map(squeeze, snippets):
            places, at = [], whole.find(snippet) if snippet else -1
            while at >= 0 and len(places) <= most:
                places.append((np.searchsorted(starts, at, "right") - 1, np.searchsorted(starts, at + len(snippet) - 1, "right")))
                at = whole.find(snippet, at + 1)
            if len(places) <= most:
                for first, last in places:
                    y[first:last], known[first:last] = value, True
    return y, known


def class_sums(pages):
    """The two features of class names, each page's from the folds that it is not in; and the weights of all."""
    vocabulary = classes.Vocabulary(pages, corpora.domain)
    matrices = [vocabulary.matrix(page) for page in pages]
    targets, weights = [], []
    for page in pages:
        if page.r is not None:
            y = page.r
            w = np.minimum(page.n, 60) / max(60, min(page.n.sum(), 1500)) * abs(2 * y - 1)
        else:
            y, known = snippet_targets(page)
            w = np.where(known, 0.02, 0.0)
        targets.append(y)
        weights.append(w * corpora.WEIGHTS[page.set] * 5)
    fit = lambda chosen: classes.fit([matrices[k] for k in chosen], [targets[k] for k in chosen], [weights[k] for k in chosen])
    by_fold = []
    for fold in range(FOLDS):
        found = fit([k for k, page in enumerate(pages) if page.fold != fold])
        for page in pages:
            if page.fold == fold:
                page.features[:, -2:] = vocabulary.sums(page, found)
        by_fold.append(found)
    return vocabulary, fit(range(len(pages))), by_fold


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=4, help="pages a step")
    parser.add_argument("--sets", default=",".join(corpora.WEIGHTS))
    parser.add_argument("--save", help="keep the probabilities of left-out pages in this file")
    parser.add_argument("--folds", help="write the weights of each fold below this folder, for left-out figures")
    parser.add_argument("--load", help="take them from there, and only train the net that is written")
    parser.add_argument("--set-out", action="store_true", help="also leave each set out whole, with its second half")
    given = parser.parse_args()
    began = time.time()
    pages, names = [], None
    for name in given.sets.split(","):
        names, found = corpora.read(name)
        pages += found
    vocabulary, class_weights, fold_weights = class_sums(pages)
    print(f"{len(pages)} pages, {len(names)} features, {len(vocabulary.numbers)} sub-words, {time.time() - began:.0f} s", flush=True)
    length_at, class_at = names.index("own.ln_length"), (len(names) - 2, len(names) - 1)

    def fitted(chosen, guesses):
        scaler = nets.Scaler(np.concatenate([pages[k].features[::5] for k in chosen]))
        scaler.mean[-2:], scaler.scale[-2:] = 0, 1
        items = [item_of(pages[k], scaler(pages[k].features), guesses.get(k)) for k in chosen]
        return scaler, nets.train(items, len(names), length_at, epochs=given.epochs, batch=given.batch, class_at=class_at)

    def probabilities(model, k):
        scaler, net = model
        rows = scaler(pages[k].features)
        return nets.sigmoid(net.logits(rows, rows[:, length_at]))

    # Snippets name few blocks of a page; the others get what a first net says.
    prob, guesses = {}, {}
    if given.load:
        prob = pickle.loads(Path(given.load).read_bytes())[2]
        guesses = {k: prob[k] for k, page in enumerate(pages) if page.r is None}
    for step in range(0 if given.load else 2):
        for fold in range(FOLDS):
            model = fitted([k for k, page in enumerate(pages) if page.fold != fold], guesses)
            prob.update({k: probabilities(model, k) for k, page in enumerate(pages) if page.fold == fold})
        table(pages, prob, f"step {step}, {time.time() - began:.0f} s")
        guesses = {k: prob[k] for k, page in enumerate(pages) if page.r is None}
    if given.set_out:
        # The labellers of a set have conventions: these figures are of pages whose conventions are not known either.
        without = {}
        for labeller in sorted({labeller_of(page.set) for page in pages}):
            own = [k for k, page in enumerate(pages) if labeller_of(page.set) == labeller]
            domains = {corpora.domain(pages[k].site) for k in own}
            others = [k for k, page in enumerate(pages) if labeller_of(page.set) != labeller and corpora.domain(page.site) not in domains]
            model = fitted(others, guesses)
            without.update({k: probabilities(model, k) for k in own})
        table(pages, without, f"sets left out whole, {time.time() - began:.0f} s")
    if given.save:
        Path(given.save).write_bytes(pickle.dumps((names, pages, prob), protocol=5))
    for fold in range(FOLDS) if given.folds else ():
        scaler, net = fitted([k for k, page in enumerate(pages) if page.fold != fold], guesses)
        place = Path(given.folds) / str(fold)
        place.mkdir(parents=True, exist_ok=True)
        weights.write(place / "page.weights", names, scaler, net, vocabulary, fold_weights[fold])
    if given.out:
        scaler, net = fitted(range(len(pages)), guesses)
        weights.write(given.out, names, scaler, net, vocabulary, class_weights)
        print(f"wrote {given.out}")


def labeller_of(of_set):
    """The pages that were labeled together: `cttf3` is the second half of `cttf`."""
    return of_set if of_set in corpora.SITES else of_set.removesuffix("3").removesuffix("_multi")


def table(pages, prob, title):
    print(title)
    for name in sorted({page.set for page in pages}):
        chosen = [k for k, page in enumerate(pages) if page.set == name]
        of_set = [pages[k] for k in chosen]
        measure = score.snippets if name == "snippets" else score.mean
        row = []
        for how in (lambda k: prob[k] > 0.5, lambda k: expected_f1(prob[k], pages[k].n), lambda k: pages[k].r >= 0.5):
            if name == "snippets" and len(row) == 2:
                continue
            row.append("%.4f (%.3f/%.3f)" % tuple(np.array(measure(of_set, [how(k) for k in chosen]))[[2, 0, 1]]))
        print(f"  {name:11} {len(chosen):4}  .5 {row[0]}  expected F1 {row[1]}", "  oracle " + row[2] if len(row) > 2 else "", flush=True)
    kinds = sorted({page.kind for page in pages if page.set == "wcxb"})
    for kind in kinds:
        chosen = [k for k, page in enumerate(pages) if page.set == "wcxb" and page.kind == kind]
        values = [score.mean([pages[k] for k in chosen], [how(k) for k in chosen])[2]
                  for how in (lambda k: prob[k] > 0.5, lambda k: expected_f1(prob[k], pages[k].n))]
        print(f"    {kind:14} {len(chosen):3}  {values[0]:.3f} {values[1]:.3f}")


def expected_f1(prob, n):
    """Keeps the blocks that make the expected F1 greatest, where that is below .8; above .5 elsewhere."""
    order = np.argsort(-prob, kind="stable")
    hits, sizes = np.cumsum((prob * n)[order]), np.cumsum(n[order])
    f1 = 2 * hits / np.maximum(sizes + (prob * n).sum(), 1e-9)
    best = int(np.argmax(f1))
    return prob >= prob[order[best]] if f1[best] < 0.8 else prob > 0.5


if __name__ == "__main__":
    sys.exit(main())

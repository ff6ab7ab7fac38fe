"""Trains the site model on the sets with several pages a site, prints the table of sites left out, writes the weights.

    python3 scripts/content/train.py --save target/content/left_out.pickle
    python3 scripts/content/train_site.py --load target/content/left_out.pickle \\
        --out crates/content/src/site.weights
"""

import argparse
import os
import pickle
import random
from pathlib import Path

# One thread: the order of sums, and with it the weights, must not depend on the machine's cores.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import net as nets
import score
import site_features
import weights
from corpora import FOLDS, SITES
from train import expected_f1, item_of

# Other pages of the site beside a page in training. With few, the model must fall back on the page.
COUNTS = (8, 8, 4, 2, 1)
# Weight of a page of each set with several pages a site.
SETS = {
    **dict.fromkeys(SITES, 1.0), "cttf": 0.3, "wwwxmu": 0.15, "wcxb_multi": 0.7, "l3s": 0.5, "dragnet": 0.5,
    "cttf3": 0.3, "wwwxmu3": 0.15, "wcxb_multi3": 0.7, "l3s3": 0.5, "dragnet3": 0.5, "news": 0.5,
}
INPUTS = ["own.ln_length", *(f"site.{name}" for name in site_features.NAMES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", required=True, help="probabilities of left-out pages, from train.py --save")
    parser.add_argument("--out")
    parser.add_argument("--folds", help="write the weights of each fold below this folder, for left-out figures")
    parser.add_argument("--epochs", type=int, default=4)
    given = parser.parse_args()
    names, pages, prob = pickle.loads(Path(given.load).read_bytes())
    length_at = names.index("own.ln_length")
    chosen = random.Random(1)
    known, by_site = {}, {}
    for k, page in enumerate(pages):
        if page.set in SETS and page.r is not None:
            # The page net that judges a page has not seen its site.
            known[k] = site_features.Known(page, site_features.logit(prob[k]).astype(np.float32))
            by_site.setdefault((page.set, page.site), []).append(k)

    def rows(k, count):
        page = pages[k]
        others = [other for other in by_site[page.set, page.site] if other != k]
        chosen.shuffle(others)
        beside = site_features.rows(page, known[k], [known[other] for other in others[:count]])
        return np.concatenate([page.features[:, [length_at]], beside], 1)

    # A page whose site has no other one teaches nothing.
    known = {k: found for k, found in known.items() if len(by_site[pages[k].set, pages[k].site]) > 1}
    tests = {count: {k: rows(k, count) for k in known} for count in (8, 4, 1)}
    trains = {k: [rows(k, count) for count in COUNTS] for k in known}

    def fitted(numbers):
        scaler = nets.Scaler(np.concatenate([rows[::5] for k in numbers for rows in trains[k]]))
        items = [{**item_of(pages[k], scaler(rows)), "weight": SETS[pages[k].set]} for k in numbers for rows in trains[k]]
        return scaler, nets.train(items, 1 + len(site_features.NAMES), 0, epochs=given.epochs)

    found = {count: {} for count in tests}
    for fold in range(FOLDS):
        scaler, net = fitted([k for k in known if pages[k].fold != fold])
        if given.folds:
            weights.write(Path(given.folds) / str(fold) / "site.weights", INPUTS, scaler, net)
        for count, of_pages in tests.items():
            for k in known:
                if pages[k].fold == fold:
                    x = scaler(of_pages[k])
                    found[count][k] = nets.sigmoid(net.logits(x, x[:, 0]))
    show("page alone", pages, known, lambda k: expected_f1(prob[k], pages[k].n))
    for count in tests:
        show(f"site model, {count} other pages", pages, known, lambda k: expected_f1(found[count][k], pages[k].n))
    if given.out:
        scaler, net = fitted(list(known))
        weights.write(given.out, INPUTS, scaler, net)
        print(f"wrote {given.out}")


def show(title, pages, known, how):
    for name in SETS:
        numbers = [k for k in known if pages[k].set == name]
        kept = {k: how(k) for k in numbers}
        precision, recall, f1 = score.mean([pages[k] for k in numbers], [kept[k] for k in numbers])
        sites = {}
        for k in numbers:
            if found := score.bag(pages[k], kept[k]):
                sites.setdefault(pages[k].site, []).append(found[2])
        means = sorted(np.mean(values) for values in sites.values())
        short = [k for k in numbers if 0 < pages[k].n_gold < 50]
        of_short = score.mean([pages[k] for k in short], [kept[k] for k in short])[2]
        worst = np.mean(means[:max(1, len(means) // 10)])
        print(f"{title:28} {name:7} F1 {f1:.4f} ({precision:.3f}/{recall:.3f})  median site {np.median(means):.3f}  "
              f"worst tenth of sites {worst:.3f}  {len(short)} short pages {of_short:.3f}", flush=True)


if __name__ == "__main__":
    main()

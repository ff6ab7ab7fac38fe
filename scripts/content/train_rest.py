"""Trains crates/content/src/rest.weights: what kind a block is that is neither template nor main content.

No gold names these kinds. The targets are the names that designers give: a block of the rest whose class names hold a
word of a kind is a block of that kind. The weights read the same features as the page model and the sub-words of class
names. In training half of the blocks have no names, so that a block without names is told by its features.
"""

import argparse
import struct

import numpy as np
import scipy.optimize
import scipy.sparse
import xxhash

from classes import Vocabulary
from corpora import FOLDS, domain, read
from weights import fnv

MAGIC = b"dehusk content rest 1\n"
KINDS = {
    "comments": "comment comments commentlist disqus respond reply replies",
    "byline": "byline author authors date time dateline published posted timestamp meta postmeta metadata",
    "breadcrumbs": "breadcrumb breadcrumbs crumb crumbs pathway",
    "contents": "toc tableofcontents localtoc contents onthispage",
    "related": "related recommended recommend recommendations more also similar popular latest recent teaser teasers "
    "trending readmore",
}
OTHER = len(KINDS)
# A name far above a block tells its kind only for these; the others are names of lines.
REGIONS = {"comments", "breadcrumbs", "contents"}
SETS = {"sites": 0.3, "sites2": 0.3, "cttf": 0.5, "wwwxmu": 0.5, "dragnet": 1, "l3s": 1, "wcxb": 1, "wcxb_multi": 1}
MOST_BLOCKS = 12  # of a kind on a page
LEAST_WEIGHT = 0.02


def hashed(words):
    return {xxhash.xxh3_64_intdigest(word.encode()) & 0xFFFFFFFF for word in words.split()}


NAMES = {kind: hashed(words) for kind, words in KINDS.items()}


def kind_of(near, far):
    """The kind that the names around a block say; None where they say several."""
    near, far = set(near), set(far)
    if (near | far) & NAMES["comments"]:
        return 0
    found = [at for at, kind in enumerate(KINDS) if near & NAMES[kind]]
    found = found or [at for at, kind in enumerate(KINDS) if kind in REGIONS and far & NAMES[kind]]
    return None if len(found) > 1 else found[0] if found else OTHER


def samples(pages, rng):
    """Of each page some blocks of the rest: page, block, kind, weight."""
    for page in pages:
        rest = page.r < 0.2
        if page.neither is not None:
            rest &= page.neither > 0.5
        by_kind = {}
        for at in np.flatnonzero(rest):
            kind = kind_of(page.near[at], page.far[at])
            if kind is not None:
                by_kind.setdefault(kind, []).append(at)
        for kind, found in sorted(by_kind.items()):
            found = rng.choice(found, min(len(found), MOST_BLOCKS), replace=False)
            # Without the labels of a site the others are mostly template.
            weight = SETS[page.set] * (1 if kind != OTHER else 0.5 if page.neither is not None else 0.3)
            for at in found:
                yield page, at, kind, weight / np.sqrt(len(found))


def fit(x, y, weights, strength=3.0):
    """L2-regularized multinomial regression. x is sparse."""
    n_kinds = OTHER + 1
    targets, transposed = np.eye(n_kinds)[y], x.T.tocsr()

    def loss(v):
        v = v.reshape(-1, n_kinds)
        z = x @ v[:-1] + v[-1]
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        value = -(weights * np.log(p[np.arange(len(y)), y] + 1e-12)).sum() + strength / 2 * (v[:-1] ** 2).sum()
        slope = (p - targets) * weights[:, None]
        return value, np.vstack([transposed @ slope + strength * v[:-1], slope.sum(0)]).ravel()

    start = np.zeros((x.shape[1] + 1) * n_kinds)
    return scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 120}).x.reshape(-1, n_kinds)


def table(title, y, found, weights):
    print(title)
    for at, kind in enumerate([*KINDS, "other"]):
        hits = weights[(y == at) & (found == at)].sum()
        precision = hits / max(weights[found == at].sum(), 1e-9)
        print(f"  {kind:12} precision {precision:.2f}  recall {hits / max(weights[y == at].sum(), 1e-9):.2f}")


def write(path, names, mean, scale, found, words):
    """Mean, scale, then kind by kind the weights of each feature and the bias; then each sub-word with its weights."""
    n = len(names)
    numbers = np.concatenate([mean, scale, found[:n].ravel(), found[-1]]).astype("<f4")
    rows = [(word, place, found[n + at]) for (word, place), at in sorted(words.items())]
    rows = [row for row in rows if np.abs(row[2]).max() >= LEAST_WEIGHT]
    body = struct.pack("<QII", fnv("\n".join(names).encode()), n, len(rows)) + numbers.tobytes()
    for word, place, weights in rows:
        body += struct.pack("<II", word, place) + weights.astype("<f4").tobytes()
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<Q", fnv(body)) + body)
    print(f"{path}: {len(rows)} sub-words")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="where the weights are written")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    pages = []
    for name in SETS:
        names, found = read(name)
        pages += found
    names = names[:-2]  # the sums of the page model's class names stay out
    vocabulary = Vocabulary(pages, domain)
    rows = list(samples(pages, rng))
    dense = np.array([page.features[at][: len(names)] for page, at, _, _ in rows], np.float32)
    ends, indices = [0], []
    for page, at, _, _ in rows:
        for place, words in enumerate((page.near[at], page.far[at])):
            indices += [n for word in words if (n := vocabulary.numbers.get((word, place))) is not None]
        ends.append(len(indices))
    shape = (len(rows), len(vocabulary.numbers))
    words = scipy.sparse.csr_matrix((np.ones(len(indices), np.float32), indices, ends), shape)
    y, weights = np.array([kind for _, _, kind, _ in rows]), np.array([weight for *_, weight in rows])
    folds = np.array([page.fold for page, *_ in rows])
    of_sites = np.array([page.set.startswith("sites") for page, *_ in rows])
    mean, deviation = dense.mean(0), dense.std(0) + 1e-6
    dense = scipy.sparse.csr_matrix(np.clip((dense - mean) / deviation, -4, 4))
    keeps_names = scipy.sparse.diags((rng.random(len(rows)) < 0.5).astype(np.float32))
    nothing = scipy.sparse.csr_matrix(words.shape, dtype=np.float32)
    dropped = scipy.sparse.hstack([dense, keeps_names @ words]).tocsr()
    named, nameless = scipy.sparse.hstack([dense, words]).tocsr(), scipy.sparse.hstack([dense, nothing]).tocsr()
    with_names, without = np.zeros(len(y), int), np.zeros(len(y), int)
    for fold in range(FOLDS):
        learned = fit(dropped[folds != fold], y[folds != fold], weights[folds != fold])
        for x, found in ((named, with_names), (nameless, without)):
            found[folds == fold] = (x[folds == fold] @ learned[:-1] + learned[-1]).argmax(1)
    for title, chosen in (("sites", of_sites), ("pages", ~of_sites)):
        table(f"{title}, class names hidden", y[chosen], without[chosen], weights[chosen])
        table(f"{title}, class names read", y[chosen], with_names[chosen], weights[chosen])
    if options.out:
        write(options.out, names, mean, 1 / deviation, fit(dropped, y, weights), vocabulary.numbers)


if __name__ == "__main__":
    main()

"""Weights of the sub-words of class names: logistic regression over blocks."""

import numpy as np
import scipy.optimize
import scipy.sparse

SCALE = 3.0
LEAST_DOMAINS = 8


class Vocabulary:
    """Sub-words that enough domains use, near a block and far from it."""

    def __init__(self, pages, domain):
        seen = {}
        for page in pages:
            name = domain(page.site)
            for place in (0, 1):
                for word in {word for words in (page.near, page.far)[place] for word in words}:
                    seen.setdefault((word, place), set()).add(name)
        self.numbers = {key: at for at, key in enumerate(sorted(k for k, s in seen.items() if len(s) >= LEAST_DOMAINS))}

    def matrix(self, page):
        indices, ends = [], [0]
        for near, far in zip(page.near, page.far):
            for place, words in enumerate((near, far)):
                indices += [at for word in words if (at := self.numbers.get((word, place))) is not None]
            ends.append(len(indices))
        shape = (len(page.n), len(self.numbers))
        return scipy.sparse.csr_matrix((np.ones(len(indices), np.float32), indices, ends), shape)

    def sums(self, page, weights):
        """The two features of each block."""
        is_near = np.array([place == 0 for _, place in self.numbers])
        matrix = self.matrix(page)
        return np.stack([matrix @ (weights * is_near), matrix @ (weights * ~is_near)], 1) / SCALE


def fit(matrices, targets, weights, strength=1 / 0.3):
    """L2-regularized logistic regression."""
    x, y, w = scipy.sparse.vstack(matrices).tocsr(), np.concatenate(targets), np.concatenate(weights)
    sign = np.where(y >= 0.5, 1.0, -1.0)
    transposed = x.T.tocsr()

    def loss(v):
        margin = sign * (x @ v[:-1] + v[-1])
        value = (w * np.logaddexp(0, -margin)).sum() + strength * (v[:-1] ** 2).sum() / 2
        slope = -w * sign / (1 + np.exp(np.clip(margin, -30, 30)))
        return value, np.append(transposed @ slope + strength * v[:-1], slope.sum())

    found = scipy.optimize.minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    return found.x[:-1].astype(np.float32)

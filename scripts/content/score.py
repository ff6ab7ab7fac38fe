"""Scores of kept blocks against the gold, as scripts and `dehusk evaluate` count them."""

import re

import numpy as np


def bag(page, kept):
    """Precision, recall and F1 of the tokens of the kept blocks; None without gold."""
    if not page.n_gold:
        return None
    words = [word for word, is_kept in zip(page.words, kept) if is_kept]
    found = np.bincount(np.concatenate(words), minlength=len(page.gold)) if words else np.zeros(len(page.gold), int)
    n = found.sum()
    hits = np.minimum(found[:len(page.gold)], page.gold).sum()
    if n == 0 or hits == 0:
        return 0.0, 0.0, 0.0
    precision, recall = hits / n, hits / page.n_gold
    return precision, recall, 2 * precision * recall / (precision + recall)


def mean(pages, kept):
    """Means over all pages with gold."""
    scores = [score for page, k in zip(pages, kept) if (score := bag(page, k))]
    return np.mean(scores, 0) if scores else (0.0, 0.0, 0.0)


def snippets(pages, kept):
    """Precision, recall and F1 of snippets that must and must not be there."""
    norm = lambda text: re.sub(r"\s+", " ", text).strip()
    tp = fp = fn = 0
    for page, k in zip(pages, kept):
        text = norm("\n".join(text for text, is_kept in zip(page.texts, k) if is_kept))
        inside, outside = sum(norm(w) in text for w in page.must), sum(norm(w) in text for w in page.must_not)
        tp, fp, fn = tp + inside, fp + outside, fn + len(page.must) - inside
    precision, recall = tp / max(1, tp + fp), tp / max(1, tp + fn)
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)

"""Precision, recall and F1 of the words of a text, as `dehusk evaluate` counts them."""

from collections import Counter

from align import tokens


def bag(text, gold):
    """None without gold."""
    found, wanted = Counter(tokens(text)), Counter(tokens(gold))
    if not wanted:
        return None
    hits = (found & wanted).total()
    if not hits:
        return 0.0, 0.0, 0.0
    precision, recall = hits / found.total(), hits / wanted.total()
    return precision, recall, 2 * precision * recall / (precision + recall)

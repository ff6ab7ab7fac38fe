"""Which blocks of a page its gold text holds."""

import re

import numpy as np
from rapidfuzz.distance import LCSseq

IDEOGRAPH = "぀-ヿ㐀-䶿一-鿿가-힯"
TOKEN = re.compile(f"[{IDEOGRAPH}]|[^\\W{IDEOGRAPH}]+")

# Tokens of a page beyond which the alignment is cut, so that it ends.
MOST = 40_000


def tokens(text):
    """Words in lower case; an ideograph is one. As the scorers count them."""
    return TOKEN.findall((text or "").lower())


def align(blocks, gold_text):
    """The share of each block that is gold, from 0 to 1.

    A block counts as far as a longest common subsequence of page and gold holds it, and its trigrams are in the gold.
    A long block whose words are all there but in another place counts, too. A block of up to three words counts only as
    a line of the gold, or near a long one that counts.
    """
    gold = tokens(gold_text)
    share = np.zeros(len(blocks))
    if not gold:
        return share
    numbers = {}
    page = [numbers.setdefault(word, len(numbers)) for block in blocks for word in block]
    wanted = [numbers.setdefault(word, len(numbers)) for word in gold]
    owner = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    matched = np.zeros(len(page))
    most = MOST if len(page) * len(wanted) > 400_000_000 else len(page)
    for step in LCSseq.opcodes(page[:most], wanted):
        if step.tag == "equal":
            matched[step.src_start:step.src_end] = 1
    sizes = np.array([len(block) for block in blocks])
    in_order = np.bincount(owner, matched, len(blocks)) / np.maximum(sizes, 1)
    coverage = covered(page, wanted, sizes)
    share = np.where(coverage >= 0.5, np.minimum(in_order, coverage), 0.0)
    keys = [tuple(block) for block in blocks]
    best = {}
    for key, value in zip(keys, share):
        best[key] = max(best.get(key, 0.0), value)
    for at, key in enumerate(keys):
        if sizes[at] >= 8 and coverage[at] >= 0.9 and best[key] < 0.5:
            share[at] = coverage[at]
            best[key] = 1.0
    lines = {tuple(tokens(line)) for line in gold_text.splitlines()}
    is_long = (share >= 0.5) & (sizes >= 6)
    for at, key in enumerate(keys):
        if 0 < sizes[at] <= 3 and share[at] > 0 and key not in lines and not is_long[max(0, at - 3):at + 4].any():
            share[at] = 0.0
    return share


def covered(page, wanted, sizes):
    """The share of each block's tokens that a trigram of the gold holds (shorter n-grams for shorter blocks)."""
    grams = {n: set(zip(*(wanted[k:] for k in range(n)))) for n in (1, 2, 3)}
    shares, start = np.zeros(len(sizes)), 0
    for at, size in enumerate(sizes):
        block = page[start:start + size]
        start += size
        n = min(3, size)
        if n == 0:
            continue
        held = np.zeros(size, bool)
        for k in range(size - n + 1):
            if tuple(block[k:k + n]) in grams[n]:
                held[k:k + n] = True
        shares[at] = held.mean()
    return shares

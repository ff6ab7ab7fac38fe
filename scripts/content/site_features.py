"""The site model: what other pages of a site say about the blocks of a page, and a net that reads it."""

import numpy as np

NAMES = ["logit", "slot_logit", "same_text", "same_slot", "same_text_in_slot", "same_pattern", "repeated_near",
         "same_text_before", "same_text_behind", "logit_before", "logit_behind", "repeated_on_page", "ln_pages"]
NEAR, MOST_WORDS = 5, 40


def logit(prob):
    prob = np.clip(prob, 1e-4, 1 - 1e-4)
    return np.log(prob / (1 - prob))


class Known:
    """What a site model keeps of a page: its slots with their mean logits, texts and patterns."""

    def __init__(self, page, z):
        self.z, self.texts, self.patterns = z, [hash(text) for text in page.texts], page.pattern.tolist()
        self.keys = page.slot.tolist()
        self.slots = {}
        weight = np.minimum(page.n + 1, MOST_WORDS)
        for slot, value, w in zip(self.keys, z, weight):
            sum_, total = self.slots.get(slot, (0.0, 0.0))
            self.slots[slot] = (sum_ + value * w, total + w)
        self.slots = {slot: sum_ / total for slot, (sum_, total) in self.slots.items()}
        self.text_set, self.pattern_set = set(self.texts), set(self.patterns)
        self.in_slot = set(zip(self.keys, self.texts))


def rows(page, own, others):
    """The features of the blocks of a page, `own`, beside `others` of its site."""
    k = max(1, len(others))
    share = lambda keys, sets: np.array([sum(key in found for found in sets) for key in keys], np.float32) / k
    same_text = share(own.texts, [other.text_set for other in others])
    same_slot = share(own.keys, [other.slots for other in others])
    in_slot = share(zip(own.keys, own.texts), [other.in_slot for other in others])
    pattern = share(own.patterns, [other.pattern_set for other in others])
    means = [[other.slots[key] for other in [*others, own] if key in other.slots] for key in own.keys]
    slot_logit = np.array([np.mean(values) for values in means], np.float32)
    n, z = page.n, own.z
    repeated = np.concatenate([[0], np.cumsum(same_text * n)])
    words = np.concatenate([[0], np.cumsum(n)])
    at = np.arange(len(n))
    low, high = np.maximum(0, at - NEAR), np.minimum(len(n), at + NEAR + 1)
    near = (repeated[high] - repeated[low]) / np.maximum(1, words[high] - words[low])
    before = lambda values: np.concatenate([values[:1], values[:-1]])
    behind = lambda values: np.concatenate([values[1:], values[-1:]])
    whole = np.full(len(n), repeated[-1] / max(1, words[-1]))
    return np.stack([z, slot_logit, same_text, same_slot, in_slot, pattern, near, before(same_text), behind(same_text),
                     before(z), behind(z), whole, np.full(len(n), np.log1p(len(others)))], 1).astype(np.float32)

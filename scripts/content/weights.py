"""Writes the weights of a net as crates/content/src/weights.rs reads them."""

import struct

import numpy as np

MAGIC = b"dehusk content net 1\n"


def fnv(data):
    """64-bit FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def write(path, names, scaler, net, vocabulary=None, class_weights=()):
    p = net.p
    parts = [scaler.mean, scaler.scale, p["w1"], p["b1"], p["pool"], p["w2"], p["b2"], p["w3"], p["b3"]]
    numbers = np.concatenate([np.asarray(part, "<f4").ravel() for part in parts])
    words = {}
    for (word, place), at in (vocabulary.numbers.items() if vocabulary else ()):
        words.setdefault(word, [0.0, 0.0])[place] = float(class_weights[at])
    body = struct.pack("<QIII", fnv("\n".join(names).encode()), len(names), len(numbers), len(words))
    body += numbers.astype("<f4").tobytes()
    for word in sorted(words):
        body += struct.pack("<Iff", word, *words[word])
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<Q", fnv(body)) + body)

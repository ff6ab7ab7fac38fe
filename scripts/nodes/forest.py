"""Writes forests of LightGBM as the program reads them (crates/template/src/site_model/forest.rs)."""

import math
import re
import struct
from pathlib import Path

import numpy as np
import xxhash

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "crates" / "template" / "src" / "site_model" / "node_features.rs"
MAGIC = b"dehusk node forest 2\n"
# Leaves of a tree.
LEAVES = 16


def feature_names():
    """The names of the features, as the program has them."""
    text = SOURCE.read_text().split("const FEATURES", 1)[1].split("];", 1)[0].split("= [", 1)[1]
    return re.findall(r'"(\w+)"', re.sub(r"//.*", "", text))


def floor_32(value):
    """The greatest number of 32 bits that is not above a number of 64 bits."""
    single = np.float32(value)
    return single if float(single) <= value else np.nextafter(single, np.float32(-math.inf))


def tests_and_leaves(tree):
    """The tests of a tree (feature, threshold, leaves that can be reached where it is false) and its leaves."""
    tests, leaves = [], []

    def visit(node):
        """The leaves below a node, as bits."""
        if "leaf_value" in node:
            leaves.append(node["leaf_value"])
            return 1 << len(leaves) - 1
        left = visit(node["left_child"])
        tests.append((node["split_feature"], floor_32(node["threshold"]), 0xFFFF & ~left))
        return left | visit(node["right_child"])

    visit(tree["tree_structure"])
    assert len(leaves) <= LEAVES
    return tests, leaves + [0.0] * (LEAVES - len(leaves))


def file_bytes(names, forests):
    """A file with these forests, each of them a list of trees: tests and leaves."""
    body = xxhash.xxh3_64_digest("\n".join(names).encode())[::-1]
    for trees in forests:
        body += struct.pack("<H", len(trees))
        for tests, leaves in trees:
            packed = [struct.pack("<HHf", feature, reachable, threshold) for feature, threshold, reachable in tests]
            body += struct.pack("<B", len(tests)) + b"".join(packed) + np.array(leaves, "<f4").tobytes()
    return MAGIC + xxhash.xxh3_64_digest(body)[::-1] + body


def written(models):
    """The bytes of models of LightGBM."""
    forests = [[tests_and_leaves(tree) for tree in model.dump_model()["tree_info"]] for model in models]
    return file_bytes(feature_names(), forests)

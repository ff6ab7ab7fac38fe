"""Pages with the features and the gold of their nodes, as `dehusk evaluate --features` writes them."""

import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "content"))

from archives import unpacked  # noqa: E402
from corpora import FOLDS, fold_of  # noqa: E402

SETS = ["sites", "sites2", "sites3", "sites4", "sites5", "sites6"]
CACHE = ROOT / "target" / "content" / "features"


class Page:
    """The nodes of a page: parents, letters, gold (1: template), main content, and their features for each of the two
    forests (float32, a row for a node)."""

    def __init__(self, head, corpus, parents, letters, gold, rows):
        self.site, self.page, self.is_key, self.corpus = head["site"], head["page"], head["key"], corpus
        self.parents, self.letters, self.rows = parents, letters, rows
        self.template, self.content = gold == ord("T"), gold == ord("C")

    @property
    def n(self):
        return len(self.parents)


def read(file, corpus, names):
    """The pages of a file."""
    with open(file, "rb") as source:
        while line := source.readline():
            head = json.loads(line)
            assert head["names"] == names, f"{file}: features of another version"
            n = head["n"]
            parents = np.frombuffer(source.read(4 * n), "<u4").astype(np.int64)
            letters = np.frombuffer(source.read(4 * n), "<u4").astype(np.float64)
            gold = np.frombuffer(source.read(n), "u1")
            columns = np.frombuffer(source.read(8 * n * len(names)), "<f4").reshape(2, len(names), n)
            yield Page(head, corpus, parents, letters, gold, [np.ascontiguousarray(of_one.T) for of_one in columns])


def made(program, variant, weights, *options):
    """The folder with the features of all sets, made by the program with these options where it is not there yet.

    What the page model expects of a site comes from weights that were trained without it: those of its fold among
    `weights` (`scripts/content/train.py --folds`).
    """
    folder = CACHE / variant
    for corpus in SETS:
        place = folder / corpus
        if (place / "complete").exists():
            continue
        place.mkdir(parents=True, exist_ok=True)
        for fold in range(FOLDS):
            with tempfile.TemporaryDirectory(dir=folder) as made_here:
                command = [program, "evaluate", unpacked(corpus), "--pages", "gold", "--features", made_here, "--json"]
                command += ["--quiet", "--config", "/dev/null", "--weights", Path(weights) / str(fold), *options]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
                for file in Path(made_here).glob("*.features"):
                    # SITE-HASH.features
                    if fold_of(file.stem.rpartition("-")[0]) == fold:
                        file.rename(place / file.name)
        (place / "complete").touch()
    return folder


def pages(folder, names):
    """All pages of all sets."""
    for corpus in SETS:
        for file in sorted((folder / corpus).glob("*.features")):
            yield from read(file, corpus, names)


def folds(of_pages, n):
    """The fold of each site: sites are dealt out set by set, in the order of a hash of their names."""
    fold = {}
    for corpus in SETS:
        sites = {page.site for page in of_pages if page.corpus == corpus}
        order = sorted(sites, key=lambda site: hashlib.sha256(site.encode()).digest())
        fold |= {site: (at + len(fold)) % n for at, site in enumerate(order)}
    return fold


def kinds():
    """The kind of each site, by the first word of its name: forum, wiki, shop ..."""
    found = {}
    for corpus in SETS:
        gold = tomllib.loads((unpacked(corpus) / "gold.toml").read_text())
        found |= {site: site.split("-")[0] for site in gold["site"]}
    return found

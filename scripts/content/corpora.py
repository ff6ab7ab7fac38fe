"""The training corpora: pages with gold, read once and kept as blocks with features below target/content/."""

import json
import pickle
import re
import struct
import subprocess
import zlib
from dataclasses import dataclass, field
from urllib.parse import quote

import numpy as np

from align import align, tokens
from archives import ARCHIVES, CACHE, ROOT, SHARED, unpacked

EXPORT = ROOT / "target" / "release" / "examples" / "content_rows"

# The sets of sites: the name of each in its archive.
SITES = {"sites": "dev", **{f"sites{n}": f"dev{n}" for n in range(2, 7)}}

# Weight of a page of each set: large sets of one kind count less.
WEIGHTS = {
    "cttf": 0.3, "wwwxmu": 0.25, "wcxb": 1.3, "wcxb_multi": 0.7, "l3s": 0.8, "dragnet": 1.0, "snippets": 1.0,
    "cttf3": 0.3, "wwwxmu3": 0.25, "wcxb_multi3": 0.7, "l3s3": 0.8, "dragnet3": 1.0, "news": 1.0,
    **dict.fromkeys(SITES, 0.45),
}


@dataclass
class Page:
    """A page: its blocks, their features, and how much of each block the gold holds."""

    set: str
    id: str
    site: str
    kind: str
    features: np.ndarray
    texts: list
    near: list
    far: list
    slot: np.ndarray
    path: np.ndarray
    pattern: np.ndarray
    words: list = field(repr=False)  # number of each token of each block, in the vocabulary of the page
    n: np.ndarray = field(repr=False)  # tokens by block
    r: np.ndarray | None = field(repr=False)  # share of each block that is content
    neither: np.ndarray | None = field(repr=False)
    gold: np.ndarray | None = field(repr=False)  # tokens of the gold, counted
    n_gold: int = 0
    must: list = field(default_factory=list)
    must_not: list = field(default_factory=list)

    @property
    def fold(self):
        return fold_of(self.site)


FOLDS = 5


def fold_of(site):
    """Pages of one domain are in one fold."""
    return zlib.crc32(domain(site).encode()) % FOLDS


def domain(host):
    """The registered domain of a host, nearly: a short second level below a country has one label more."""
    labels = re.sub(r"^https?://", "", host.lower()).split("/")[0].split(":")[0].split(".")
    n = 3 if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    return ".".join(labels[-n:])


def lines_of(name):
    """The lines that the export reads, and what is known of each page."""
    folder = next(folder for folder, (_, names) in ARCHIVES.items() if name in names)
    place = unpacked(folder)
    if name not in SITES:
        for line in open(place / f"{name}.jsonl", encoding="utf-8"):
            page = json.loads(line)
            yield {"html": page["html"]}, page
        return
    split = SITES[name]
    gold = {}
    for line in open(place / f"content-{split}.jsonl", encoding="utf-8"):
        page = json.loads(line)
        gold[tuple(page["id"].split("|", 1))] = page
    for file in sorted((place / "labels" / split).glob("*.jsonl")):
        for line in open(file, encoding="utf-8"):
            label = json.loads(line)
            page = gold.get((file.stem, label["page"]))
            if page is not None:
                found = served(place / split / file.stem / "www", label["page"])
                yield {"file": str(found), "labels": label["labels"]}, {**page, "site": file.stem}


def served(www, path):
    """The file of a path, as a static server finds it."""
    path = path.lstrip("/")
    for name in (path, path + ".html", path + "/index.html", "index.html" if not path else path + "index.html"):
        for spelled in (name, quote(name, safe="/")):
            if (www / spelled).is_file():
                return www / spelled
    raise FileNotFoundError(f"{www}: {path}")


def exported(lines):
    """Runs the export on the lines. Gives the names of the features, and of each page its blocks and features."""
    process = subprocess.Popen([EXPORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    import threading

    def feed():
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    out = process.stdout
    names = json.loads(out.read(struct.unpack("<I", out.read(4))[0]))
    yield names
    while head := out.read(8):
        n, length = struct.unpack("<II", head)
        blocks = json.loads(out.read(length))
        features = np.frombuffer(out.read(4 * n * len(names)), "<f4").reshape(n, len(names))
        yield blocks, features
    if process.wait():
        raise SystemExit("content_rows failed")


def read(name):
    """All pages of a set, from the cache or from the source."""
    cache = CACHE / f"{name}.pickle"
    if cache.exists() and cache.stat().st_mtime > EXPORT.stat().st_mtime:
        return pickle.loads(cache.read_bytes())
    known, lines = [], []
    for line, page in lines_of(name):
        lines.append(line)
        known.append(page)
    rows = exported(lines)
    names = next(rows)
    pages = [made(name, page, blocks, features) for page, (blocks, features) in zip(known, rows, strict=True)]
    pages = [page for page in pages if len(page.n)]
    cache.write_bytes(pickle.dumps((names, pages), protocol=5))
    return names, pages


def made(name, known, blocks, features):
    texts = [block["text"] for block in blocks]
    words, numbers = [], {}
    for text in texts:
        words.append(np.array([numbers.setdefault(word, len(numbers)) for word in tokens(text)], np.int32))
    column = lambda key: np.array([block[key] for block in blocks], np.uint64)
    page = Page(
        set=name, id=known["id"], site=known["site"], kind=known.get("type") or name, features=features.copy(),
        texts=texts, near=[block["near"] for block in blocks], far=[block["far"] for block in blocks],
        slot=column("slot"), path=column("path"), pattern=column("pattern"), words=words,
        n=np.array([len(word) for word in words], np.float32), r=None, neither=None, gold=None,
        must=known.get("w") or [], must_not=known.get("wo") or [],
    )
    if known.get("gold") is not None:
        gold = tokens(known["gold"])
        counted = np.zeros(len(numbers), np.int32)
        for word in gold:
            if word in numbers:
                counted[numbers[word]] += 1
        page.gold, page.n_gold = counted, len(gold)
        if blocks and "content" in blocks[0]:
            page.r = np.array([block["content"] for block in blocks], np.float32)
            page.neither = np.array([block["neither"] for block in blocks], np.float32)
        else:
            page.r = align([tokens(text) for text in texts], known["gold"]).astype(np.float32)
    return page

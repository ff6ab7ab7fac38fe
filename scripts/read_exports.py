"""Reads exports with the tools that people use, and compares what they see: read_exports.py FOLDER

FOLDER has exports named parquet, jsonl, wet and wacz of the same pages. Ends with 1 and the difference if a reader sees
something else. tests/it/readers.rs calls it, with the readers installed below target/.
"""
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import datasets
import duckdb
import pandas
import polars
import pyarrow.dataset
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

COLUMNS = ["url", "title", "authors", "fetched_at", "n_words", "language_confidence", "text"]


def plain(value):
    """A value as every reader has it: times as seconds, lists as lists."""
    if value is None or value is pandas.NaT or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "timestamp"):
        return int(value.timestamp())
    if isinstance(value, str) and len(value) == 20 and value.endswith("Z") and value[10] == "T":
        return int(pandas.Timestamp(value).timestamp())
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else value


def rows(records):
    return [tuple(json.dumps(plain(record[name])) for name in COLUMNS) for record in records]


def tables(folder):
    """Name and rows of each reader of tables."""
    parquet, lines = str(folder / "parquet/data/*.parquet"), str(folder / "jsonl/data/*.jsonl.zst")
    names = ", ".join(COLUMNS)
    for name, source in [("parquet", f"'{parquet}'"), ("jsonl", f"read_json('{lines}')")]:
        found = duckdb.sql(f"SET TimeZone = 'UTC'; SELECT {names} FROM {source}").fetchall()
        yield f"duckdb, {name}", rows(dict(zip(COLUMNS, row)) for row in found)
    data = folder / "parquet/data"
    yield "pandas, parquet", rows(pandas.read_parquet(data).to_dict("records"))
    yield "pyarrow, parquet", rows(pyarrow.dataset.dataset(data).to_table().to_pylist())
    packed = sorted(folder.glob("jsonl/data/*"))
    frames = [pandas.read_json(part, lines=True) for part in packed]
    yield "pandas, jsonl", rows(pandas.concat(frames).to_dict("records"))
    yield "polars, parquet", rows(polars.read_parquet(f"{data}/").iter_rows(named=True))
    yield "polars, jsonl", rows(polars.concat(map(polars.read_ndjson, packed), how="vertical_relaxed").iter_rows(named=True))
    cache = str(folder / "cache")
    for name in ["parquet", "jsonl"]:
        yield f"datasets, {name}", rows(datasets.load_dataset(str(folder / name), split="train", cache_dir=cache))


def texts(folder):
    """Name and texts by URL of each reader of WET files."""
    files = sorted(folder.glob("wet/data/*.wet.gz"))
    found = {}
    for file in files:
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "conversion":
                    found[record.rec_headers["WARC-Target-URI"]] = record.content_stream().read().decode()
    yield "warcio", found
    found = {}
    for file in files:
        with open(file, "rb") as stream:
            for record in FastIterator(stream, record_types=WarcRecordType.conversion):
                found[record.headers["WARC-Target-URI"]] = record.reader.read().decode()
    yield "FastWARC", found
    yield "WACZ", dict(pair for file in sorted(folder.glob("wacz/data/*.wacz")) for pair in replayed(file).items())


def replayed(file):
    """The texts of a WACZ file by URL. Each record is read as a replay tool does it, by its line of the index."""
    archive = zipfile.ZipFile(file)
    about = archive.read("datapackage.json")
    digest = json.loads(archive.read("datapackage-digest.json"))["hash"]
    assert digest == "sha256:" + hashlib.sha256(about).hexdigest(), "datapackage-digest.json"
    for of in json.loads(about)["resources"]:
        data = archive.read(of["path"])
        assert (of["hash"], of["bytes"]) == ("sha256:" + hashlib.sha256(data).hexdigest(), len(data)), of["path"]
    found = {}
    for line in archive.read("indexes/index.cdxj").decode().splitlines():
        fields = json.loads(line.split(" ", 2)[2])
        records, at = archive.read("archive/" + fields["filename"]), int(fields["offset"])
        record = next(ArchiveIterator(io.BytesIO(records[at:at + int(fields["length"])])))
        assert record.rec_headers["WARC-Target-URI"] == fields["url"], line
        assert len(record.content_stream().read()) > 0, line
        found[fields["url"]] = None
    pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").decode().splitlines()[1:]]
    assert {page["url"] for page in pages} == set(found)
    return {page["url"]: page["text"] for page in pages}


def main(folder):
    expected = None
    for name, found in tables(folder):
        expected = expected or found
        differing = [pair for pair in zip(expected, found) if pair[0] != pair[1]]
        if len(found) != len(expected) or differing:
            sys.exit(f"{name}: {len(found)} rows of {len(expected)}, {len(differing)} differ: {differing[:1]}")
        print(f"{name}: {len(found)} rows, as expected")
    by_url = {json.loads(row[0]): json.loads(row[-1]) for row in expected}
    for name, found in texts(folder):
        if found != by_url:
            sys.exit(f"{name}: {len(found)} texts of {len(by_url)}, not the same")
        print(f"{name}: {len(found)} texts, as expected")


main(Path(sys.argv[1]))

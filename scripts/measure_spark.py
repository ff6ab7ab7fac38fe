#!/usr/bin/env python3
"""Peak memory of Spark's Python workers while a corpus is learned and cleaned of which one host is 1,000 times larger.

    python scripts/measure_spark.py --sites 20 --pages 20 --skew 1        # all sites alike
    python scripts/measure_spark.py --sites 20 --pages 20 --skew 1000     # the first is 1,000 times larger

The pages are made here, 30 KB each, and are written as Parquet to a folder of their own. local[2]; needs Java.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from dehusk import spark as dehusk_spark

WORDS = "rye oats corn malt millet spelt rice wheat barley flour bread beer field harvest north east cold grain".split()


def page(site: int, n: int) -> str:
    """A page of 30 KB, of which a third is template."""
    random.seed(site * 1_000_003 + n)
    menu = "".join(f"<li class=m{i}><a href=/{site}/{i}>Entry {i} of site {site}</a></li>" for i in range(150))
    text = "".join(f"<p>{' '.join(random.choices(WORDS, k=60))}.</p>" for _ in range(55))
    return f"<title>{n}</title><nav><ul>{menu}</ul></nav><main><h1>Page {n}</h1>{text}</main><footer>{menu}</footer>"


def write(folder: Path, sites: int, pages: int, skew: int) -> int:
    """Writes the corpus in files of 2,000 pages."""
    todo = [(site, n) for site in range(sites) for n in range(pages * (skew if site == 0 else 1))]
    random.Random(1).shuffle(todo)
    for at in range(0, len(todo), 2_000):
        part = todo[at : at + 2_000]
        urls = [f"http://site{site}.example/{n}" for site, n in part]
        table = pa.table({"url": urls, "html": [page(site, n) for site, n in part]})
        pq.write_table(table, folder / f"{at:08d}.parquet", row_group_size=500)
    return len(todo)


class Peak:
    """The greatest resident memory of any Python worker, and of all together, in MB, polled each 20 ms."""

    def __init__(self) -> None:
        self.one = self.all = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self) -> None:
        own = os.getpid()
        while not self.ended.wait(0.02):
            sizes = []
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    text = status.read_text()
                    command = (status.parent / "cmdline").read_bytes()
                except OSError:
                    continue
                if b"pyspark.daemon" in command and int(status.parent.name) != own and "VmRSS:" in text:
                    sizes.append(int(text.split("VmRSS:")[1].split()[0]) / 1024)
            self.one, self.all = max([self.one, *sizes]), max(self.all, sum(sizes))

    def __enter__(self) -> "Peak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--skew", type=int, default=1000)
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        source, rows = Path(folder, "pages"), Path(folder, "rows")
        source.mkdir()
        n = write(source, options.sites, options.pages, options.skew)
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", 256)
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        pages = spark.read.parquet(str(source))
        for name, work in (
            ("learn_sites", lambda: dehusk_spark.learn_sites(pages).write.parquet(str(Path(folder, "models")))),
            ("clean_pages", lambda: clean(spark, pages, folder, rows)),
        ):
            start = time.perf_counter()
            with Peak() as peak:
                work()
            seconds = time.perf_counter() - start
            print(
                f"{name}: {n} pages of {options.sites} sites in {seconds:.1f} s, {n / seconds:.0f} pages/s; "
                f"peak of a worker {peak.one:.0f} MB, of all {peak.all:.0f} MB"
            )
        spark.stop()


def clean(spark: SparkSession, pages: object, folder: str, rows: Path) -> None:
    models = spark.read.parquet(str(Path(folder, "models")))
    dehusk_spark.clean_pages(pages, models).write.parquet(str(rows))


if __name__ == "__main__":
    main()

"""Spark in local[2]: the rows are those of one process."""

import json
import math
import os
import shutil
import subprocess
import sys
from datetime import date, datetime, UTC

import pytest
from conftest import site_page

pyspark = pytest.importorskip("pyspark")

import zstandard  # noqa: E402
from pyspark.sql import Row, SparkSession  # noqa: E402

import dehusk  # noqa: E402
from dehusk import spark as dehusk_spark  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    if shutil.which("java") is None:
        pytest.skip("java is not installed (Debian: openjdk-17-jre-headless)")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 64)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


def write_archive(path, pages):
    """A WARC file of pages: (url, html)."""

    with open(path, "wb") as out:
        for n, (url, html) in enumerate(pages):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
            lines = [
                "WARC/1.1",
                "WARC-Type: response",
                f"WARC-Target-URI: {url}",
                "WARC-Date: 2026-11-22T10:00:00Z",
                f"WARC-Record-ID: <urn:uuid:{n:032x}>",
                "Content-Type: application/http;msgtype=response",
                f"Content-Length: {len(head) + len(html)}",
            ]
            out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + head + html + b"\r\n\r\n")


def same(ours, theirs):
    """Whether a row of Spark is a row of the program."""
    for name, _, _ in dehusk.columns():
        # What only the program knows: the file, and the name there.
        if name in ("source", "source_id"):
            continue
        one, two = ours[name], theirs[name]
        if isinstance(one, datetime):
            one = one.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        elif isinstance(one, date):
            one = one.isoformat()
        elif isinstance(one, Row):
            one = one.asDict()
        if isinstance(one, float) and isinstance(two, (int, float)) and math.isclose(one, two, rel_tol=1e-12):
            continue
        if one != two:
            return f"{ours['url']}: {name}: {one!r}, not {two!r}"
    return None


def test_rows_equal_the_program(spark, dev_sites, dehusk_program, tmp_path):
    """All pages of all sites of the corpus, as two archives; with ALL_PAGES=1 none is left out."""
    step = 1 if os.environ.get("ALL_PAGES") else 8
    pages = []
    for site in dev_sites[::step]:
        for file in sorted((site / "www").rglob("*.html")):
            pages.append((f"http://{site.name}.example/{file.relative_to(site / 'www')}", file.read_bytes()))
    write_archive(tmp_path / "one.warc", pages[::2])
    write_archive(tmp_path / "two.warc", pages[1::2])
    theirs = {row["url"]: row for row in dehusk_program("clean", "one.warc", "two.warc", "--learn", "--rows")}
    archives = [str(tmp_path / name) for name in ("one.warc", "two.warc")]
    read = dehusk_spark.read_warc(spark, archives)
    models = dehusk_spark.learn_sites(read).cache()
    rows = dehusk_spark.clean_pages(read, models)
    rows.write.parquet(str(tmp_path / "rows"))
    rows = spark.read.parquet(str(tmp_path / "rows")).collect()
    assert len(rows) == len(theirs) > 200
    assert [wrong for wrong in (same(row.asDict(), theirs[row["url"]]) for row in rows) if wrong] == []
    learned = {row["host"] for row in models.select("host").collect()}
    assert {row["model"] for row in theirs.values() if row["model"]} <= learned


def test_models_do_not_depend_on_partitions_and_parquet_is_read(spark, tmp_path):
    pages = [
        (f"http://{host}/{n}", site_page(f"page {n}", site=host)) for host in ("a.org", "b.org") for n in range(60)
    ]
    pages += [("http://c.org/only", site_page("only")), ("no url", site_page("x")), ("http://a.org/null", None)]
    frame = spark.createDataFrame(pages, "url string, html string")
    frame.write.parquet(str(tmp_path / "pages"))
    frame = spark.read.parquet(str(tmp_path / "pages"))
    one, many = (
        {row["host"]: bytes(row["model"]) for row in dehusk_spark.learn_sites(frame.repartition(n)).collect()}
        for n in (1, 13)
    )
    assert one == many and set(one) == {"a.org", "b.org"}
    models = dehusk_spark.learn_sites(frame)
    rows = dehusk_spark.clean_pages(frame, models).collect()
    assert len(rows) == 122 and sum(row["model"] is not None for row in rows) == 120
    assert all("Home" not in row["text"] for row in rows if row["model"])
    # Nested columns, a column `host` that says something else, models twice, options that are wrong.
    from pyspark.sql import functions as F

    nested = frame.where("html IS NOT NULL").select(F.struct("html", "url").alias("page"))
    assert {row["host"] for row in dehusk_spark.learn_sites(nested, html="page.html", url="page.url").collect()} == set(
        one
    )
    named = frame.withColumn("host", F.lit("A.ORG"))
    again = dehusk_spark.clean_pages(named, models.union(models)).collect()
    assert sorted(again, key=str) == sorted(rows, key=str)
    with pytest.raises(ValueError, match="expected own, main"):
        dehusk_spark.clean_pages(frame, models, keep="most")
    tagged = frame.withColumn("robots_tags", F.lit("dehusk: noindex"))
    assert dehusk_spark.clean_pages(tagged, agents="dehusk").count() == 0
    alone = dehusk_spark.clean_pages(frame).collect()
    assert {row["step"] for row in alone} <= {"alone", "plain"}


def test_a_corpus_is_read_from_its_folder(spark, program, tmp_path):
    """`spark.read` takes the folder of the parts, and has a row for each row."""
    pages = [{"url": f"http://a.org/{n}", "html": site_page(f"page {n}")} for n in range(60)]
    (tmp_path / "pages.jsonl").write_text("\n".join(json.dumps(page) for page in pages))
    found = {}
    for form, read in (("parquet", spark.read.parquet), ("jsonl", spark.read.json)):
        out = str(tmp_path / form)
        clean = [program, "clean", "pages.jsonl", "--learn", "--quiet", "--format", form, "--out", out]
        subprocess.run(clean, cwd=tmp_path, check=True)
        if form == "jsonl":
            # Spark has no zstd for text.
            for part in (tmp_path / form / "data").iterdir():
                with zstandard.open(part, "rt", encoding="utf-8") as lines:
                    part.with_suffix("").write_text(lines.read())
                part.unlink()
        rows = read(out + "/data")
        found[form] = {row.url: (row.text, row.n_words) for row in rows.select("url", "text", "n_words").collect()}
        assert rows.count() == len(pages)
    assert found["parquet"] == found["jsonl"] and len(found["parquet"]) == len(pages)


def test_a_task_hands_its_samples_on_when_they_grow(monkeypatch, spark):
    import pyarrow as pa

    monkeypatch.setattr(dehusk_spark, "SAMPLE_BYTES", 1_000)
    html = [site_page(f"page {n}") for n in range(300)]
    batch = pa.record_batch(
        {"html": html, "url": [f"http://a.org/{n}" for n in range(300)], "content_type": pa.nulls(300)}
    )
    handed = list(dehusk_spark._sample([batch]))
    assert len(handed) > 3 and max(part.num_rows for part in handed) <= 9
    [learned] = dehusk_spark._learn(handed)
    whole = dehusk.PageSample()
    for page, url in zip(html, batch.column("url").to_pylist()):
        whole.add(page, url)
    assert learned.column("model")[0].as_py() == whole.learn().to_bytes()

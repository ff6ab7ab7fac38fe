"""Learns and cleans the sites of a corpus of any size with Spark 4.0 or later.

>>> from dehusk import spark as dehusk_spark
>>> pages = dehusk_spark.read_warc(spark, ["crawl-00000.warc.gz"])
>>> models = dehusk_spark.learn_sites(pages)
>>> rows = dehusk_spark.clean_pages(pages, models)
>>> rows.write.parquet("rows")

A site is learned from a sample of its pages: those whose URLs have the least hashes. The sample does not depend on the
order or the partitions of the pages, so the models are those of `dehusk clean --learn`. No task holds more than one
sample of a site, whatever the size of the site.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import dehusk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Batches = Iterable[pa.RecordBatch]

#: Bytes of pages that a task takes into its samples before it hands them on.
SAMPLE_BYTES = 64 << 20

#: Bytes of pages in a batch that is read from an archive.
BATCH_BYTES = 16 << 20

#: Models that a task keeps ready.
MODELS_READY = 256

#: Columns that are taken over to the rows, where the pages have them.
TAKEN_OVER = ["content_type", "robots_tags", "fetched_at", "status", "run", "state", "digest", "warc", "warc_record_id"]

PAGES = (
    "url string, html binary, content_type string, robots_tags string, warc_record_id string, fetched_at timestamp, "
    "status int"
)
SAMPLES = "host string, url string, html binary, content_type string"
MODELS = "host string, model binary, n_pages int"


def read_warc(spark: SparkSession, archives: Sequence[str] | str, *, partitions: int | None = None) -> DataFrame:
    """The HTML pages of web archives: url, html, content_type, robots_tags, warc_record_id, fetched_at, status.

    An archive is read by one task.

    Args:
        spark: The session.
        archives: Paths, or URLs that fsspec can open, such as s3://. Every executor must see them.
        partitions: Number of tasks; one for each archive, if it is None.
    """
    names = [archives] if isinstance(archives, str) else list(archives)
    frame = spark.createDataFrame(list(enumerate(names)), "n int, archive string")
    # A range for each task; rows that are dealt out in turn would leave tasks without an archive.
    return frame.repartitionByRange(partitions or max(len(names), 1), "n").mapInArrow(_read_archives, PAGES)


def learn_sites(pages: DataFrame, *, html: str = "html", url: str = "url") -> DataFrame:
    """The models of all sites that have two pages or more in common: host, model (bytes), n_pages.

    Each partition keeps a sample of each of its sites; the samples of a site come together sorted, and are merged as
    they are read. Pages of 1 MB and more, pages without a URL, and pages that are null are no sample.

    Args:
        pages: Pages of any number of sites.
        html: Column of pages: string or binary.
        url: Column of addresses.
    """
    from pyspark.sql import functions as F

    content_type = F.col("content_type") if "content_type" in pages.columns else F.lit(None)
    named = pages.select(
        F.col(html).alias("html"),
        F.col(url).cast("string").alias("url"),
        content_type.cast("string").alias("content_type"),
    )
    samples = named.mapInArrow(_sample, SAMPLES)
    # Sorted partitions are read as a stream. `applyInArrow` would hold all samples of a site at once.
    return samples.repartition("host").sortWithinPartitions("host").mapInArrow(_learn, MODELS)


def clean_pages(
    pages: DataFrame,
    models: DataFrame | None = None,
    *,
    html: str = "html",
    url: str = "url",
    noindex: str = "hide",
    agents: Sequence[str] | str = "dehusk",
    with_html: bool = False,
    comments: bool = False,
    posts: bool = False,
    keep: str = "own",
    favor: str = "balanced",
) -> DataFrame:
    """The rows of pages, in the schema of `dehusk export`: text, Markdown, metadata, signals of quality.

    Models join the pages by the host of their URL. A page of a site without a model is cleaned alone. Null pages are
    left out. Where a host has several models, one of them is taken.

    Args:
        pages: Pages of any number of sites. The columns fetched_at, status, run, digest, warc and warc_record_id
            are taken over; content_type and robots_tags (the X-Robots-Tag headers, one a line) are obeyed.
        models: What learn_sites has given; host and model, and model_version, if there is one.
        html: Column of pages: string or binary.
        url: Column of addresses.
        noindex: "hide" leaves out pages whose owners want them in no collection; "show" keeps them.
        agents: A user agent, or several, that robots directives may name.
        with_html: Whether the column html is filled.
        comments: Whether the column comments is filled.
        posts: Whether the column posts is filled.
        keep: "own", "main", or "main+comments" and other kinds.
        favor: "precision", "balanced" or "recall".
    """
    from pyspark.sql import functions as F

    if noindex not in ("hide", "show"):
        raise ValueError(f"noindex: {noindex!r} is not known; expected hide or show")
    dehusk.Page("").clean(keep=keep, favor=favor)  # Raises ValueError before any page is read.
    taken = [name for name in TAKEN_OVER if name in pages.columns and name not in (html, url)]
    frame = pages.where(F.col(html).isNotNull()).select(
        F.col(url).cast("string").alias("url"), F.col(html).alias("html"), *taken
    )
    frame = frame.withColumn("host", F.udf(_host, "string", useArrow=False)("url"))
    if models is not None:
        version = ["model_version"] if "model_version" in models.columns else []
        known = models.select("host", F.col("model").cast("binary"), *version).dropDuplicates(["host"])
        frame = frame.join(known, "host", "left")
    options = {
        "noindex": noindex,
        "agents": [agents] if isinstance(agents, str) else list(agents),
        "with_html": with_html,
        "comments": comments,
        "posts": posts,
        "keep": keep,
        "favor": favor,
    }
    return frame.mapInArrow(_cleaner(options), schema())


def schema() -> StructType:
    """The schema of rows."""
    from pyspark.sql import types as T

    post = T.StructType(
        [
            T.StructField(name, T.StringType(), is_optional)
            for name, is_optional in [("author", True), ("published", True), ("text", False), ("markdown", False)]
        ]
    )
    sources = [field.name for field in dehusk.schema().field("sources").type]
    kinds = {
        "text": T.StringType(),
        "texts": T.ArrayType(T.StringType(), containsNull=False),
        "posts": T.ArrayType(post, containsNull=False),
        "whole": T.LongType(),
        "real": T.DoubleType(),
        "truth": T.BooleanType(),
        "time": T.TimestampType(),
        "day": T.DateType(),
        "sources": T.StructType([T.StructField(name, T.StringType()) for name in sources]),
    }
    whole = ("texts", "posts", "sources")
    return T.StructType([T.StructField(name, kinds[kind], kind not in whole) for name, kind, _ in dehusk.columns()])


def _host(url: str | None) -> str | None:
    return None if url is None else dehusk.host(url)


def _read_archives(batches: Batches) -> Iterator[pa.RecordBatch]:
    from dehusk.warc import ArchivedPage, pages

    fields = [
        ("url", pa.string()),
        ("html", pa.binary()),
        ("content_type", pa.string()),
        ("robots_tags", pa.string()),
        ("warc_record_id", pa.string()),
        ("fetched_at", pa.timestamp("us", "UTC")),
        ("status", pa.int32()),
    ]
    names = [name for name, _ in fields]

    def batch(read: list[ArchivedPage]) -> pa.RecordBatch:
        columns = [pa.array([getattr(page, name) for page in read], kind) for name, kind in fields]
        return pa.RecordBatch.from_arrays(columns, names)

    for archives in batches:
        for archive in archives.column("archive").to_pylist():
            read: list[ArchivedPage] = []
            held = 0
            for page in pages(archive):
                read.append(page)
                held += len(page.html)
                if held >= BATCH_BYTES:
                    yield batch(read)
                    read, held = [], 0
            if read:
                yield batch(read)


def _values(batch: pa.RecordBatch, name: str) -> Iterator[Any]:
    """The values of a column, one at a time."""
    return (value.as_py() for value in batch.column(name))


def _sample(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Samples of the sites of a partition."""
    samples: dict[str, dehusk.PageSample] = {}
    held = 0
    for batch in batches:
        for page, url, content_type in zip(*(_values(batch, name) for name in ("html", "url", "content_type"))):
            host = _host(url)
            if page is None or host is None:
                continue
            if samples.setdefault(host, dehusk.PageSample()).add(page, url, content_type=content_type):
                held += len(page)
            if held >= SAMPLE_BYTES:
                yield from _sampled(samples)
                samples, held = {}, 0
    yield from _sampled(samples)


def _sampled(samples: dict[str, dehusk.PageSample]) -> Iterator[pa.RecordBatch]:
    for host, sample in samples.items():
        pages = sample.pages()
        if pages:
            columns = [
                pa.array([host] * len(pages)),
                pa.array([url for _, url, _ in pages]),
                pa.array([page for page, _, _ in pages], pa.binary()),
                pa.array([content_type for _, _, content_type in pages], pa.string()),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["host", "url", "html", "content_type"])


def _learn(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Learns sites from samples that are sorted by host."""
    host, sample = None, dehusk.PageSample()
    for batch in batches:
        for of, page, url, content_type in zip(
            *(_values(batch, name) for name in ("host", "html", "url", "content_type"))
        ):
            if of != host:
                yield from _model(host, sample)
                host, sample = of, dehusk.PageSample()
            sample.add(page, url, content_type=content_type)
    yield from _model(host, sample)


def _model(host: str | None, sample: dehusk.PageSample) -> Iterator[pa.RecordBatch]:
    model = sample.learn()
    if host is not None and model is not None:
        columns = [pa.array([host]), pa.array([model.to_bytes()]), pa.array([model.n_pages], pa.int32())]
        yield pa.RecordBatch.from_arrays(columns, ["host", "model", "n_pages"])


def _read_model(host: str, data: bytes) -> dehusk.SiteModel:
    try:
        return dehusk.SiteModel.from_bytes(data)
    except ValueError as e:
        raise ValueError(f"model of {host}: {e}") from e


def _cleaner(options: dict[str, Any]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def clean(batches: Batches) -> Iterator[pa.RecordBatch]:
        ready: OrderedDict[str, tuple[bytes, dehusk.SiteModel]] = OrderedDict()
        for batch in batches:
            models = {}
            data_of = (
                _values(batch, "model") if "model" in batch.schema.names else (None for _ in range(batch.num_rows))
            )
            for host, data in zip(_values(batch, "host"), data_of):
                if data is None or host is None or host in models:
                    continue
                known = ready.pop(host, None)
                if known is None or known[0] != data:
                    known = (data, _read_model(host, data))
                models[host] = known[1]
                ready[host] = known
            while len(ready) > MODELS_READY:
                ready.popitem(last=False)
            # A task has one core.
            rows = dehusk.clean_arrow(batch, models=models, threads=1, **options)
            at = rows.schema.get_field_index("fetched_at")
            # Spark has moments in microseconds.
            moments = rows.column(at).cast(pa.timestamp("us", "UTC"))
            yield rows.set_column(at, "fetched_at", moments)

    return clean

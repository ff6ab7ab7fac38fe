"""Learns the sites of a corpus and cleans it, with Spark.

    pip install './python[spark]'                                 # on every node, in a clone
    spark-submit spark_job.py --models models --out rows crawl/*.warc.gz
    spark-submit spark_job.py --models models --out rows --parquet pages/   # columns url and html

`--models` is a table that is written where it is not there yet, and read where it is: sites are learned once. Rows have
the schema of `dehusk export`.
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql.utils import AnalysisException

from dehusk import spark as dehusk_spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", help="archives, or with --parquet folders")
    parser.add_argument("--parquet", action="store_true", help="the sources are Parquet with url and html")
    parser.add_argument("--models", required=True, help="table of models")
    parser.add_argument("--out", required=True, help="table of rows")
    parser.add_argument("--keep", default="own", help="own, main, main+comments …")
    options = parser.parse_args()

    spark = (
        SparkSession.builder.appName("dehusk")
        # Pages are large: with 10,000 of them a batch, the default, a task would hold hundreds of megabytes.
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 256)
        # As `dehusk export` writes moments.
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
        .config("spark.sql.parquet.compression.codec", "zstd")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    pages = spark.read.parquet(*options.sources) if options.parquet else dehusk_spark.read_warc(spark, options.sources)
    try:
        models = spark.read.parquet(options.models)
    except AnalysisException:
        dehusk_spark.learn_sites(pages).write.parquet(options.models)
        models = spark.read.parquet(options.models)
    rows = dehusk_spark.clean_pages(pages, models, keep=options.keep)
    rows.write.parquet(options.out)

    written = spark.read.parquet(options.out)
    print(f"{models.count()} sites learned, {written.count()} pages cleaned to {options.out}")
    written.groupBy("step").count().orderBy("step").show()


if __name__ == "__main__":
    main()

"""Learns the sites of a corpus and extracts it with datatrove, on the cores of this machine.

    pip install './python[datatrove]'             # in a clone
    python datatrove_job.py crawl/ work/          # archives in, JSON lines out

On a cluster, `SlurmPipelineExecutor` takes the same pipelines.
"""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.writers import JsonlWriter

from dehusk.datatrove import SiteExtractor, SiteLearner, SiteSampler


def main(archives: str, work: str, tasks: int = 2) -> None:
    """Runs the three pipelines. Each waits for the one before it."""

    def reader() -> WarcReader:
        return WarcReader(archives, glob_pattern="*.warc.gz")

    sampling = LocalPipelineExecutor(
        [reader(), SiteSampler(f"{work}/samples")], tasks=tasks, logging_dir=f"{work}/logs/sample"
    )
    learning = LocalPipelineExecutor(
        [SiteLearner(f"{work}/samples", f"{work}/models")],
        tasks=tasks,
        logging_dir=f"{work}/logs/learn",
        depends=sampling,
    )
    extracting = LocalPipelineExecutor(
        [reader(), SiteExtractor(f"{work}/models", output="markdown"), JsonlWriter(f"{work}/rows")],
        tasks=tasks,
        logging_dir=f"{work}/logs/extract",
        depends=learning,
    )
    extracting.run()


if __name__ == "__main__":
    main(*sys.argv[1:3])

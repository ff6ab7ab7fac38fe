"""Learns and cleans sites in a datatrove pipeline.

Three steps, each a pipeline of its own, since a site is known only when all of its pages have been seen:

1. `SiteSampler` keeps a sample of the pages of each site, a file for each task.
2. `SiteLearner` merges the samples and learns the sites. Any number of tasks share the sites.
3. `SiteExtractor` takes the place of `Trafilatura`: it cleans each document with the model of its site, or alone.

Documents have the HTML as text and the address in the metadata `url`, as datatrove's WarcReader gives them.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any

from datatrove.data import DocumentsPipeline
from datatrove.io import DataFolderLike, get_datafolder
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.typeshelper import StatHints

import dehusk

#: Bytes of samples that a task holds before it writes them.
SAMPLE_BYTES = 64 << 20

#: Models that a task keeps ready.
MODELS_READY = 256


def _name(rank: int, world_size: int, part: int, ending: str) -> str:
    return f"{rank:05d}-of-{world_size:05d}-{part:05d}.{ending}"


def _lines(folder: Any, ending: str) -> Iterator[dict[str, str]]:
    """The lines of all files of one run."""
    names = sorted(folder.list_files(glob_pattern=f"*.{ending}"))
    if not names:
        raise FileNotFoundError(f"{folder.path}: no file *.{ending}")
    runs = sorted({name.split("-of-")[-1].split("-")[0] for name in names})
    if len(runs) > 1:
        raise ValueError(f"{folder.path}: files of runs with {' and '.join(runs)} tasks; give each run a new folder")
    for name in names:
        try:
            with folder.open(name, "rt", compression="gzip", encoding="utf-8") as lines:
                for line in lines:
                    yield json.loads(line)
        except (EOFError, ValueError) as e:
            raise ValueError(f"{folder.path}/{name}: {e}") from e


def _remove(folder: Any, rank: int, world_size: int, ending: str) -> None:
    """Removes what an earlier run of the same task has left."""
    for name in folder.list_files(glob_pattern=f"{rank:05d}-of-{world_size:05d}-*.{ending}"):
        folder.rm(name)


def _url(document: Any) -> str:
    url = document.metadata.get("url")
    return url if isinstance(url, str) else ""


def _write(folder: Any, name: str, lines: Iterator[dict[str, str]]) -> None:
    with folder.open(name, "wt", compression="gzip", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(line) + "\n")


class SiteSampler(PipelineStep):
    """Keeps a bounded sample of the pages of each site, and passes all documents on.

    Args:
        output_folder: Folder of the samples. Each run has a folder of its own; the same run made again replaces it.
    """

    type = "🔎 - SAMPLE"
    name = "dehusk sites"

    def __init__(self, output_folder: DataFolderLike):
        super().__init__()
        self.output_folder = get_datafolder(output_folder)

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Samples the documents of a task."""
        samples: dict[str, dehusk.PageSample] = {}
        held, part = 0, 0
        _remove(self.output_folder, rank, world_size, "samples.jsonl.gz")
        for document in data:
            url = _url(document)
            host = dehusk.host(url)
            with self.track_time():
                if host is None:
                    self.stat_update("without_url")
                elif samples.setdefault(host, dehusk.PageSample()).add(document.text, url):
                    held += len(document.text)
            if held >= SAMPLE_BYTES:
                self._store(samples, _name(rank, world_size, part, "samples.jsonl.gz"))
                samples, held, part = {}, 0, part + 1
            yield document
        self._store(samples, _name(rank, world_size, part, "samples.jsonl.gz"))

    def _store(self, samples: dict[str, dehusk.PageSample], name: str) -> None:
        pages = (
            {"host": host, "url": url, "html": html.decode("utf-8")}
            for host, sample in sorted(samples.items())
            for html, url, _ in sample.pages()
        )
        _write(self.output_folder, name, pages)


class SiteLearner(PipelineStep):
    """Learns the sites of all samples. Each task learns its share of the sites; it reads all samples.

    Args:
        input_folder: What SiteSampler has written.
        output_folder: Folder of the models.
    """

    type = "🔎 - LEARN"
    name = "dehusk sites"

    def __init__(self, input_folder: DataFolderLike, output_folder: DataFolderLike):
        super().__init__()
        self.input_folder = get_datafolder(input_folder)
        self.output_folder = get_datafolder(output_folder)

    def run(self, data: DocumentsPipeline = None, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Learns the sites of a task."""
        samples: dict[str, dehusk.PageSample] = {}
        for page in _lines(self.input_folder, "samples.jsonl.gz"):
            host = page["host"]
            if _share(host, world_size) == rank:
                samples.setdefault(host, dehusk.PageSample()).add(page["html"], page["url"])
        _write(self.output_folder, _name(rank, world_size, 0, "models.jsonl.gz"), self._learned(samples))
        if data:
            yield from data

    def _learned(self, samples: dict[str, dehusk.PageSample]) -> Iterator[dict[str, str]]:
        for host, sample in sorted(samples.items()):
            with self.track_time("site"):
                model = sample.learn()
            if model is None:
                self.stat_update("without_model", unit="site")
                continue
            self.stat_update("learned", unit="site")
            yield {"host": host, "model": base64.b64encode(model.to_bytes()).decode("ascii")}


class SiteExtractor(PipelineStep):
    """Cleans documents with the model of their site, or alone where there is none.

    It takes the place of datatrove's `Trafilatura`. Documents of which nothing is left are dropped. The step that
    cleaned a document and its confidence are in the metadata `dehusk_step` and `dehusk_confidence`.

    Args:
        models_folder: What SiteLearner has written; None cleans each document alone.
        output: "text", "markdown" or "html".
        noindex: "hide" drops documents whose owners want them in no collection, "show" keeps them. WarcReader gives no
            headers: those of X-Robots-Tag are obeyed where the metadata has them as `robots_tags`, one a line.
        keep: "own", "main", or "main+comments" and other kinds.
        favor: "precision", "balanced" or "recall".
        metadata: Whether title, authors, dates and other facts of the page are added to the metadata. They replace
            what is there under the same names.
    """

    type = "🛢 - EXTRAC"
    name = "dehusk"

    def __init__(
        self,
        models_folder: DataFolderLike | None = None,
        *,
        output: str = "text",
        noindex: str = "hide",
        keep: str = "own",
        favor: str = "balanced",
        metadata: bool = False,
    ):
        super().__init__()
        if output not in ("text", "markdown", "html"):
            raise ValueError(f"output: {output!r} is not known; expected text, markdown or html")
        if noindex not in ("hide", "show"):
            raise ValueError(f"noindex: {noindex!r} is not known; expected hide or show")
        dehusk.Page("").clean(keep=keep, favor=favor)  # Raises ValueError before any document is read.
        self.models_folder = get_datafolder(models_folder) if models_folder is not None else None
        self.output, self.noindex, self.metadata = output, noindex, metadata
        self.options = {"keep": keep, "favor": favor}

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Cleans the documents of a task."""
        models = self._models()
        ready: dict[str, dehusk.SiteModel] = {}
        for document in data:
            self.stat_update(StatHints.total)
            with self.track_time():
                url = _url(document)
                host = dehusk.host(url)
                page = dehusk.Page(document.text, url if host is not None else None)
                tags = str(document.metadata.get("robots_tags") or "").splitlines()
                is_hidden = self.noindex == "hide" and page.is_noindex(tags)
                if host in models and host not in ready:
                    if len(ready) >= MODELS_READY:
                        ready.clear()
                    ready[host] = _read_model(host, models[host])
                model = ready.get(host)
                cleaned = model.clean(page, **self.options) if model else page.clean(**self.options)
                document.text = "" if is_hidden else getattr(cleaned, self.output)
                document.metadata["dehusk_step"] = cleaned.step
                document.metadata["dehusk_confidence"] = cleaned.confidence
                if self.metadata:
                    facts = {name: value for name, value in cleaned.metadata.items() if value and name != "sources"}
                    document.metadata.update(facts)
            if is_hidden:
                self.stat_update("noindex")
            if document.text:
                self.stat_update(StatHints.forwarded)
                self.update_doc_stats(document)
                yield document
            else:
                self.stat_update(StatHints.dropped)

    def _models(self) -> dict[str, str]:
        if self.models_folder is None:
            return {}
        return {line["host"]: line["model"] for line in _lines(self.models_folder, "models.jsonl.gz")}


def _read_model(host: str, data: str) -> dehusk.SiteModel:
    try:
        return dehusk.SiteModel.from_bytes(base64.b64decode(data))
    except ValueError as e:
        raise ValueError(f"model of {host}: {e}") from e


def _share(host: str, world_size: int) -> int:
    """The task that learns a site. Python's hash differs from process to process."""
    return zlib.crc32(host.encode("utf-8")) % world_size

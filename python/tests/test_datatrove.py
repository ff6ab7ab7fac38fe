"""The steps of datatrove, with its local executor."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import site_page

pytest.importorskip("datatrove")

from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.readers import JsonlReader  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402

from dehusk.datatrove import SiteExtractor, SiteLearner, SiteSampler  # noqa: E402


def run(source: Path, work: Path, **options) -> dict[str, dict]:
    def pipeline(name, *steps, tasks=2):
        LocalPipelineExecutor(list(steps), tasks=tasks, workers=1, logging_dir=str(work / "logs" / name)).run()

    def reader():
        return JsonlReader(str(source), text_key="html", id_key="url", glob_pattern="*.jsonl")

    def url_to_metadata(data, rank=0, world_size=1):
        for document in data:
            document.metadata["url"] = document.id
            yield document

    shutil.rmtree(work / "logs", ignore_errors=True)
    pipeline("sample", reader(), url_to_metadata, SiteSampler(str(work / "samples")))
    pipeline("learn", SiteLearner(str(work / "samples"), str(work / "models")), tasks=3)
    extract = SiteExtractor(str(work / "models"), **options)
    writer = JsonlWriter(str(work / "rows"), compression=None)
    shutil.rmtree(work / "logs")
    pipeline("extract", reader(), url_to_metadata, extract, writer)
    lines = [line for file in (work / "rows").glob("*.jsonl") for line in file.read_text().split("\n") if line]
    return {row["id"]: row for row in map(json.loads, lines)}


def write(source: Path, pages: list[tuple[str, str]], files: int = 4) -> None:
    source.mkdir()
    for n in range(files):
        lines = [json.dumps({"url": url, "html": html}) for url, html in pages[n::files]]
        (source / f"{n}.jsonl").write_text("\n".join(lines) + "\n")


def test_documents_equal_the_program(tmp_path, dev_sites, dehusk_program):
    """Sites of real pages: text and steps are those of `dehusk clean --learn`."""
    pages = []
    for site in dev_sites[::9]:
        for file in sorted((site / "www").rglob("*.html"))[:25]:
            html = file.read_bytes().decode("utf-8", "replace")
            pages.append((f"http://{site.name}.example/{file.relative_to(site / 'www')}", html))
    assert len(pages) > 100
    write(tmp_path / "source", pages)
    lines = [json.dumps({"url": url, "html": html}) for url, html in pages]
    expected = dehusk_program("clean", "-", "--learn", "--json", stdin="\n".join(lines))
    rows = run(tmp_path / "source", tmp_path / "work")
    expected = {row["url"]: row for row in expected if row["content"]}
    # The ids of the documents are the addresses as they were written.
    by_url = {row["metadata"]["url"]: row for row in rows.values()}
    assert len(by_url) == len(expected)
    import dehusk

    for url, row in by_url.items():
        theirs = expected[dehusk.Page("", url).url]
        assert (row["text"], row["metadata"]["dehusk_step"]) == (theirs["content"], theirs["method"]), url


def test_noindex_metadata_and_options(tmp_path):
    pages = [(f"http://a.org/{name}", site_page(name)) for name in ("rye", "oats", "corn", "malt")]
    pages.append(("http://a.org/hidden", "<meta name=robots content=noindex>" + site_page("hidden")))
    pages.append(("http://b.org/only", site_page("only", site="Other")))
    write(tmp_path / "source", pages, files=2)
    rows = run(tmp_path / "source", tmp_path / "work", output="markdown", metadata=True)
    assert "http://a.org/hidden" not in rows and len(rows) == 5
    rye = rows["http://a.org/rye"]
    assert rye["text"].startswith("# rye\n") and rye["metadata"]["title"] == "rye"
    assert (
        rye["metadata"]["dehusk_step"] == "site_model"
        and rows["http://b.org/only"]["metadata"]["dehusk_step"] != "site_model"
    )
    # The same run again replaces what it has written; a run with other tasks is refused.
    assert set(run(tmp_path / "source", tmp_path / "work", output="markdown", metadata=True)) == set(rows)
    samples = tmp_path / "work" / "samples"
    (samples / "00000-of-00009-00000.samples.jsonl.gz").write_bytes(next(samples.iterdir()).read_bytes())
    with pytest.raises(ValueError, match="new folder"):
        list(SiteLearner(str(samples), str(tmp_path / "models")).run())
    with pytest.raises(FileNotFoundError, match="models.jsonl.gz"):
        list(SiteExtractor(str(tmp_path / "none")).run([]))
    for wrong in ({"output": "pdf"}, {"keep": "most"}, {"noindex": "maybe"}):
        with pytest.raises(ValueError):
            SiteExtractor(**wrong)

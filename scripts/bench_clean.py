"""Speed and memory of cleaning a web archive: bench_clean.py DEHUSK SITES MEGABYTES; bench_clean.sh calls it.

Makes target/bench_clean/N.warc.gz of the saved pages of SITES under N names, then runs on it, on one core each:
`dehusk clean` for text, for all columns and as a Parquet corpus, each page alone and with the models of all sites,
learned on the way; and Resiliparse and trafilatura fed by FastWARC, on the first pages. Memory is that of the process.
"""
import gzip
import itertools
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path


def archive(sites, megabytes):
    """The archive, made if it is not there, and its number of pages."""
    out = Path(f"target/bench_clean/{megabytes}.warc.gz")
    count = out.with_suffix(".count")
    if count.exists():
        return out, int(count.read_text())
    out.parent.mkdir(parents=True, exist_ok=True)
    pages = [path for path in sorted(sites.rglob("*")) if path.is_file() and is_html(path)]
    if not pages:
        sys.exit(f"{sites}: no HTML page in it; name a folder that has a folder of saved pages for each site")
    written, n = 0, 0
    with open(out, "wb") as file:
        for copy in itertools.count():
            random.Random(copy).shuffle(pages)
            for path in pages:
                if written >= megabytes * 1_000_000:
                    count.write_text(str(n))
                    return out, n
                body = path.read_bytes()
                site, *rest = path.relative_to(sites).parts
                url = f"http://{site.replace('_', '-')}-{copy}.example/{'/'.join(rest)}".replace(" ", "%20")
                block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
                head = (
                    f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
                    f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{n:012x}>\r\n"
                    f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
                )
                file.write(gzip.compress(head.encode() + block + b"\r\n\r\n", 1))
                written += len(body)
                n += 1


def is_html(path):
    with open(path, "rb") as file:
        return b"<html" in file.read(4096).lower()


def measured(command):
    """Seconds and peak megabytes of a process."""
    start = time.monotonic()
    with open("target/bench_clean/out.jsonl", "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(errors.decode())
    return time.monotonic() - start, usage.ru_maxrss / 1024


def pages_of(warc, n):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    records = ArchiveIterator(open(warc, "rb"), record_types=WarcRecordType.response)
    return (record.reader.read() for record in itertools.islice(records, n))


def trafilatura_length(body):
    import trafilatura

    return len(trafilatura.extract(body.decode("utf-8", "replace")) or "")


def resiliparse_length(body):
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    return len(extract_plain_text(HTMLTree.parse(body.decode("utf-8", "replace")), main_content=True))


def trafilatura_json(body):
    import trafilatura

    return len(trafilatura.extract(body.decode("utf-8", "replace"), output_format="json", with_metadata=True) or "")


PEERS = {
    "FastWARC + Resiliparse, text": (resiliparse_length, 20_000),
    "FastWARC + trafilatura, text": (trafilatura_length, 2_000),
    "FastWARC + trafilatura, JSON with metadata": (trafilatura_json, 2_000),
}

OUT = "target/bench_clean/corpus"

RUNS = {
    "text, alone": ["--alone", "--json"],
    "text, learned": ["--learn", "--json"],
    "all columns, alone": ["--alone", "--rows"],
    "all columns, learned": ["--learn", "--rows"],
    "Parquet corpus, learned": ["--learn", "--format", "parquet", "--out", OUT],
}


def main(program, sites, megabytes):
    warc, n = archive(Path(sites), int(megabytes))
    print(f"{warc}: {n:,} pages, {megabytes} MB, packed {warc.stat().st_size / 1e6:,.0f} MB; one core")
    print(f"{'':<46}{'pages':>8}{'seconds':>9}{'pages/s':>9}{'peak MB':>9}")
    core = ["taskset", "-c", "0"]

    def line(name, n, command):
        seconds, peak = measured(command)
        print(f"{name:<46}{n:>8,}{seconds:>9.1f}{n / seconds:>9.0f}{peak:>9.0f}", flush=True)

    for name, options in RUNS.items():
        shutil.rmtree(OUT, ignore_errors=True)
        line(f"dehusk clean, {name}", n, [*core, program, "clean", str(warc), *options, "--config", "/dev/null"])
    for name, (_, most) in PEERS.items():
        line(name, min(n, most), [*core, sys.executable, __file__, "--peer", name, str(warc)])


def peer(name, warc):
    extract, most = PEERS[name]
    for body in pages_of(warc, most):
        extract(body)


if sys.argv[1] == "--peer":
    peer(*sys.argv[2:])
else:
    main(*sys.argv[1:])

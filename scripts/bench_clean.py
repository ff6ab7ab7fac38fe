"""Speed and memory of cleaning a web archive: bench_clean.py DEHUSK SITES MEGABYTES; bench_clean.sh calls it.

Makes target/bench_clean/N.warc.gz of the saved pages of SITES under N names, then runs on it:
`dehusk clean --learn` (all models learned on the way) on two cores and on one, and trafilatura and Resiliparse, each
in two processes fed by FastWARC, on the first pages.
"""
import gzip
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

FIRST = {"trafilatura": 2000, "resiliparse": 20000}


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


def dehusk(program, warc, cores, extra):
    """Seconds, CPU seconds and peak megabytes of a run on these cores; lines written."""
    command = ["taskset", "-c", cores, program, "clean", str(warc), "--learn", *extra, "--config", "/dev/null"]
    start = time.monotonic()
    with open("target/bench_clean/out.jsonl", "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(errors.decode())
    seconds = time.monotonic() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


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


def peer(extract, warc, n):
    start = time.monotonic()
    with multiprocessing.Pool(2) as pool:
        n_read = sum(1 for _ in pool.imap(extract, pages_of(warc, n), chunksize=32))
    return n_read, time.monotonic() - start


def main(program, sites, megabytes):
    warc, n = archive(Path(sites), int(megabytes))
    print(f"{warc}: {n:,} pages, {megabytes} MB, packed {warc.stat().st_size / 1e6:,.0f} MB")
    print(f"{'':<44}{'seconds':>9}{'CPU s':>9}{'pages/s':>9}{'peak MB':>9}")
    times = {}
    for name, cores, extra in [
        ("dehusk clean --learn --json, two cores", "0,1", ["--json"]),
        ("dehusk clean --learn --json, one core", "0", ["--json"]),
        ("dehusk clean --learn --rows, two cores", "0,1", ["--rows"]),
    ]:
        seconds, cpu, peak = times[name] = dehusk(program, warc, cores, extra)
        print(f"{name:<44}{seconds:>9.1f}{cpu:>9.1f}{n / seconds:>9.0f}{peak:>9.0f}", flush=True)
    two, one, _ = (seconds for seconds, _, _ in times.values())
    for name, extract in [("trafilatura", trafilatura_length), ("resiliparse", resiliparse_length)]:
        n_read, seconds = peer(extract, warc, FIRST[name])
        label = f"{name}, two processes, {n_read:,} pages"
        print(f"{label:<44}{seconds:>9.1f}{'':>9}{n_read / seconds:>9.0f}", flush=True)
    print(f"one core takes {one / two:.2f} times as long as two")


main(*sys.argv[1:])

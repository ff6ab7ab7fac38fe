"""Writes pages as a crawl in the layout of Common Crawl: WARC files, the CDXJ index in blocks, and cluster.idx.

    python scripts/write_common_crawl.py PAGES.jsonl OUT [--name CC-MAIN-2026-40] [--archives 4] [--lines 3000]

Pages are JSON lines with `url` and `html`, and perhaps `status`. The WARC files are written by warcio and indexed by
cdxj-indexer; each record of a host is in another file, as in a real crawl. `--lines` is the length of a block.
"""

import argparse
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def write_archives(pages: Path, folder: Path, n_archives: int) -> list[Path]:
    """The records go round the files, with a request record before each response, as a crawler writes them."""
    paths = [folder / f"crawl-{at:05}.warc.gz" for at in range(n_archives)]
    writers = [WARCWriter(path.open("wb"), gzip=True) for path in paths]
    for at, line in enumerate(pages.open(encoding="utf-8")):
        page = json.loads(line)
        writer = writers[at % n_archives]
        request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "x")], is_http_request=True)
        writer.write_record(writer.create_warc_record(page["url"], "request", http_headers=request))
        headers = [("Content-Type", page.get("type", "text/html; charset=utf-8"))]
        head = StatusAndHeaders(f"{page.get('status', 200)} X", headers, protocol="HTTP/1.1")
        body = io.BytesIO(page["html"].encode("utf-8", "surrogatepass"))
        writer.write_record(writer.create_warc_record(page["url"], "response", payload=body, http_headers=head))
    for writer in writers:
        writer.out.close()
    return paths


def write_index(lines: list[bytes], folder: Path, n_lines: int, n_files: int) -> None:
    """Blocks of lines as gzip members, and the first key of each with its place, as Common Crawl separates them."""
    blocks = [lines[at : at + n_lines] for at in range(0, len(lines), n_lines)]
    of_file = -(-len(blocks) // n_files)
    with (folder / "cluster.idx").open("wb") as cluster:
        for number in range(n_files):
            name = f"cdx-{number:05}.gz"
            with (folder / name).open("wb") as out:
                for at, block in list(enumerate(blocks))[number * of_file : (number + 1) * of_file]:
                    packed = gzip.compress(b"".join(block))
                    key = b" ".join(block[0].split(b" ", 2)[:2]).decode()
                    cluster.write(f"{key}\t{name}\t{out.tell()}\t{len(packed)}\t{at + 1}\n".encode())
                    out.write(packed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--name", default="CC-MAIN-2026-40")
    parser.add_argument("--archives", type=int, default=4)
    parser.add_argument("--lines", type=int, default=3000)
    args = parser.parse_args()
    warc = args.out / "crawl-data" / args.name / "segments" / "1.0" / "warc"
    indexes = args.out / "cc-index" / "collections" / args.name / "indexes"
    warc.mkdir(parents=True)
    indexes.mkdir(parents=True)
    paths = write_archives(args.pages, warc, args.archives)
    indexer = Path(sys.executable).with_name("cdxj-indexer")
    command = [indexer, "--sort", "--dir-root", args.out, *paths]
    found = subprocess.run(command, check=True, capture_output=True).stdout
    # Common Crawl sorts bytes.
    write_index(sorted(found.splitlines(keepends=True)), indexes, args.lines, n_files=3)
    names = "".join(f"{path.relative_to(args.out)}\n" for path in paths)
    (args.out / "crawl-data" / args.name / "warc.paths.gz").write_bytes(gzip.compress(names.encode()))


if __name__ == "__main__":
    main()

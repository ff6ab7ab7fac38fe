#!/usr/bin/env python3
"""1, 2 and 4 crawls on one PostgreSQL database over a farm of hosts on loopback.

scripts/measure_workers.py [HOSTS] [PAGES-PER-HOST]: starts a server and the farm, crawls the same seeds with one
SQLite file and with 1, 2 and 4 workers, and prints wall time, CPU seconds of the workers and of the server, hosts
leased per second, and the shortest gap between two requests to a host at the farm. Farm, server and workers share the
cores of this machine: compare CPU seconds, not wall time. Needs `cargo build --release --features postgres` and
PostgreSQL; run by root, the server runs as the user postgres.
"""

import asyncio
import glob
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DELAY = 0.5


def page(host: str, path: str) -> bytes:
    """A page with a template: header, menu and footer of its host, and text of its own."""
    number = path.strip("/") or "start"
    menu = "".join(f'<li><a href="/{n}">Page {n} of the menu</a></li>' for n in range(1, 21))
    text = " ".join(f"word{hash((host, number, n)) % 5000}" for n in range(200))
    return (
        f"<html><head><title>{number}</title></head><body><header><h1>{host}</h1><nav><ul>{menu}</ul></nav></header>"
        f"<main><article><h2>About {number}</h2><p>{text}</p></article></main>"
        f"<footer><p>Imprint of {host}</p></footer></body></html>"
    ).encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, arrivals: list) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
            at, path = time.monotonic(), head.split(" ", 2)[1]
            host = next(line[5:].strip() for line in head.split("\r\n") if line.lower().startswith("host:"))
            arrivals.append(f"{host} {at:.6f}\n")
            status, body = ("404 Not Found", b"") if path == "/robots.txt" else ("200 OK", page(host, path))
            kind = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(kind.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def farm(port: int, log: str) -> None:
    """Serves all hosts. What arrived is written when the process is told to end."""
    arrivals: list[str] = []
    server = await asyncio.start_server(lambda r, w: answer(r, w, arrivals), "127.0.0.1", port, backlog=4096)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(15, stop.set)
    await asyncio.wait([asyncio.ensure_future(stop.wait())], timeout=3600)
    server.close()
    Path(log).write_text("".join(arrivals))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Postgres:
    def __init__(self, folder: Path) -> None:
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            sys.exit("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql")
        self.programs, self.folder, self.port = Path(found[-1]), folder, free_port()
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
        if user:
            subprocess.run(["chown", "postgres", str(folder)], check=True)
        data = folder / "data"
        initdb = [*user, self.programs / "initdb", "-D", data, "-A", "trust", "-U", "dehusk", "-E", "UTF8", "--no-locale"]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL)
        serve = [*user, self.programs / "postgres", "-D", data, "-k", "", "-h", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if subprocess.run([self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("the server did not start")

    def sql(self, database: str, statement: str) -> str:
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "dehusk", "-d", database]
        command = [self.programs / "psql", "-X", "-q", "-A", "-t", *where, "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def cpu(self) -> float:
        """CPU seconds of the server and its children, those that have ended included."""
        ticks, total = os.sysconf("SC_CLK_TCK"), 0
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                fields = Path(stat).read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if stat.split("/")[2] == str(self.process.pid):
                total += sum(map(int, fields[11:15]))
            elif fields[1] == str(self.process.pid):
                total += sum(map(int, fields[11:13]))
        return total / ticks


def shortest_gap(log: Path) -> float:
    last: dict[str, float] = {}
    shortest = float("inf")
    for host, at in sorted(line.split() for line in log.read_text().splitlines()):
        if host in last:
            shortest = min(shortest, float(at) - last[host])
        last[host] = float(at)
    return shortest


def crawl(workers: int, hosts: int, pages: int, postgres: Postgres, folder: Path) -> None:
    port, log = free_port(), folder / "arrivals"
    server = subprocess.Popen([sys.executable, __file__, "--farm", str(port), str(log)])
    seeds = folder / "list.txt"
    seeds.write_text("".join(f"http://h{n}.test/\n" for n in range(hosts)))
    database = f"run_{workers}"
    if workers:
        postgres.sql("postgres", f"CREATE DATABASE {database}")
    address = f"postgres://dehusk@127.0.0.1:{postgres.port}/{database}" if workers else str(folder / "one.db")
    settings = {
        "fetch.resolve": f'["*.test=127.0.0.1:{port}"]',
        "fetch.allow_private": "true",
        "fetch.in_flight": "1000",
        "politeness.delay": str(DELAY),
        "crawl.pages_per_site": str(pages),
        "crawl.sites_at_once": str(max(1, 512 // max(1, workers))),
    }
    command = [ROOT / "target/release/dehusk", "crawl", "--quiet", "--config", "/dev/null", "--db", address, seeds]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    time.sleep(1)
    before, server_before, began = resource.getrusage(resource.RUSAGE_CHILDREN), postgres.cpu(), time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(max(1, workers))]
    codes = [process.wait(timeout=1800) for process in running]
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    server_cpu = postgres.cpu() - server_before
    server.terminate()
    server.wait()
    count = "SELECT count(*) FROM pages"
    stored = int(postgres.sql(database, count)) if workers else sqlite3.connect(address).execute(count).fetchone()[0]
    name = f"{workers} workers" if workers else "SQLite"
    thousand = 1000 / stored
    print(
        f"{name:<10} {wall:6.1f} s  {hosts / wall:6.0f} hosts/s  {cpu * thousand:5.2f} CPU s/1,000 pages in workers,"
        f" {server_cpu * thousand:5.2f} in the server  {stored:>6} pages  shortest gap {shortest_gap(log) * 1000:.0f} ms"
        f"  exit {codes}"
    )


def main() -> None:
    if sys.argv[1:2] == ["--farm"]:
        return asyncio.run(farm(int(sys.argv[2]), sys.argv[3]))
    hosts, pages = (int(value) for value in (sys.argv[1:] + ["2000", "6"][len(sys.argv) - 1 :])[:2])
    print(f"{hosts} hosts of {pages} pages, politeness.delay {DELAY} s")
    with tempfile.TemporaryDirectory(prefix="dehusk-workers") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "postgres").mkdir()
        postgres = Postgres(folder / "postgres")
        try:
            for workers in [0, 1, 2, 4]:
                crawl(workers, hosts, pages, postgres, folder)
        finally:
            postgres.process.send_signal(3)
            postgres.process.wait()


if __name__ == "__main__":
    main()

"""How fast the inspector answers over a large database.

    cargo build --release
    python3 scripts/measure_inspector.py [SITES] [PAGES_PER_SITE] [ROUNDS]

Crawls the demo, multiplies its sites, pages and requests in the database (10,000 sites of 100 pages unless told), starts
`dehusk serve`, and asks for each view of other sites and pages. Prints the time to the first byte and the memory.
"""

import http.client
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

DEHUSK = Path(__file__).resolve().parent.parent / "target" / "release" / "dehusk"


def main():
    n_sites, n_pages, rounds = (int(given) for given in (sys.argv[1:] + ["10000", "100", "60"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([DEHUSK, "demo", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        db = Path(folder) / "dehusk-demo" / "dehusk.db"
        multiply(db, n_sites, n_pages)
        print(f"{n_sites} sites, {n_sites * n_pages} pages, {db.stat().st_size / 1e6:.0f} MB")
        command = [DEHUSK, "serve", "--quiet", "--db", db, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                measure(server, n_sites, n_pages, rounds)
            finally:
                server.terminate()


def multiply(db, n_sites, n_pages):
    """Sites are copies of one of the demo, with its template; their pages share its bodies."""
    connection = sqlite3.connect(db)
    connection.executescript(f"""
        PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;
        CREATE TEMP TABLE of AS SELECT * FROM sites WHERE host = 'menus.demo.test';
        CREATE TEMP TABLE page AS SELECT * FROM pages WHERE site_id = (SELECT id FROM of) LIMIT 1;
        CREATE TEMP TABLE n AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {n_sites}) SELECT n FROM n;
        CREATE TEMP TABLE m AS SELECT n AS m FROM n WHERE n <= {n_pages};
        INSERT INTO sites (id, host, key_url, run_id, outcome, updated_at)
            SELECT 1000 + n, printf('s%06d.test', n), printf('http://s%06d.test/0', n), run_id,
                CASE n % 50 WHEN 0 THEN 'failed' ELSE 'learned' END, updated_at + n FROM n, of;
        INSERT INTO templates (site_id, version, run_id, learned_at, method, parameters, key_url, n, m, t, loads, n_nodes, schema, body)
            SELECT 1000 + n.n, version, run_id, learned_at, method, parameters, key_url, t.n, t.m, t.t, loads, n_nodes, schema, body
            FROM n, templates t WHERE t.site_id = (SELECT id FROM of);
        INSERT INTO pages (id, run_id, site_id, url, fetched_at, status, content_type, digest, raw, cleaned, method, template_id,
                confidence, change, raw_id, cleaned_id)
            SELECT 1000000 + n * {n_pages} + m, run_id, 1000 + n, printf('http://s%06d.test/%d', n, m), fetched_at, status, content_type,
                digest, raw, cleaned, method, template_id, 0.5 + (n * m % 50) / 100.0, change, raw_id, cleaned_id FROM n, m, page;
        INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, run_id, page_id)
            SELECT site_id, id, url, 1, 1, 0, run_id, id FROM pages WHERE id > 1000000;
        INSERT INTO visits (run_id, site_id, url, kind, sent_at, took_ms, status, raw_bytes, outcome, page_id)
            SELECT run_id, site_id, url, 'page', fetched_at + (id % {n_pages}) * 1000, 50, 200, 20000, 'fetched', id
            FROM pages WHERE id > 1000000;
    """)
    connection.commit()
    connection.close()


def measure(server, n_sites, n_pages, rounds):
    address = server.stdout.readline().strip().removeprefix("http://").rstrip("/")
    chosen = random.Random(1)

    def site():
        return f"s{chosen.randint(1, n_sites):06}.test"

    def page():
        return quote(f"http://{site()}/{chosen.randint(1, n_pages)}", safe="")

    views = {
        "runs": lambda: "/",
        "a run": lambda: "/run?id=1",
        "sites": lambda: f"/sites?at=0&after={site()}",
        "sites, newest first": lambda: "/sites?sort=updated",
        "sites, part of a name": lambda: f"/sites?q={site()[3:7]}",
        "a site": lambda: f"/site?host={site()}",
        "a page": lambda: f"/page?url={page()}",
        "frame of a page": lambda: f"/frame?show=overlay&url={page()}",
        "metrics": lambda: "/metrics",
    }
    connection = http.client.HTTPConnection(address)
    print(f"{'view':24} {'p50 ms':>8} {'p95 ms':>8} {'most ms':>8}")
    before = memory(server)
    for name, path in views.items():
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            connection.request("GET", path())
            answer = connection.getresponse()
            times.append((time.perf_counter() - start) * 1000)
            answer.read()
            assert answer.status == 200, (name, answer.status)
        times.sort()
        print(f"{name:24} {times[len(times) // 2]:8.1f} {times[int(len(times) * 0.95)]:8.1f} {times[-1]:8.1f}")
    print(f"memory: {before} MB at first, {memory(server)} MB at the end")


def memory(server):
    status = Path(f"/proc/{server.pid}/status").read_text()
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()

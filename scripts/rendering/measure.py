#!/usr/bin/env python3
"""Crawls the sites of scripts/rendering/frameworks with rendering, and says what came of it.

    node scripts/rendering/frameworks/build.mjs target/rendering
    scripts/rendering/measure.py target/release/dehusk target/rendering [--delay 0.2] [--sites react,vue]

The program is built with --features render. Chromium has to be installed. Everything is served on loopback. Printed are,
for each site: pages, the share of the words of the server-rendered truth that the crawl has kept, F1 of the words that
it calls template, requests and the shortest gap between two of them; then the time of the processor, memory, and the
same pages loaded by the browser alone, with one profile and with a new one for each page.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 8123
DELAY_OF_SERVER = 20


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("built", type=Path)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--sites", help="names, with commas; default: all")
    parser.add_argument("--render", default="needed")
    parser.add_argument("--alone", action="store_true", help="also load the pages by the browser alone")
    args = parser.parse_args()
    sites = sorted(path.name for path in (args.built / "sites").iterdir())
    sites = args.sites.split(",") if args.sites else sites
    truth = {page["path"]: page for page in json.loads((args.built / "truth.json").read_text())}
    with tempfile.TemporaryDirectory() as folder:
        measure(args, sites, truth, Path(folder))


def measure(args, sites, truth, folder):
    log = folder / "requests.jsonl"
    server = serve(args.built / "sites", log)
    try:
        crawl = run_crawl(args, sites, folder)
        rows = [row_of(site, truth, crawl["pages"], read_log(log)) for site in sites]
        print_table(rows, args.delay)
        n_pages = sum(row["pages"] for row in rows)
        rate = n_pages / crawl["seconds"] * 3600
        print(f"\n{n_pages} pages in {crawl['seconds']:.1f} s ({rate:.0f} pages an hour); "
              f"{crawl['cpu'] / max(n_pages, 1):.2f} s of the processor and at most {crawl['memory'] / 1e6:.0f} MB "
              f"(program and browser), {os.cpu_count()} cores")
        if args.alone:
            for name, keeps in [("one profile for a site", True), ("a new profile for each page", False)]:
                log.write_text("")
                for site in sites:
                    load_alone(site, truth, folder / name.replace(" ", "-") / site, keeps)
                found = read_log(log)
                gaps = [gap for site in sites for gap in gaps_of(found, site)]
                short = sum(gap < args.delay for gap in gaps)
                print(f"the browser alone, {name}: {len(found) / (len(sites) * len(truth)):.1f} requests a page, "
                      f"{100 * short / max(len(gaps), 1):.0f} % of the gaps below {args.delay} s")
    finally:
        server.terminate()
        server.wait()


def serve(sites, log):
    log.write_text("")
    command = ["node", str(HERE / "frameworks" / "serve.mjs"), str(sites), str(PORT), str(DELAY_OF_SERVER)]
    server = subprocess.Popen(command, env={**os.environ, "LOG": str(log)}, stdout=subprocess.DEVNULL)
    time.sleep(1)
    return server


def read_log(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def run_crawl(args, sites, folder):
    """The pages of a crawl by host, its time, the time of the processor and the most memory."""
    seeds, db = folder / "seeds.txt", folder / "crawl.sqlite"
    seeds.write_text("".join(f"http://{site}.test/\n" for site in sites))
    settings = {
        "fetch.render": args.render,
        "fetch.allow_private": "true",
        "fetch.resolve": f'["*.test=127.0.0.1:{PORT}"]',
        "crawl.pages_per_site": 100,
        "politeness.delay": args.delay,
        "render.sandbox": "false" if os.getuid() == 0 else "true",
    }
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    begun = time.monotonic()
    process = subprocess.Popen([args.program, "crawl", str(seeds), "--db", str(db), *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    use = Use(process.pid)
    status = process.wait()
    seconds = time.monotonic() - begun
    use.end()
    if status not in (0, 3):
        sys.exit(f"the crawl ended with {status}")
    listed = subprocess.run([args.program, "pages", "list", "--db", str(db), "--json"], check=True, capture_output=True)
    pages = collections.defaultdict(dict)
    for row in json.loads(listed.stdout)["pages"]:
        show = [args.program, "pages", "show", row["url"], "--db", str(db)]
        row["text"] = subprocess.run(show, check=True, capture_output=True, text=True).stdout
        path = "/" + row["url"].split("/", 3)[3]
        pages[row["host"].split(".")[0]][path.rstrip("/") or "/"] = row
    return {"pages": pages, "seconds": seconds, "cpu": use.cpu(), "memory": use.memory}


class Use:
    """Time of the processor and memory of a process and of all that it starts, looked at twenty times a second."""

    def __init__(self, pid):
        self.pid, self.ticks, self.memory, self.ends = pid, {}, 0, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        turn = 0
        while not self.ends:
            memory = 0
            for pid in self.tree():
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                    self.ticks[pid] = int(fields[11]) + int(fields[12])
                    if turn % 10 == 0:
                        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                        memory += int(re.search(r"^Pss: +(\d+)", rollup, re.M)[1]) * 1024
                except (OSError, TypeError):
                    continue
            self.memory = max(self.memory, memory)
            turn += 1
            time.sleep(0.05)

    def tree(self):
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except OSError:
                    continue
        found, grown = {self.pid}, True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            found |= more
            grown = bool(more)
        return found

    def end(self):
        self.ends = True
        self.thread.join()

    def cpu(self):
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")


def row_of(site, truth, pages, log):
    kept = total = 0
    hits = called = gold = 0
    found = pages.get(site, {})
    for path, page in truth.items():
        own = words(found[path]["text"]) if path in found else collections.Counter()
        main, template = words(page["main"]), words(page["template"])
        kept, total = kept + (main & own).total(), total + main.total()
        if path in found:
            # Words of the page that are not in its own text are what it calls template.
            cut = (main + template) - own
            hits, called, gold = hits + (cut & template).total(), called + cut.total(), gold + template.total()
    gaps = gaps_of(log, site)
    requests = [entry for entry in log if entry["host"].startswith(f"{site}.")]
    return {
        "site": site,
        "pages": len(found),
        "rendered": sum(bool(row.get("rendered")) for row in found.values()),
        "kept": kept / total,
        "f1": 2 * hits / (called + gold) if called + gold else 0.0,
        "requests": len(requests),
        "gap": min(gaps, default=0.0),
    }


def gaps_of(log, site):
    """Seconds between an answer and the next request of a host.

    Each answer waits for DELAY_OF_SERVER after its request. So it is counted from there: when it was written is noted
    later than the client has it.
    """
    times = sorted(entry["at"] for entry in log if entry["host"].startswith(f"{site}."))
    return [(later - earlier - DELAY_OF_SERVER) / 1000 for earlier, later in zip(times, times[1:])]


def print_table(rows, delay):
    print(f"{'site':12} {'pages':>5} {'rendered':>8} {'text kept':>9} {'template F1':>11} {'requests a page':>15} "
          f"{'shortest gap':>12}")
    for row in rows:
        share = row["requests"] / max(row["pages"], 1)
        print(f"{row['site']:12} {row['pages']:5} {row['rendered']:8} {row['kept']:9.3f} {row['f1']:11.3f} "
              f"{share:15.2f} {row['gap']:10.3f} s{'  SHORT' if row['gap'] < delay else ''}")


def load_alone(site, truth, profile, keeps):
    """Loads every page by the browser as it is, one after the other."""
    browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    for path in truth:
        if not keeps:
            shutil.rmtree(profile, ignore_errors=True)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
                 f"--host-resolver-rules=MAP *.test 127.0.0.1:{PORT}", "--virtual-time-budget=4000", "--dump-dom"]
        subprocess.run([browser, *flags, f"http://{site}.test{path}"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=120, check=False)


if __name__ == "__main__":
    main()

"""What an inspector that somebody uses costs the crawl beside it.

    cargo build --release
    python3 scripts/measure_beside.py [HOSTS] [PAGES_PER_HOST] [DELAY] [ROUNDS]

Crawls a farm of hosts on loopback in turn alone and with `dehusk serve` on the same database, of which one user watches
the run and opens a view each second. Prints the seconds of each pair of crawls and the median of their ratios. With a
short delay the crawl takes all cores, and farm, crawl and inspector share them.
"""

import http.client
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

import measure_workers

DEHUSK = Path(__file__).resolve().parent.parent / "target" / "release" / "dehusk"


def main():
    given = sys.argv[1:] + ["400", "10", "0.5", "5"][len(sys.argv) - 1 :]
    hosts, pages, rounds = int(given[0]), int(given[1]), int(given[3])
    ratios = []
    for number in range(rounds):
        # The one that begins changes, so that a machine that slows down favors neither.
        order = (False, True) if number % 2 == 0 else (True, False)
        took = {is_watched: crawl(hosts, pages, given[2], is_watched) for is_watched in order}
        ratios.append(took[True][0] / took[False][0])
        print(
            f"alone {took[False][0]:6.2f} s, watched {took[True][0]:6.2f} s, {took[True][1]} views, {ratios[-1]:.3f}",
            flush=True,
        )
    print(f"{hosts} hosts of {pages} pages, delay {given[2]} s: median ratio {statistics.median(ratios):.3f}")


def crawl(hosts, pages, delay, is_watched):
    """Seconds of the crawl, and views that were opened beside it."""
    with tempfile.TemporaryDirectory() as folder:
        port, log = measure_workers.free_port(), Path(folder) / "arrivals"
        farm = subprocess.Popen([sys.executable, measure_workers.__file__, "--farm", str(port), str(log)])
        time.sleep(1)
        (Path(folder) / "list.txt").write_text("".join(f"http://h{n}.test/\n" for n in range(hosts)))
        settings = {
            "fetch.resolve": f'["*.test=127.0.0.1:{port}"]',
            "fetch.allow_private": "true",
            "fetch.in_flight": "1000",
            "politeness.delay": delay,
            "crawl.pages_per_site": str(pages),
        }
        command = [DEHUSK, "crawl", "--quiet", "--config", "/dev/null", "--db", "one.db", "list.txt"]
        command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        start = time.monotonic()
        crawl = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        is_over, opened = threading.Event(), []
        user = threading.Thread(target=use, args=(folder, hosts, is_over, opened)) if is_watched else None
        if user:
            user.start()
        assert crawl.wait() == 0
        took = time.monotonic() - start
        is_over.set()
        if user:
            user.join()
        farm.terminate()
        farm.wait()
        return took, len(opened)


def use(folder, hosts, is_over, opened):
    """One user: a run that is watched, and a view each second."""
    while not (Path(folder) / "one.db").exists():
        time.sleep(0.05)
    command = [DEHUSK, "serve", "--quiet", "--db", "one.db", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip().removeprefix("http://").rstrip("/")
        threading.Thread(target=watch, args=(address,), daemon=True).start()
        chosen = random.Random(1)
        while not is_over.wait(1):
            host = f"h{chosen.randrange(hosts)}.test"
            page = quote(f"http://{host}/", safe="")
            views = [
                "/",
                "/run?id=1",
                "/sites",
                f"/site?host={host}",
                f"/page?url={page}",
                f"/frame?show=overlay&url={page}",
            ]
            connection = http.client.HTTPConnection(address)
            connection.request("GET", chosen.choice(views))
            opened.append(connection.getresponse().read())
        server.terminate()


def watch(address):
    connection = http.client.HTTPConnection(address)
    connection.request("GET", "/run/live?id=1")
    connection.getresponse().read()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""False alarms: real sites for some nights, with what changes on every visit and no news, and few real edits.

    false_alarms.py DEHUSK [--peers PYTHON] [--nights 10] [--pages 12] [--sets sites sites2]
                    [--kinds token readers ...] [--only NAME ...]

Each site gets some of seven kinds of noise at the same places of all its pages: tokens that nobody sees, a number of
readers, a number of views, the date, a box of teasers, an advertisement, a list in another order. On each night three
pages in a hundred are edited: a sentence is added to the longest paragraph that no other page has, for good. dehusk crawls the nights from a
server on loopback. PYTHON has urlwatch and changedetection.io from PyPI; what they compare is computed from the same
answers: the text of urlwatch's filter html2text, and the text of changedetection.io's html_to_text.

Printed: false alarms in 1,000 page-nights without an edit, and the share of edits that were told, over all nights but
the first, and over those from the fourth on, when dehusk has learned from three.
"""

import argparse
import http.server
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from urllib.parse import quote, unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "content"))
from archives import unpacked  # noqa: E402

KINDS = ["token", "readers", "views", "date", "teasers", "ad", "shuffled"]
WORDS = "rye oats spelt wheat barley millet maize rice teff sorghum fonio durum river stone garden winter".split()
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def words(dice, n):
    return " ".join(dice.choice(WORDS) for _ in range(n))


def inserted(html, pattern, text, last=False):
    """The text after the first match of a pattern, or before the end of the page."""
    found = list(re.finditer(pattern, html, re.I))
    if found:
        at = found[-1 if last else 0].end()
    else:
        end = html.lower().rfind("</body")
        at = end if end >= 0 else len(html)
    return html[:at] + text + html[at:]


def paragraphs(html):
    return [found for found in re.finditer(r"<p\b[^>]*>(.*?)</p\s*>", html, re.I | re.S) if len(found.group(1)) > 80]


def edited(html, sentences, shared):
    """The page with sentences at the end of its longest paragraph that no other page has."""
    own = [paragraph for paragraph in paragraphs(html) if paragraph.group(1) not in shared]
    if not sentences or not own:
        return html
    longest = max(own, key=lambda paragraph: len(paragraph.group()))
    end = longest.end(1)
    return html[:end] + "".join(f" The committee has decided: {sentence}." for sentence in sentences) + html[end:]


class Site:
    def __init__(self, name, www, pages, nights, kinds):
        dice = random.Random(f"site {name}")
        self.host, self.www = f"{name}.test".lower().replace("_", "-"), www
        self.kinds = [kind for kind in KINDS if dice.random() < 0.5 and kind in kinds]
        files = sorted(path for path in www.rglob("*.html") if path.stat().st_size < 400_000)
        texts = {path: {found.group(1) for found in paragraphs(path.read_text("latin-1"))} for path in files}
        counts = Counter(text for of_page in texts.values() for text in of_page)
        self.shared = {text for text, n in counts.items() if n > 1}
        has_own = [path for path in files if texts[path] - self.shared]
        self.pages = ["/" + str(path.relative_to(www)) for path in dice.sample(has_own, min(pages, len(has_own)))]
        self.edits = {
            (page, night): words(random.Random(f"edit {name} {page} {night}"), 9)
            for page in self.pages
            for night in range(2, nights + 1)
            if random.Random(f"when {name} {page} {night}").random() < 0.03
        }

    def page(self, path, night):
        place = self.www / path.lstrip("/")
        for file in (place, Path(f"{place}.html"), place / "index.html"):
            if os.path.isfile(file):
                break
        else:
            return None
        html = file.read_text("latin-1")
        html = edited(html, [self.edits[path, n] for n in range(2, night + 1) if (path, n) in self.edits], self.shared)
        dice = random.Random(f"{self.host} {path} {night}")
        for kind in self.kinds:
            n = dice.randint(2, 9000)
            if kind == "token":
                html = inserted(html, r"<head\b[^>]*>", f"<script nonce=n{n}></script>")
                html = inserted(html, r"<body\b[^>]*>", f"<form><input type=hidden name=t value={n}></form>")
            elif kind == "readers":
                html = inserted(html, r"</h1\s*>", f'<p class="reads">{n} people are reading this</p>')
            elif kind == "views":
                html = inserted(html, r"</p\s*>", f'<span class="views">{n} views</span>', last=True)
            elif kind == "date":
                day = f"{DAYS[night % 7]}, {night % 28 + 1} November 2026"
                html = inserted(html, r"<body\b[^>]*>", f'<div class="today">{day}</div>')
            elif kind == "teasers":
                items = "".join(f"<li><a href=/t{i}>{words(dice, 5)}</a></li>" for i in range(4))
                html = inserted(html, r"$^", f'<div class="promo"><h4>More to read</h4><ul>{items}</ul></div>')
            elif kind == "ad":
                html = inserted(html, r"</p\s*>", f'<div class="ad"><a href=/ad>{words(dice, 7)}</a></div>')
            else:
                items = [f"<li><a href=/s{i}>{words(random.Random(f'{self.host} {i}'), 3)}</a></li>" for i in range(6)]
                dice.shuffle(items)
                html = inserted(html, r"$^", f'<ul class="places">{"".join(items)}</ul>')
        return html.encode("latin-1")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sites, night, answers = {}, 1, {}

    @classmethod
    def begin(cls, night):
        """A night, with the answers that take long to make at hand: no crawl waits for this server."""
        cls.night = night
        cls.answers = {(site.host, page): site.page(page, night) for site in cls.sites.values() for page in site.pages}

    @classmethod
    def answer(cls, host, path):
        if (host, path) not in cls.answers:
            site = cls.sites.get(host)
            cls.answers[host, path] = site and site.page(path, cls.night)
        return cls.answers[host, path]

    def do_GET(self):
        body = self.answer(self.headers.get("host", "").split(":")[0], unquote(self.path.split("?")[0]))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        try:
            self.wfile.write(body or b"")
        except BrokenPipeError:
            pass  # a body above a limit

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    # All sites connect at once.
    request_queue_size = 1024


PEER = """
import json, sys
from urlwatch.html2txt import html2text
from changedetectionio.html_tools import html_to_text
for line in sys.stdin:
    html = json.loads(line)
    both = []
    for text_of in (lambda h: html2text(h, "http://x.test/", "re", {}), html_to_text):
        try:
            both.append(hash(text_of(html)))
        except Exception as error:
            both.append(hash(str(error)))
    print(*both, flush=True)
"""


def told_by_peers(python, sites, nights):
    """For each tool, the pages of each night whose text differs from that of the night before."""
    peer = subprocess.Popen([python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    told, last = {"urlwatch": set(), "changedetection.io": set()}, {}
    for night in range(1, nights + 1):
        for site in sites:
            for path in site.pages:
                peer.stdin.write(json.dumps(site.page(path, night).decode("utf-8", "replace")) + "\n")
                peer.stdin.flush()
                now = peer.stdout.readline().split()
                for name, before, after in zip(told, last.get((site.host, path), now), now):
                    if before != after:
                        told[name].add((night, site.host, path))
                last[site.host, path] = now
    peer.stdin.close()
    return told


class Dehusk:
    """A program with settings, which crawls all sites on each night."""

    def __init__(self, program, sites, port, folder, extra):
        folder.mkdir()
        self.program, self.usual, self.told = program, ["--config", "/dev/null", "--db", f"{folder}/n.db"], set()
        self.seeds = folder / "seeds.txt"
        self.seeds.write_text("".join(f"http://{site.host}{quote(path)}\n" for site in sites for path in site.pages))
        self.sets = ["fetch.allow_private=true", f'fetch.resolve=["*.test=127.0.0.1:{port}"]', "politeness.delay=0.005",
                     "politeness.key=host", "fetch.retries=0", *extra]

    def crawl(self, night):
        command = [self.program, "crawl", str(self.seeds), "--all", "--quiet", *self.usual, "--fail-above", "100%"]
        command += [word for pair in self.sets for word in ("--set", pair)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if night == 1:
            return
        command = [self.program, "runs", "diff", str(night - 1), str(night), "--json", *self.usual]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for row in rows.get("changes", rows.get("pages", [])):
            if row["change"] == "changed":
                host, path = row["url"].removeprefix("http://").split("/", 1)
                self.told.add((night, host, unquote(f"/{path}")))


def told_by_dehusk(program, sites, nights, port):
    """For dehusk as it is and for dehusk that learns nothing, the pages that it tells as changed on each night."""
    with tempfile.TemporaryDirectory() as folder:
        made = {
            "dehusk": Dehusk(program, sites, port, Path(folder) / "usual", []),
            "dehusk, nothing learned": Dehusk(
                program, sites, port, Path(folder) / "nothing-learned", ["crawl.learn_changing=false"]),
        }
        for night in range(1, nights + 1):
            Handler.begin(night)
            for dehusk in made.values():
                dehusk.crawl(night)
        return {name: dehusk.told for name, dehusk in made.items()}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--peers", help="Python with urlwatch and changedetection.io")
    arguments.add_argument("--nights", type=int, default=10)
    arguments.add_argument("--pages", type=int, default=12)
    arguments.add_argument("--sets", nargs="+", default=["sites", "sites2"])
    arguments.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS, help="kinds of noise")
    arguments.add_argument("--only", nargs="*", help="names of sites")
    options = arguments.parse_args()
    sites = []
    for folder in options.sets:
        for www in sorted(unpacked(folder).glob("dev*/*/www")):
            if options.only and www.parent.name not in options.only:
                continue
            site = Site(www.parent.name, www, options.pages, options.nights, options.kinds)
            if len(site.pages) >= 3:
                sites.append(site)
    Handler.sites = {site.host: site for site in sites}
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told = told_by_dehusk(options.program, sites, options.nights, server.server_address[1])
    if options.peers:
        told |= told_by_peers(options.peers, sites, options.nights)
    edits = {(night, site.host, page) for site in sites for page, night in site.edits}
    visits = {(n, site.host, page) for n in range(2, options.nights + 1) for site in sites for page in site.pages}
    print(f"{len(sites)} sites, {sum(len(site.pages) for site in sites)} pages, {options.nights} nights, {len(edits)} edits")
    print(f"{'':24} {'nights 2 on':>24}   {'nights 4 on':>24}")
    print(f"{'':24} {'false of 1,000':>14} {'edits':>9}   {'false of 1,000':>14} {'edits':>9}")
    for name, alarms in told.items():
        cells = []
        for first in (2, 4):
            quiet = {visit for visit in visits - edits if visit[0] >= first}
            real = {edit for edit in edits if edit[0] >= first}
            cells.append(f"{1000 * len(alarms & quiet) / len(quiet):14.1f} {len(alarms & real) / max(len(real), 1):9.3f}")
        print(f"{name:24} {cells[0]}   {cells[1]}")
    print("\nSites with the most false alarms of dehusk, and with edits that it did not tell, nights 4 on")
    late = {visit for visit in visits if visit[0] >= 4}
    for site in sorted(sites, key=lambda site: -sum(alarm[1] == site.host for alarm in (told["dehusk"] - edits) & late)):
        n_false = sum(alarm[1] == site.host for alarm in (told["dehusk"] - edits) & late)
        missed = sorted(edit for edit in (edits - told["dehusk"]) & late if edit[1] == site.host)
        if n_false > 5 or missed:
            print(f"{site.host:30} {len(site.pages):3} pages {n_false:4} false, {len(missed)} missed: {' '.join(site.kinds)}")


if __name__ == "__main__":
    main()

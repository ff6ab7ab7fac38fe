#!/usr/bin/env python3
"""Measures `dehusk serve --api` beside `dehusk clean`, with wrk, on pages of JSON lines.

Usage: scripts/bench_api.py PROGRAM PAGES.jsonl [SECONDS]

Pages of 20 to 40 KB are taken, 200 at most. Their sites are learned first. Both use all cores; wrk takes some of them.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LUA = """
local urls, requests, n = {}, {}, 0
for line in io.lines("urls.txt") do urls[#urls + 1] = line end
local function encoded(s) return (s:gsub("[^%w]", function(c) return string.format("%%%02X", c:byte()) end)) end
init = function()
  for i, url in ipairs(urls) do
    local file = io.open(i .. ".html", "rb")
    requests[i] = wrk.format("POST", "/v1/clean?form=text&url=" .. encoded(url), {}, file:read("*a"))
    file:close()
  end
end
request = function() n = n + 1; return requests[(n - 1) % #requests + 1] end
"""


def main() -> None:
    program, source = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    seconds = sys.argv[3] if len(sys.argv) > 3 else "10"
    pages = [json.loads(line) for line in source.open(encoding="utf-8")]
    pages = [page for page in pages if 20_000 < len(page["html"]) < 40_000][:200]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines = "".join(json.dumps(page) + "\n" for page in pages)
        Path("pages.jsonl").write_text(lines, encoding="utf-8")
        Path("many.jsonl").write_text(lines * 10, encoding="utf-8")
        Path("urls.txt").write_text("\n".join(page["url"] for page in pages) + "\n", encoding="utf-8")
        Path("post.lua").write_text(LUA, encoding="utf-8")
        for at, page in enumerate(pages, 1):
            Path(f"{at}.html").write_text(page["html"], encoding="utf-8")
        subprocess.run([program, "learn", "pages.jsonl", "--db", "m.db", "-q"], check=True, stdout=subprocess.DEVNULL)
        clean = [program, "clean", "many.jsonl", "--db", "m.db", "--format", "text", "-q"]
        began = time.perf_counter()
        subprocess.run(clean, check=True, stdout=subprocess.DEVNULL)
        rate = 10 * len(pages) / (time.perf_counter() - began)
        print(f"clean: {rate:.0f} pages/s")
        serve = [program, "serve", "--api", "--db", "m.db", "--listen", "127.0.0.1:0", "-q"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            address = server.stdout.readline().strip().rstrip("/")
            for connections in ("2", "8", "32"):
                wrk = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", "post.lua", address]
                said = subprocess.run(wrk, check=True, capture_output=True, text=True).stdout
                served = float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))
                p99 = re.search(r"99%\s+(\S+)", said).group(1)
                failed = "Non-2xx" in said or "Socket errors" in said
                print(f"{connections} connections: {served:.0f} requests/s, {served / rate:.2f} of clean, p99 {p99}{' FAILED' * failed}")
            server.terminate()


main()

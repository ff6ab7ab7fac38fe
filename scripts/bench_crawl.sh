#!/usr/bin/env bash
# dehusk beside wget2 (Debian) and Scrapy (PyPI) on the same pages in one run. Installs what is missing: wget2 with apt
# where that is allowed, Scrapy below target/. ROUNDS=n sets the rounds.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v wget2 >/dev/null; then
    (apt-get update && apt-get install -y wget2) >/dev/null 2>&1 || echo "wget2 cannot be installed here, skipped" >&2
fi
venv=target/tools/scrapy
if [ ! -x "$venv/bin/scrapy" ]; then
    python3 -m venv "$venv" && "$venv/bin/pip" -q install scrapy || echo "Scrapy cannot be installed here, skipped" >&2
fi
SCRAPY_PYTHON="$PWD/$venv/bin/python" cargo bench --bench crawl -- "$@"

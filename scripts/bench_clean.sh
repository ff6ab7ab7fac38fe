#!/usr/bin/env bash
# `dehusk clean` over a web archive beside trafilatura and Resiliparse on its first pages, in one run on one core.
#   scripts/bench_clean.sh SITES [MEGABYTES]      SITES: a folder with a folder of saved pages for each site
# The archive is made of the sites again and again under other names, until it has so many megabytes of pages [500].
set -euo pipefail
cd "$(dirname "$0")/.."

(($# > 0)) || { echo "usage: scripts/bench_clean.sh SITES [MEGABYTES]" >&2; exit 2; }
[ -d "$1" ] || { echo "$1: no such folder" >&2; exit 2; }
peers=target/peers
if [ ! -x "$peers/bin/python" ]; then
    python3 -m venv "$peers"
    "$peers/bin/pip" install --quiet trafilatura==2.3.1 lxml_html_clean resiliparse==2.0.1
fi
"$peers/bin/python" -c 'import fastwarc' 2>/dev/null || "$peers/bin/pip" install --quiet fastwarc
cargo build --release --quiet
"$peers/bin/python" scripts/bench_clean.py "${CARGO_TARGET_DIR:-target}/release/dehusk" "$1" "${2:-500}"

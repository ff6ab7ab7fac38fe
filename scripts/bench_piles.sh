#!/usr/bin/env bash
# Piles of pages without links: dehusk beside trafilatura and Resiliparse on the same pages, in one run.
#   scripts/bench_piles.sh PILE.jsonl...
set -euo pipefail
cd "$(dirname "$0")/.."

(($# > 0)) || { echo "usage: scripts/bench_piles.sh PILE.jsonl..." >&2; exit 2; }
peers=target/peers
if [ ! -x "$peers/bin/python" ]; then
    python3 -m venv "$peers"
    "$peers/bin/pip" install --quiet trafilatura==2.3.1 lxml_html_clean resiliparse==2.0.1
fi
cargo build --release --quiet
for pile in "$@"; do
    [ -f "$pile" ] || { echo "$pile: no such file" >&2; exit 2; }
    "$peers/bin/python" scripts/peers.py "${CARGO_TARGET_DIR:-target}/release/dehusk" "$pile"
    echo
done

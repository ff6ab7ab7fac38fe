#!/usr/bin/env bash
# Makes the pictures of docs/how-it-works.md anew: views of the inspector on the database of the demo.
#
#   scripts/book_pictures.sh [PROGRAM]     # default: target/release/dehusk; needs Chromium
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/dehusk}")
work=$(mktemp -d)
"$program" demo --dir "$work" --quiet >/dev/null
"$program" serve --db "$work/dehusk.db" --listen 127.0.0.1:7798 >/dev/null 2>&1 &
serving=$!
trap 'kill $serving; rm -rf "$work"' EXIT
sleep 1
for view in fetched template overlay; do
    chromium --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --hide-scrollbars \
        --user-data-dir="$work/browser" --window-size=900,760 --screenshot="docs/pictures/$view.png" \
        "http://127.0.0.1:7798/page?url=http://menus.demo.test/1/2.html&view=$view" 2>/dev/null
done

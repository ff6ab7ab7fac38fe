#!/usr/bin/env bash
# Publishes the crates of the workspace on crates.io, each after those that it uses.
#
#   scripts/publish.sh                 # only tries: packages every crate and builds it from its package
#   scripts/publish.sh --no-verify     # only tries, without the builds
#   scripts/publish.sh --execute       # publishes; needs `cargo login` or CARGO_REGISTRY_TOKEN
#
# Crates whose version is there are passed over, so that a run that stopped is begun again by the same command.
# crates.io takes five new crates at once and one more every ten minutes: the first release takes over an hour. Only
# that limit is waited for.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --execute ]; then
    exec cargo publish --workspace --locked --dry-run "$@"
fi
if [ -n "$(git status --porcelain)" ]; then
    echo "$0: there are changes that are not committed; commit them first" >&2
    exit 2
fi

# "name version" of each crate that is published, each after those that it depends on.
crates() {
    cargo metadata --format-version 1 --no-deps --locked | python3 -c '
import graphlib, json, sys

packages = {p["name"]: p for p in json.load(sys.stdin)["packages"] if p["publish"] != []}
uses = {name: {d["name"] for d in p["dependencies"]} & packages.keys() for name, p in packages.items()}
for name in graphlib.TopologicalSorter(uses).static_order():
    print(name, packages[name]["version"])'
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
crates | while read -r name version; do
    if cargo info --registry crates-io "$name@$version" >/dev/null 2>&1; then
        echo "$name $version is there"
        continue
    fi
    until cargo publish --package "$name" --locked </dev/null 2>"$log"; do
        cat "$log" >&2
        grep -q '429' "$log" || { echo "$0: $name was not published; begin again with the same command" >&2; exit 1; }
        echo "$name: crates.io takes no more for now; next in 10 minutes" >&2
        sleep 600
    done
done

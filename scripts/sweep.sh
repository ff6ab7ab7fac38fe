#!/usr/bin/env bash
# Variants of template learning on a corpus of sites, one Markdown row each; CORPUS as for `dehusk evaluate`.
# Usage: scripts/sweep.sh CORPUS [preset]; PROGRAM=FILE is measured as it is, without a build
set -euo pipefail
corpus=${1:?usage: scripts/sweep.sh CORPUS [preset]} preset=${2:-thesis2014}
cd "$(dirname "$0")/.."
[ -n "${PROGRAM:-}" ] || cargo build --release --quiet
program=${PROGRAM:-./target/release/dehusk}

row() { # NAME [KEY=VALUE ...]
    local name=$1 sets=() pair
    shift
    for pair in "$@"; do sets+=(--set "$pair"); done
    "$program" evaluate "$corpus" --preset "$preset" --pages gold --json --config /dev/null "${sets[@]}" |
        python3 -c 'import json, sys
r = json.load(sys.stdin)
k, n, b = r["key"], r["nodes"], r["bag"]
print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.1f} | {:.1f} |".format(
    sys.argv[1], k["precision"], k["recall"], k["f1"], n["f1"], b["f1"], b["recall"], r["loads"], r["requests"]))' "$name"
}

echo "| variant | key P | key R | key F1 | pages F1 | words F1 | words R | loads | requests |"
echo "|---|---|---|---|---|---|---|---|---|"
row "$preset"
row "text equal" etdm.text=equal
row "DP mapping" etdm.map=dp
row "DP mapping, text equal" etdm.map=dp etdm.text=equal
row "order constraint off" etdm.keep_order=false
row "attribute names only" etdm.attr_mode=name
row "generated classes ignored" etdm.ignore_generated=true
row "generated ignored, text equal" etdm.ignore_generated=true etdm.text=equal
for pt in 0.45 0.50 0.55 0.60 0.65 0.75 0.80; do
    row "Pt $pt" etdm.threshold=$pt
done
for pt in 0.45 0.50 0.55 0.60 0.65 0.75; do
    row "Pt $pt, generated ignored, text equal" etdm.threshold=$pt etdm.ignore_generated=true etdm.text=equal
done
row "slug_dirs" links.slug_dirs=true
row "dom_ref global" links.dom_ref=global
row "dom_ref all" links.dom_ref=all
row "nofollow left out" links.skip_nofollow=true
# Table 5.2 of Alarte 2014: n is the size of the subdigraph, t the votes that a node needs.
for n in 1 2 3 4 5 6 7 8; do
    for ((t = 1; t <= n; t++)); do
        row "n=$n t=$t" subdigraph.n=$n etdm.min_votes=$t
    done
done
# Section 5.2.3: weights of classes, position, attributes and children; the first row is where the thesis began.
for weights in "0.4 0.4 0.1 0.1" "0.4 0.2 0.2 0.2" "0.6 0.2 0.1 0.1" "0.5 0.3 0.1 0.1" "0.5 0.1 0.2 0.2" "0.25 0.25 0.25 0.25"; do
    read -r class position attributes children <<<"$weights"
    row "weights $weights" etdm.w_class=$class etdm.w_position=$position etdm.w_attributes=$attributes etdm.w_children=$children
done
for n in 3 5 8; do
    row "first $n, majority" subdigraph.mode=first subdigraph.n=$n etdm.min_votes=0
done
equal=(subdigraph.mode=first etdm.min_votes=0 etdm.ignore_generated=true etdm.text=equal)
for n in 3 4 5 6 7 8; do
    row "first $n, majority, generated ignored, text equal" "${equal[@]}" subdigraph.n=$n
    row "first $n, majority, generated ignored, text equal, Pt 0.45" "${equal[@]}" subdigraph.n=$n etdm.threshold=0.45
done

preset=votes
row "votes"
row "votes, Pt 0.40" etdm.threshold=0.40
row "votes, Pt 0.50" etdm.threshold=0.50
row "votes, Pt 0.60" etdm.threshold=0.60
row "votes, n=5" subdigraph.n=5
row "votes, n=7" subdigraph.n=7
row "votes, complete n=3 t=2" subdigraph.mode=complete subdigraph.n=3 etdm.min_votes=2
row "votes, DP mapping" etdm.map=dp
row "votes, order constraint off" etdm.keep_order=false
row "votes, attribute names only" etdm.attr_mode=name
row "votes, generated names compared" etdm.ignore_generated=false
row "votes, text structural" etdm.text=structural
row "votes, dom_ref global" links.dom_ref=global
row "votes, dom_ref all" links.dom_ref=all
row "votes, no slug_dirs" links.slug_dirs=false
preset=hybex2020
row "hybex2020"

preset=dehusk
row "**dehusk** (the default)"
row "dehusk, order of Algorithm 1" links.order=paper
row "dehusk, complete subdigraph" subdigraph.mode=complete subdigraph.n=3 subdigraph.max_loads=24
for n in 1 2 3 4 5 6 7; do
    row "dehusk, n=$n" subdigraph.n=$n subdigraph.max_loads=$n
done
for pt in 0.25 0.45 0.55; do
    row "dehusk, site_model.threshold $pt" site_model.threshold=$pt
done

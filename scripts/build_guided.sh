#!/usr/bin/env bash
# Builds the program twice, the second time guided by a profile of its own work (profile-guided optimization). Its
# results are the same and need less CPU time (figures: docs/lab/2026-11-26-crawl-speed.md). Takes four times as long as
# `cargo build --release`.
#
#   scripts/build_guided.sh [OPTION OF cargo build]...
#   RUSTFLAGS="-C target-cpu=native" scripts/build_guided.sh       # for machines like this one only
#
# Needs llvm-profdata of the toolchain: rustup component add llvm-tools.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
[ -x "$profdata" ] || {
    echo "$0: no llvm-profdata in this toolchain; install it with: rustup component add llvm-tools" >&2
    exit 2
}
target=$PWD/target/guided
program=$target/$host/release/dehusk
flags=${RUSTFLAGS:-}
# With --target, build scripts and macros are built without the flags.
build() {
    RUSTFLAGS="$flags $1" cargo build --release --bin dehusk --target "$host" --target-dir "$target" "${@:2}"
}

rm -rf "$target/raw"
build "-C profile-generate=$target/raw" "$@"

# The work: the demo's sites are crawled, learned and exported, and pages are cleaned with models and without.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() {
    "$program" "$@" --config /dev/null --db "$work/dehusk.db" --quiet > "$work/out"
}
run demo --dir "$work" --set politeness.delay=0
for format in jsonl md site; do
    run export --format "$format" --out "$work/$format"
done
for how in "" --alone "--set clean.keep=main"; do
    # shellcheck disable=SC2086
    run clean "$work/site" --json $how
done

"$profdata" merge -o "$target/dehusk.profdata" "$target/raw"
build "-C profile-use=$target/dehusk.profdata" "$@"
echo "$program"

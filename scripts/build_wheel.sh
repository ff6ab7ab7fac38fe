#!/usr/bin/env bash
# Builds the wheel of the Python package for other machines: one for every Python from 3.11 on and every Linux with
# glibc 2.17 or later of this architecture (manylinux2014). It has the program `dehusk`, too, which pip puts on the
# path. The linker is zig's, from PyPI, which knows old glibcs.
#
#   scripts/build_wheel.sh [--guided] [FOLDER]        # default: target/wheels
#
# --guided builds the module twice, the second time guided by a profile of its work on the pages of the demo, as
# `scripts/build_guided.sh` builds the program. Its results are the same and need less CPU time (figures:
# docs/lab/2026-11-26-parse-and-clean-speed.md). Takes three times as long; needs llvm-profdata: rustup component add
# llvm-tools. zig's linker does not link the profiler, so that such a wheel needs the glibc of this machine or a later
# one.
set -euo pipefail
cd "$(dirname "$0")/.."
guided=
[ "${1:-}" != --guided ] || { guided=yes; shift; }
out=$(mkdir -p "${1:-target/wheels}" && cd "${1:-target/wheels}" && pwd)
venv=$PWD/target/wheel-tools
program=$(scripts/build_program.sh)
# maturin puts what is there on the path.
install -D -m 755 "$program" python/dehusk._dehusk.data/scripts/dehusk
mkdir -p python/dehusk._dehusk.data/data/share/doc/dehusk
for package in dehusk dehusk-python; do
    python3 scripts/notices.py "$package"
done > python/dehusk._dehusk.data/data/share/doc/dehusk/third-party-licences.txt
trap 'rm -rf python/dehusk._dehusk.data' EXIT
host=$(rustc -vV | sed -n 's/^host: //p')
# maturin looks for zig beside the Python on the path. With --target, build scripts and macros are built without the
# flags.
build() {
    local flags="${RUSTFLAGS:-}${1:+ $1}"
    # In a target folder of its own: cargo zigbuild and maturin would make each other build everything again.
    PATH="$venv/bin:$PATH" env ${flags:+RUSTFLAGS="$flags"} CARGO_TARGET_DIR="$PWD/target/$2" maturin build \
        --profile dist --strip --target "$host" --manifest-path python/Cargo.toml --out "$3" "${@:4}"
}

if [ -z "$guided" ]; then
    build "" wheel "$out" --zig --compatibility manylinux2014
else
    profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
    [ -x "$profdata" ] || {
        echo "$0: no llvm-profdata in this toolchain; install it with: rustup component add llvm-tools" >&2
        exit 2
    }
    work=$(mktemp -d)
    trap 'rm -rf "$work" python/dehusk._dehusk.data' EXIT
    raw=$PWD/target/guided-wheel/raw
    rm -rf "$raw"
    build "-C profile-generate=$raw" guided-wheel "$work"
    "$venv/bin/python" -m pip install --quiet --force-reinstall --no-deps "$work"/dehusk-*.whl
    cargo build --release --bin dehusk
    run() {
        target/release/dehusk "$@" --config /dev/null --db "$work/dehusk.db" --quiet > "$work/out"
    }
    run demo --dir "$work" --set politeness.delay=0
    run export --format warc --out "$work/pages"
    "$venv/bin/python" scripts/profile_wheel.py "$work"/pages/*.warc.gz
    "$profdata" merge -o "$raw.profdata" "$raw"
    build "-C profile-use=$raw.profdata" guided-wheel "$out"
fi
# maturin leaves out a folder that it does not know without a word.
for wheel in "$out"/dehusk-*.whl; do
    python3 -m zipfile -l "$wheel" | grep -q '/scripts/dehusk ' || { echo "$0: $wheel lacks the program" >&2; exit 1; }
done
ls -l "$out"/dehusk-*.whl

#!/usr/bin/env bash
# Builds the wheel of the Python package for other machines: one for every Python from 3.11 on and every Linux with
# glibc 2.17 or later of this architecture (manylinux2014). The linker is zig's, from PyPI, which knows old glibcs.
#
#   scripts/build_wheel.sh [FOLDER]        # default: target/wheels
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/wheels}
venv=target/wheel-tools
[ -x "$venv/bin/maturin" ] || {
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet 'maturin[zig]>=1.9,<2'
}
# maturin looks for zig beside the Python on the path.
PATH="$PWD/$venv/bin:$PATH" maturin build --release --strip --zig --compatibility manylinux2014 \
    --manifest-path python/Cargo.toml --out "$out"
ls -l "$out"/dehusk-*.whl

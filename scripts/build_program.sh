#!/usr/bin/env bash
# Builds the program for other machines: every Linux with glibc 2.17 or later of this architecture. The linker is zig's,
# from PyPI, which knows old glibcs. Rendering is in it: that takes no further package. Prints the path of the program.
#
#   scripts/build_program.sh
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/target/wheel-tools
scripts/venv.sh "$venv" scripts/packages.txt
host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-$PWD/target}
PATH="$venv/bin:$PATH" cargo zigbuild --quiet --profile dist --locked --bin dehusk --features render --target "$host.2.17"
echo "$target/$host/dist/dehusk"

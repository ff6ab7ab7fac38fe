#!/usr/bin/env bash
# Builds the Debian package: the program, manual pages, completions, a systemd service and timer, /etc/dehusk.
#
#   scripts/build_deb.sh [PROGRAM]     # default: builds it with the profile dist
#
# A program that `scripts/build_program.sh` built runs on every Linux with glibc 2.17 or later. Needs cargo-deb on the
# path: cargo install cargo-deb. The package is written below target/debian/.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-deb >/dev/null || { echo "$0: no cargo-deb on the path; install it with: cargo install cargo-deb" >&2; exit 2; }
program=${1:-}
if [ -z "$program" ]; then
    cargo build --profile dist --locked --bin dehusk
    program=${CARGO_TARGET_DIR:-target}/dist/dehusk
fi

work=target/deb
rm -rf "$work"
mkdir -p "$work/units"
install -m 755 "$program" "$work/dehusk"
"$work/dehusk" man "$work/man" >/dev/null
"$work/dehusk" completions bash > "$work/dehusk.bash"
"$work/dehusk" completions zsh > "$work/_dehusk"
"$work/dehusk" completions fish > "$work/dehusk.fish"

# Settings and seeds as `init` writes them, with the places of the package.
"$work/dehusk" init "$work/init" </dev/null >/dev/null
sed -e 's|"seeds.txt"|"/etc/dehusk/seeds.txt"|' -e 's|^#store.path = .*|store.path = "/var/lib/dehusk/dehusk.db"|' \
    "$work/init/crawl.toml" > "$work/crawl.toml"
cp "$work/init/seeds.txt" "$work/seeds.txt"
of_package='s|/usr/local/bin/dehusk|/usr/bin/dehusk|; s|/srv/crawl|/var/lib/dehusk|; s|^User=crawl|User=dehusk|;
    s|^Group=crawl|Group=dehusk|; s#bin/dehusk \(crawl\|report\)#& --config /etc/dehusk/crawl.toml#'
# Their first lines say how they are installed by hand.
sed -e '1,/^\[Unit\]/{/^#/d}' -e "$of_package" packaging/dehusk.service > "$work/units/dehusk.service"
cp packaging/dehusk.timer "$work/units/"
sed -e "$of_package" 'packaging/dehusk-failed@.service' > "$work/dehusk-failed@.service"

version=$("$work/dehusk" --version | cut -d' ' -f2)
maintainer=$(sed -n 's/^maintainer = "\(.*\)"$/\1/p' Cargo.toml)
printf 'dehusk (%s-1) unstable; urgency=medium\n\n  * Version %s; see changelog.gz.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(LC_ALL=C date -R)" > "$work/changelog"
gzip -9nc CHANGELOG.md > "$work/changes.gz"
python3 scripts/notices.py | gzip -9n > "$work/third-party.gz"

cargo deb --no-build --no-strip --locked

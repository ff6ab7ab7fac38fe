#!/usr/bin/env bash
# Installs each form of the program as a user would, cleans a page with it, removes it, and prints the seconds.
#
#   scripts/try_packages.sh [wheel] [deb] [image]     # default: all that have been built
#
# wheel: in a new virtual environment. deb: in a new Debian by debootstrap (root only). image: with buildah. Each is
# made before by scripts/build_wheel.sh, build_deb.sh and build_image.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'umount -q "$work/debian/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
page='<html><head><title>A page</title></head><body><nav><a href=/>Home</a></nav><main><h1>Rye</h1><p>Winter rye is sown
in autumn, when the soil is still warm, and stands green below the snow until the spring.</p></main></body></html>'
now() { date +%s.%N; }
said() { printf '%-6s  %s  installed in %4.1f s, first cleaned page after %4.1f s\n' "$1" "$2" "$3" "$4"; }
since() { echo "$(now) - $1" | bc; }
# Cleans a page on standard input with a program that is run by the words of the command.
cleans() { echo "$page" | "$@" clean - --alone --set clean.keep=main 2>/dev/null | grep -q 'Winter rye'; }

wheel() {
    local file begun installed
    file=$(ls -t target/wheels/dehusk-*.whl | head -1)
    target/wheel-tools/bin/auditwheel show "$file" | tr '\n' ' ' | grep -q 'manylinux_2_17' || { echo "wheel: not manylinux_2_17" >&2; return 1; }
    begun=$(now)
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$file"
    installed=$(since "$begun")
    cleans "$work/venv/bin/dehusk"
    echo "$page" | "$work/venv/bin/python" -c 'import dehusk, sys; assert "Winter rye" in dehusk.extract(sys.stdin.read())'
    said wheel "$(du -h "$file" | cut -f1)" "$installed" "$(since "$begun")"
    "$work/venv/bin/python" -m pip uninstall --quiet --yes dehusk
    [ ! -e "$work/venv/bin/dehusk" ]
}

deb() {
    local file begun installed root=$work/debian
    file=$(ls -t target/debian/dehusk_*.deb | head -1)
    lintian --fail-on warning "$file"
    debootstrap --variant=minbase --include=adduser bookworm "$root" >"$work/debootstrap.log" 2>&1
    mount -t proc proc "$root/proc"
    cp "$file" "$root/tmp/dehusk.deb"
    begun=$(now)
    chroot "$root" apt-get -qq install -y --no-install-recommends /tmp/dehusk.deb >"$work/apt.log" 2>&1
    installed=$(since "$begun")
    cleans chroot "$root" dehusk
    said deb "$(du -h "$file" | cut -f1)" "$installed" "$(since "$begun")"
    # As the service would, up to the network.
    chroot "$root" su -s /bin/sh dehusk -c 'cd /var/lib/dehusk && dehusk doctor --config /etc/dehusk/crawl.toml' >"$work/doctor" || true
    grep -q 'ok       settings' "$work/doctor"
    chroot "$root" test -f /usr/lib/systemd/system/dehusk.timer
    chroot "$root" apt-get -qq purge -y dehusk >>"$work/apt.log" 2>&1
    if ls -d "$root"/etc/dehusk "$root"/var/lib/dehusk "$root"/usr/bin/dehusk 2>/dev/null; then
        echo "deb: purge left files" >&2
        return 1
    fi
}

image() {
    local container root begun
    begun=$(now)
    container=$(buildah from localhost/dehusk:latest)
    root=$(buildah mount "$container")
    cleans chroot --userspec=10001:10001 "$root" /usr/bin/dehusk
    said image "$(du -sh "$root" | cut -f1)" "$(since "$begun")" "$(since "$begun")"
    chroot --userspec=10001:10001 "$root" /usr/bin/dehusk demo --dir /data/demo --quiet >/dev/null 2>&1
    buildah rm "$container" >/dev/null
}

forms=("$@")
if [ "${#forms[@]}" = 0 ]; then
    ! ls target/wheels/dehusk-*.whl >/dev/null 2>&1 || forms+=(wheel)
    ! ls target/debian/dehusk_*.deb >/dev/null 2>&1 || forms+=(deb)
    ! buildah inspect --type image localhost/dehusk:latest >/dev/null 2>&1 || forms+=(image)
fi
for form in "${forms[@]}"; do "$form"; done

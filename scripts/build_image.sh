#!/usr/bin/env bash
# Builds the container image localhost/dehusk:VERSION, also tagged latest: the program, the libraries of glibc that it
# needs, no shell, no root. Certificates of authorities are in the program.
#
#   scripts/build_image.sh [PROGRAM]     # default: target/release/dehusk
#
# Needs buildah, podman or docker. Where user namespaces are not allowed: BUILD_OPTIONS="--isolation chroot".
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/dehusk}")
folder=target/image
rm -rf "$folder"
mkdir -p "$folder/data" "$folder/root/usr/bin" "$folder/root/etc" "$folder/root/tmp"
chmod 1777 "$folder/root/tmp"
install -m 755 "$program" "$folder/root/usr/bin/dehusk"
echo 'dehusk:x:10001:10001::/data:/sbin/nologin' > "$folder/root/etc/passwd"
echo 'dehusk:x:10001:' > "$folder/root/etc/group"
echo 'hosts: files dns' > "$folder/root/etc/nsswitch.conf"
python3 scripts/notices.py > "$folder/root/third-party-licences.txt"
# The loader and the libraries, at the places where the program looks for them.
for library in $(ldd "$program" | grep -o '/[^ ]*' || true); do
    install -D -m 755 "$(realpath "$library")" "$folder/root$library"
done

version=$("$program" --version | cut -d' ' -f2)
options=(--tag "localhost/dehusk:$version" --tag localhost/dehusk:latest --file packaging/Containerfile)
# shellcheck disable=SC2206
options+=(${BUILD_OPTIONS:-})
for tool in buildah podman docker; do
    command -v "$tool" >/dev/null || continue
    # HEALTHCHECK is of docker's format only.
    case $tool in
        docker) docker build "${options[@]}" "$folder" ;;
        *) "$tool" build --format docker "${options[@]}" "$folder" ;;
    esac
    exit
done
echo "$0: no buildah, podman or docker; the content of the image is in $folder" >&2
exit 2

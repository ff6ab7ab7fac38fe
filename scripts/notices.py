#!/usr/bin/env python3
"""Prints the licences of everything that is compiled into a program: names, versions, and the texts that their authors
ask to be handed on.

    python3 scripts/notices.py [PACKAGE] > THIRD-PARTY.txt      # default: dehusk; the wheel also has dehusk-python

Texts are those in the sources of the packages, each once. A package without a text is listed by its SPDX expression.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def compiled_in(package, metadata):
    """Packages that one is compiled with, by its default features, without build scripts and tests."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    by_id = {found["id"]: found for found in metadata["packages"]}
    open_ids = [found["id"] for found in metadata["packages"] if found["name"] == package and found["source"] is None]
    seen = set()
    while open_ids:
        at = open_ids.pop()
        if at not in seen:
            seen.add(at)
            normal = (d for d in nodes[at]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"]))
            open_ids += [dependency["pkg"] for dependency in normal]
    return sorted((by_id[found] for found in seen), key=lambda found: (found["name"], found["version"]))


def texts_of(package):
    folder = Path(package["manifest_path"]).parent
    names = [path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING", "NOTICE"))]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in sorted(names)]


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    host = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    host = next(line.split()[1] for line in host.splitlines() if line.startswith("host:"))
    found = subprocess.run([*command, "--filter-platform", host], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    packages = [p for p in compiled_in((sys.argv[1:] or ["dehusk"])[0], json.loads(found)) if p["source"] is not None]
    users = {}
    for package in packages:
        name = f"{package['name']} {package['version']} ({package['license']})"
        print(name)
        for text in texts_of(package):
            users.setdefault(text, []).append(name)
    for text, names in users.items():
        print("\n" + "=" * 100 + "\n" + "\n".join(names) + "\n" + "-" * 100 + "\n" + text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks licences, banned crates and sources of all dependencies against deny.toml.

    python3 scripts/licences.py

The same as `cargo deny check licenses bans sources`, without its build of two minutes; that one also reads the texts of
licences, and the database of advisories. Prints what is wrong, and then exits with 1.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def is_allowed(expression, allowed):
    """Whether an SPDX expression can be met with these licences. A slash is an OR of old."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def either():
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = both() or met
        return met

    def both():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token == "(":
            met = either()
            tokens.pop(0)
            return met
        if tokens and tokens[0] == "WITH":
            token = " ".join([token, tokens.pop(0), tokens.pop(0)])
        return token in allowed

    return either()


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    allowed = set(rules["licenses"]["allow"])
    banned = {rule["name"]: set(rule.get("wrappers", [])) for rule in rules["bans"]["deny"]}
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    wrong = []
    for node in metadata["resolve"]["nodes"]:
        package = packages[node["id"]]
        name = f"{package['name']} {package['version']}"
        if not package["license"] or not is_allowed(package["license"], allowed):
            wrong.append(f"{name}: licence {package['license']} is not in deny.toml")
        if package["source"] not in (None, CRATES_IO):
            wrong.append(f"{name} is from {package['source']}")
        for dependency in node["deps"]:
            used = packages[dependency["pkg"]]["name"]
            if used in banned and package["name"] not in banned[used]:
                wrong.append(f"{name} depends on {used}, which deny.toml bans")
        if package["source"] is None:
            wrong += [f"{name}: any version of {d['name']}" for d in package["dependencies"] if d["req"] == "*" and not d["path"]]
    print("\n".join(sorted(set(wrong))) or f"{len(metadata['resolve']['nodes'])} packages: licences and sources are as in deny.toml")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

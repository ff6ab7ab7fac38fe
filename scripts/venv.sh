#!/usr/bin/env bash
# A virtual environment of Python with the packages of a list: scripts/venv.sh FOLDER LIST. It is made once for each list.
set -euo pipefail
folder=$1 list=$2
cmp -s "$list" "$folder/installed.txt" && exit
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
cp "$list" "$folder/installed.txt"

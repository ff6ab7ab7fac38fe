#!/usr/bin/env bash
# Everything a change must pass: format, lints (benches too), tests in Rust and Python, documentation, licences. The continuous check runs just this.
# What it needs beyond Rust and Python is installed below target/. Tests over the real sites run when they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

# Nothing is built twice there.
[ "${CI:-}" != true ] || export CARGO_INCREMENTAL=0

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# What a developer's machine may lack is an error where CI=true.
skipped() {
    echo "SKIPPED: $1"
    [ "${CI:-}" != true ] || exit 1
}

step "tools"
mkdir -p target/tools
export PATH="$PWD/target/tools/bin:$PATH"
if [ -d ../shared ] && ! python3 -c 'import rapidfuzz' 2>/dev/null; then
    [ -x target/tools/python/bin/python3 ] || python3 -m venv target/tools/python
    export PATH="$PWD/target/tools/python/bin:$PATH"
    python3 -c 'import rapidfuzz' 2>/dev/null || python3 -m pip install --quiet rapidfuzz
fi

has_postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; }
has_chromium() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }

# Packages of the system and of Python, while the lints run.
install_packages() {
    local missing=()
    has_postgres || missing+=(postgresql)
    has_chromium || missing+=(chromium)
    if [ "${#missing[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        timeout 300 apt-get -qq update
        for package in "${missing[@]}"; do
            DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq install -y --no-install-recommends "$package" || true
        done
    fi
    # What fails here is told by the test that needs it.
    scripts/venv.sh target/python python/tests/requirements.txt || true
    scripts/venv.sh target/readers tests/readers.txt || true
}
install_packages >target/tools/install.log 2>&1 &
installing=$!

step "format"
cargo fmt --all --check

step "subjects of commits"
# Since the last tag; where there is none, since this rule.
since=$(git describe --tags --abbrev=0 2>/dev/null || echo b73993d35a0e07bf432825021855ba4402fa0c43)
if git merge-base --is-ancestor "$since" HEAD 2>/dev/null; then
    wrong=$(git log --no-merges --format=%s "$since..HEAD" | awk 'length > 72 || !/^[a-z_]+(, [a-z_]+)*: [a-z]/')
    if [ -n "$wrong" ]; then
        printf '%s\n' "$wrong" 'These subjects are not `area: imperative summary` of at most 72 characters (CONTRIBUTING.md, Commits).'
        exit 1
    fi
fi

step "lints"
# In the profile of the tests: build scripts, which compile C, run once for all steps.
cargo clippy --quiet --profile test --workspace --all-targets --all-features --locked -- -D warnings
cargo clippy --quiet --profile test --workspace --exclude dehusk-python --lib --bins --no-default-features --locked -- -D warnings

step "packages"
wait "$installing" || true
if has_postgres && { [ "$(id -u)" != 0 ] || getent passwd postgres >/dev/null; }; then
    export POSTGRES=1
else
    skipped "tests on PostgreSQL: it is not installed for this user, and apt-get install postgresql was not possible (not root, or see target/tools/install.log)"
fi
if has_chromium && command -v npm >/dev/null; then
    export BROWSER=1
else
    skipped "the inspector in a browser: it needs Chromium and npm (see target/tools/install.log where apt-get was tried)"
fi

step "tests"
# Tests that cannot run say so in this file.
skips="${CARGO_TARGET_DIR:-target}/tmp/skipped.txt"
rm -f "$skips"
export OBJECTS=1 READERS=1 PYTHON=1
! command -v npm >/dev/null || export AZURE=1
run_tests() { cargo test --quiet --workspace --all-features --locked --lib --bins --tests --examples -- "$@"; }
# Tests that measure when requests are sent run first, no more at once than there are cores. The others wait for servers
# and children more than they compute: with half as many again they take two thirds of the time.
timed=(farm:: politeness:: hostile::)
run_tests "${timed[@]}"
RUST_TEST_THREADS=$((($(nproc) * 3 + 1) / 2)) run_tests "${timed[@]/#/--skip=}"
cargo test --quiet --workspace --all-features --locked --doc

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --profile test --workspace --all-features --locked --no-deps

step "licences"
python3 scripts/licences.py

step "workflows"
if command -v npm >/dev/null; then
    scripts/workflows.sh
else
    skipped "the workflows of .github: their checks need npm"
fi

if [ -s "$skips" ]; then
    printf '\nSKIPPED in part or whole: %d tests\n' "$(cut -d: -f1-3 "$skips" | sort -u | wc -l)"
    sort -u "$skips" | sed 's/^/  /'
fi
step "all well"

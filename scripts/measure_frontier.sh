#!/usr/bin/env bash
# A frontier of many hosts on PostgreSQL: scripts/measure_frontier.sh [HOSTS] [URLS-PER-HOST] [FOLDER].
# Starts a server with Debian's settings in a folder of its own and on a free port, loads it, leases from it with eight
# clients, and prints times and the sizes of tables. 1,000,000 hosts of 20 URLs need 15 GB of disk. Needs PostgreSQL;
# run by root, the server runs as the user postgres.
set -euo pipefail
cd "$(dirname "$0")/.."

hosts=${1:-1000000} urls=${2:-20} folder=$(mktemp -d "${3:-/tmp}/dehusk-frontier.XXXXXX")
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$programs" ] || { echo "no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql" >&2; exit 1; }
as_user() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    chown postgres "$folder"
    as_user() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as_user "$programs/initdb" -D "$folder/data" -A trust -U dehusk -E UTF8 --no-locale >/dev/null
as_user "$programs/pg_ctl" -D "$folder/data" -w -l "$folder/log" \
    -o "-k '' -h 127.0.0.1 -p $port -c shared_buffers=512MB -c max_wal_size=4GB" start >/dev/null
trap 'as_user "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null; rm -rf "$folder"' EXIT
sql() { "$programs/psql" -X -h 127.0.0.1 -p "$port" -U dehusk -d "$1" -c "$2"; }

sql postgres "CREATE DATABASE frontier" >/dev/null
cargo bench --quiet --features postgres --bench frontier -- "postgres://dehusk@127.0.0.1:$port/frontier" "$hosts" "$urls"
sql frontier "SELECT relname AS table, reltuples::BIGINT AS rows, pg_size_pretty(pg_table_size(oid)) AS data,
    pg_size_pretty(pg_indexes_size(oid)) AS indexes FROM pg_class
    WHERE relkind = 'r' AND relname IN ('urls', 'sites', 'hosts') ORDER BY pg_total_relation_size(oid) DESC"

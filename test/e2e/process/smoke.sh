#!/usr/bin/env bash
# Tests the installed program with a given Node: a search, a lookup, an error, and a pipe.
# Usage: smoke.sh <node> <restaurant.js>
set -eu
node=$1
restaurant=$2
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home"
r() { "$node" "$restaurant" "$@"; }

"$node" --version
r --version | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$'
r --help | grep -q '^Usage:'
r find Nopa --city SF --demo --json > "$home/find.json"
"$node" -e '
  const { results } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  if (!results[0].address.startsWith("560 Divisadero")) process.exit(1);' "$home/find.json"
r lookup - --demo --fields premium --json < "$home/find.json" | grep -q '"output"'
r find Nopa --city SF --demo | head -n 1 | cut -f 2 | grep -qx 'Nopa'
code=0; r find Nopa --city SF 2> "$home/error.txt" || code=$?
[ "$code" -eq 2 ] && grep -q '^error: no service' "$home/error.txt"
echo "smoke test passed"

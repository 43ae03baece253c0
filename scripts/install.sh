#!/bin/sh
# Installs the restaurant executable from a release, after checking its SHA-256.
#   curl -fsSL <address of this file> | sh
# Variables: VERSION (default: the latest), BIN_DIR (default: ~/.local/bin), FROM (address or folder of the release's files).
set -eu

REPOSITORY=OWNER/restaurant

fail() {
  echo "install: $1" >&2
  exit 1
}

# Name of this platform in the names of the archives.
platform() {
  case "$(uname -m)" in
    x86_64 | amd64) processor=x64 ;;
    arm64 | aarch64) processor=arm64 ;;
    *) fail "no executable for the processor $(uname -m)" ;;
  esac
  case "$(uname -s)" in
    Linux) if ldd --version 2>&1 | grep -qi musl; then echo "linux-$processor-musl"; else echo "linux-$processor"; fi ;;
    Darwin) echo "darwin-$processor" ;;
    MINGW* | MSYS* | CYGWIN*) echo windows-x64 ;;
    *) fail "no executable for $(uname -s)" ;;
  esac
}

# Copies or downloads a file of the release into the current folder.
get() {
  case "$from" in
    http*) curl -fsSL --proto '=https' --tlsv1.2 -o "$1" "$from/$1" || fail "cannot download $from/$1" ;;
    *) cp "$from/$1" . || fail "cannot read $from/$1" ;;
  esac
}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

main() {
  version=${VERSION:-}
  version=${version#v}
  # Part of an address: anything else could lead to another release.
  case "$version" in '' | [0-9]*) ;; *) fail "VERSION must look like 1.2.3" ;; esac
  case "$version" in *[!0-9A-Za-z.-]*) fail "VERSION must look like 1.2.3" ;; esac
  platform=$(platform)
  bin_dir=${BIN_DIR:-$HOME/.local/bin}
  releases=https://github.com/$REPOSITORY/releases
  if [ -n "$version" ]; then default=$releases/download/v$version; else default=$releases/latest/download; fi
  from=${FROM:-$default}
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  case "$from" in http* | /*) ;; *) from=$PWD/$from ;; esac
  case "$bin_dir" in /* | [A-Za-z]:*) ;; *) bin_dir=$PWD/$bin_dir ;; esac
  cd "$temporary"

  get SHA256SUMS
  pattern=$(printf '%s' "$version" | sed 's/\./\\./g')
  [ -n "$version" ] || pattern='[^ ]*'
  line=$(grep -E "  restaurant-$pattern-$platform\.(tar\.gz|zip)$" SHA256SUMS) ||
    fail "the release has no archive for $platform${version:+ of version $version}"
  archive=${line#*  }
  name=${archive%.tar.gz}
  name=${name%.zip}
  get "$archive"
  [ "$(sha256 "$archive")" = "${line%% *}" ] || fail "$archive does not have the SHA-256 in SHA256SUMS; nothing was installed"

  case "$archive" in
    *.zip) unzip -q "$archive" && program=restaurant.exe ;;
    *) tar -xzf "$archive" && program=restaurant ;;
  esac
  about=$("$name/$program" --version) || fail "the program does not start on this machine; nothing was installed"
  mkdir -p "$bin_dir"
  # A running program keeps the old file.
  mv "$name/$program" "$bin_dir/$program.new"
  mv -f "$bin_dir/$program.new" "$bin_dir/$program"
  echo "installed $bin_dir/$program ($about)"
  case ":$PATH:" in *":$bin_dir:"*) ;; *) echo "add $bin_dir to your PATH" ;; esac
}

# Called at the end, so that a partly downloaded script does nothing.
main

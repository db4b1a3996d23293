#!/bin/sh
# Installs the berth client:  curl -fsSL <server>/install.sh | sh
# No root is needed. Run it again at any time: it brings the client to the version of the server.
# BERTH_INSTALL_DIR says where to (~/.local/bin).
set -eu

BASE_URL='http://berth.invalid'
VERSION='0.0.0'
# <platform> <bytes> <sha256>, and both again for its .zst and its .gz
CLIENTS=''

ATTEMPTS=5

main() {
  [ $# = 0 ] || die "this takes no arguments, not \"$1\"" 'set BERTH_INSTALL_DIR to install elsewhere than ~/.local/bin'
  find_platform
  find_client
  find_tools
  choose_folder
  TARGET="$FOLDER/berth"
  if [ -f "$TARGET" ] && [ -x "$TARGET" ] && [ "$(sha256 "$TARGET")" = "$SHA256" ]; then
    say "berth $VERSION is already the newest: $TARGET"
  else
    check_space
    install_client
    say "berth $VERSION is installed: $TARGET"
  fi
  say_path
  say ''
  say 'Next:'
  say "  berth login $BASE_URL"
}

say() { printf '%s\n' "$*"; }

die() {
  printf 'error: %s\n  -> %s\n' "$1" "$2" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

find_platform() {
  kernel="$(uname -s)"
  machine="$(uname -m)"
  case "$kernel" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "berth has no client for $kernel" 'use a machine or a virtual machine with Linux or macOS' ;;
  esac
  case "$machine" in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "berth has no client for $machine processors" 'use a machine with amd64 (x86_64) or arm64' ;;
  esac
  # A shell that macOS translates says x86_64 on Apple's own processors.
  if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then
    arch=arm64
  fi
  PLATFORM="$os-$arch"
}

find_client() {
  line="$(printf '%s\n' "$CLIENTS" | grep "^$PLATFORM " || true)"
  known="$(printf '%s\n' "$CLIENTS" | cut -d ' ' -f 1 | tr '\n' ' ')"
  [ -n "$line" ] ||
    die "this server has no client for $PLATFORM, only for: ${known% }" \
      "ask its operator to add it, on the machine of the server: berth server downloads FROM, where FROM has the clients of berth $VERSION: another server, a release, or dist/downloads of 'bun run build'"
  BYTES="$(field 2)" SHA256="$(field 3)"
}

field() { printf '%s' "$line" | cut -d ' ' -f "$1"; }

find_tools() {
  if have curl; then
    FETCH=curl
  elif have wget; then
    FETCH=wget
  else
    die 'neither curl nor wget is here' 'install one of them, then run this again'
  fi
  if have sha256sum; then
    SUM=sha256sum
  elif have shasum; then
    SUM=shasum
  elif have openssl; then
    SUM=openssl
  else
    die 'nothing here computes SHA-256 checksums' 'install coreutils (sha256sum), perl (shasum) or openssl, then run this again'
  fi
  choose_parcel
}

# The smallest form that can be unpacked here.
choose_parcel() {
  UNPACK='' PARCEL_BYTES="$BYTES" PARCEL_SHA256="$SHA256" SUFFIX=''
  if [ "$(field 4)" != - ] && have zstd; then
    UNPACK=zstd SUFFIX=.zst PARCEL_BYTES="$(field 4)" PARCEL_SHA256="$(field 5)"
  elif [ "$(field 6)" != - ] && have gzip; then
    UNPACK=gzip SUFFIX=.gz PARCEL_BYTES="$(field 6)" PARCEL_SHA256="$(field 7)"
  fi
}

sha256() {
  case "$SUM" in
    sha256sum) sha256sum <"$1" | cut -d ' ' -f 1 ;;
    shasum) shasum -a 256 <"$1" | cut -d ' ' -f 1 ;;
    # Some versions say "SHA2-256(stdin)= " before it.
    openssl) openssl dgst -sha256 <"$1" | sed 's/^.* //' ;;
  esac
}

choose_folder() {
  FOLDER="${BERTH_INSTALL_DIR:-}"
  if [ -z "$FOLDER" ]; then
    [ -n "${HOME:-}" ] || die 'HOME is not set' 'set BERTH_INSTALL_DIR to the folder to install into'
    FOLDER="$HOME/.local/bin"
  fi
  case "$FOLDER" in
    /*) ;;
    *) FOLDER="$PWD/$FOLDER" ;;
  esac
  mkdir -p "$FOLDER" 2>/dev/null || die "cannot make the folder $FOLDER" 'set BERTH_INSTALL_DIR to a folder that you may write to'
  [ -w "$FOLDER" ] || die "you may not write to $FOLDER" 'set BERTH_INSTALL_DIR to a folder that you may write to'
  [ ! -d "$FOLDER/berth" ] || die "$FOLDER/berth is a folder" 'move it away, or set BERTH_INSTALL_DIR to another folder'
}

check_space() {
  needed="$BYTES"
  [ -z "$UNPACK" ] || needed=$((BYTES + PARCEL_BYTES))
  needed=$((needed / 1024 + 1024))
  free="$(df -Pk "$FOLDER" 2>/dev/null | awk 'NR == 2 { print $4 }')"
  case "$free" in
    '' | *[!0-9]*) return 0 ;;
  esac
  [ "$free" -ge "$needed" ] ||
    die "$((free / 1024)) MB are free in $FOLDER, and $((needed / 1024)) MB are needed" 'free some space, or set BERTH_INSTALL_DIR to a folder on another disk'
}

install_client() {
  # Beside the target, so that it can take its place in one step.
  WORK="$(mktemp -d "$FOLDER/.berth-XXXXXX")" || die "cannot write to $FOLDER" 'free some space, or set BERTH_INSTALL_DIR'
  trap 'rm -rf "$WORK"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  parcel="$WORK/berth$SUFFIX"
  download "/dl/berth-$PLATFORM$SUFFIX" "$parcel" "$PARCEL_BYTES" "$PARCEL_SHA256"
  if [ -n "$UNPACK" ]; then
    "$UNPACK" -dc <"$parcel" >"$WORK/berth" || die "cannot unpack the download in $FOLDER" 'is the disk full? Free some space, then run this again'
    check_sum "$WORK/berth" "$SHA256"
  fi
  chmod 755 "$WORK/berth"
  check_runs
  mv -f "$WORK/berth" "$TARGET" || die "cannot replace $TARGET" 'set BERTH_INSTALL_DIR to a folder that you may write to'
  rm -rf "$WORK"
}

# download PATH FILE BYTES SHA256: goes on where a connection broke off.
download() {
  say "Downloading berth $VERSION for $PLATFORM ($(($3 / 1000000)) MB) from $BASE_URL"
  attempt=1
  while :; do
    fetch "$BASE_URL$1" "$2" && break
    # A broken pipe, a full disk: all look alike to us, but not to the file.
    check_space_left "$2" "$3"
    [ "$attempt" -lt "$ATTEMPTS" ] ||
      die "$BASE_URL$1 could not be downloaded${said:+: $said}" 'is the server up, and reachable from here? Then run this again'
    sleep "$attempt"
    attempt=$((attempt + 1))
  done
  check_sum "$2" "$4"
}

# fetch URL FILE: keeps in `said` what went wrong.
fetch() {
  case "$FETCH" in
    curl) said="$(curl -fsSL --connect-timeout 20 --speed-time 60 --speed-limit 1 -C - -o "$2" "$1" 2>&1)" ;;
    wget) said="$(LC_ALL=C wget -c -O "$2" "$1" 2>&1)" ;;
  esac || {
    said="$(printf '%s\n' "$said" | grep . | tail -n 1 | cut -c 1-200)"
    return 1
  }
}

check_space_left() {
  free="$(df -Pk "$FOLDER" 2>/dev/null | awk 'NR == 2 { print $4 }')"
  have_bytes=0
  [ ! -f "$1" ] || have_bytes="$(wc -c <"$1" | tr -d ' ')"
  # Whatever is there already and wrong would be kept for ever by going on from it.
  [ "$have_bytes" -lt "$2" ] || rm -f "$1"
  [ "${free:-1024}" != 0 ] || die "the disk that holds $FOLDER is full" 'free some space, or set BERTH_INSTALL_DIR to a folder on another disk'
}

check_sum() {
  [ "$(sha256 "$1")" = "$2" ] ||
    die 'the download is not what the server announced: its checksum differs' 'run this again: the server may have been upgraded meanwhile. If it persists, tell its operator'
}

check_runs() {
  if reply="$("$WORK/berth" --version 2>&1)"; then
    [ "$reply" = "$VERSION" ] || die "the download says that it is berth $reply, not $VERSION" 'run this again'
    return 0
  fi
  for loader in /lib/ld-musl-*.so.1; do
    [ ! -e "$loader" ] || die 'berth needs the GNU C library, and this system has musl' 'use a system with glibc (Debian, Ubuntu, Fedora and their like), or a container with one'
  done
  die "berth does not run on this system: $(printf '%s' "$reply" | head -n 1)" "is $FOLDER on a disk mounted with noexec? Set BERTH_INSTALL_DIR to another folder"
}

say_path() {
  case ":${PATH:-}:" in
    *":$FOLDER:"*) return 0 ;;
  esac
  say ''
  say "$FOLDER is not in your PATH. Add it:"
  case "${SHELL:-}" in
    */fish) say "  fish_add_path $(quoted "$FOLDER")" ;;
    */zsh) say_profile '.zshrc' ;;
    */bash) if [ "$os" = darwin ]; then say_profile '.bash_profile'; else say_profile '.bashrc'; fi ;;
    *) say_profile '.profile' ;;
  esac
}

say_profile() {
  case "$FOLDER" in
    *[!A-Za-z0-9/._+-]*)
      say "  (in ~/$1, with the quotes that its name needs)"
      return 0
      ;;
  esac
  say "  echo 'export PATH=\"$FOLDER:\$PATH\"' >> ~/$1 && . ~/$1"
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

main "$@"

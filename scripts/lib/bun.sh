# shellcheck shell=bash
# The version of Bun that package.json pins, on PATH; kept in .tools when it has to be fetched.

readonly TOOLS="$ROOT/.tools"

pinned_bun() {
  sed -n 's/.*"packageManager": *"bun@\([^"+]*\).*/\1/p' "$ROOT/package.json"
}

ensure_bun() {
  local version
  version="$(pinned_bun)"
  [[ -n "$version" ]] || die "package.json pins no Bun" 'it needs a line like "packageManager": "bun@1.4.5"'
  ! is_bun "$version" bun || return 0
  if ! is_bun "$version" "$TOOLS/bin/bun"; then
    step "fetching Bun $version"
    bun_from_npm "$version" || bun_from_its_site "$version" || bun_from_debians_npm "$version" ||
      die "could not get Bun $version" "install it yourself and put it on PATH; the tries are in $TOOLS/bun.log"
  fi
  export PATH="$TOOLS/bin:$PATH"
}

# is_bun VERSION PROGRAM: it has to run, because a download or an install script that was held back leaves stubs.
is_bun() {
  [[ "$("$2" --version 2>/dev/null)" == "$1" ]]
}

# The binary comes in a package for each kind of machine, whether or not npm lets bun's install script link it.
bun_from_npm() {
  local version="$1" candidate
  have npm || return 1
  mkdir -p "$TOOLS"
  npm install --prefix "$TOOLS" --no-save --no-audit --no-fund "bun@$version" >>"$TOOLS/bun.log" 2>&1 </dev/null || return 1
  for candidate in "$TOOLS"/node_modules/@oven/bun-linux-*/bin/bun "$TOOLS/node_modules/bun/bin/bun.exe"; do
    ! link_bun "$version" "$candidate" || return 0
  done
  return 1
}

bun_from_its_site() {
  local version="$1"
  ensure_packages curl ca-certificates unzip
  mkdir -p "$TOOLS"
  # Installs under its own directory, and SHELL=sh keeps it from editing the profile of whoever runs this.
  curl --fail --silent --show-error --location --connect-timeout 10 https://bun.sh/install 2>>"$TOOLS/bun.log" |
    SHELL=sh BUN_INSTALL="$TOOLS/bun" bash -s "bun-v$version" >>"$TOOLS/bun.log" 2>&1 || return 1
  link_bun "$version" "$TOOLS/bun/bin/bun"
}

bun_from_debians_npm() {
  ! have npm || return 1
  ensure_packages npm
  bun_from_npm "$1"
}

link_bun() {
  is_bun "$1" "$2" || return 1
  mkdir -p "$TOOLS/bin"
  ln -sf "$2" "$TOOLS/bin/bun"
  ln -sf "$2" "$TOOLS/bin/bunx"
}

# shellcheck shell=bash
# dist/berth: the executable for this machine, compiled when a source is newer than it.

readonly BERTH="$ROOT/dist/berth"

build_berth() {
  bun install --frozen-lockfile >"$ROOT/install.log" 2>&1 || {
    tail -n 20 "$ROOT/install.log" >&2
    die "bun install failed" "is the package registry reachable? The log is install.log"
  }
  rm -f "$ROOT/install.log"
  if [[ -x "$BERTH" && -z "$(find src web package.json bun.lock scripts/build.ts -newer "$BERTH" -print -quit)" ]]; then
    return
  fi
  step "building dist/berth"
  bun run build --host || die "berth does not compile" "correct what the compiler says above"
}

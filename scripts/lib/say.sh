# shellcheck shell=bash
# How the machine scripts speak: one short line per thing done, and failures that name the next step.

say() { printf '%s\n' "$*"; }

step() { printf '› %s\n' "$*"; }

warn() { printf '! %s\n' "$*" >&2; }

# die WHAT NEXT: WHAT went wrong, and the NEXT thing to do about it.
die() {
  printf '✗ %s\n' "$1" >&2
  [[ -z "${2:-}" ]] || printf '  → %s\n' "$2" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

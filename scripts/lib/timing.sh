# shellcheck shell=bash
# Seconds with one decimal, from bash's own clock.

now_ms() { printf '%s' "$((${EPOCHREALTIME/[.,]/} / 1000))"; }

# since START_MS: "12.3 s"
since() {
  local spent=$(($(now_ms) - $1))
  printf '%d.%d s' "$((spent / 1000))" "$((spent % 1000 / 100))"
}

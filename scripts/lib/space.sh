# shellcheck shell=bash
# Room for the tests: their builds leave caches in the engine, and berth itself refuses to build on a disk that is nearly full.

# What a run of all tests takes from images at hand on, and the share of the disk below which berth refuses.
readonly RUN_KB=$((10 * 1024 * 1024)) REFUSED_BELOW_PERCENT=5
readonly CACHE_KEPT=10GB

# Drops the oldest build caches of the engine when the disk has no room for a run.
ensure_space() {
  [[ "$(missing_kb)" -gt 0 ]] || return 0
  step "dropping old build caches: the disk is nearly full"
  docker builder prune --force --keep-storage "$CACHE_KEPT" >/dev/null
  [[ "$(missing_kb)" -le 0 ]] || warn "$(($(missing_kb) / 1024)) MB of disk space are missing for all tests: free some (docker system df tells what the engine holds)"
}

missing_kb() {
  df --output=size,avail -k "$(docker info --format '{{.DockerRootDir}}')" |
    awk -v run="$RUN_KB" -v percent="$REFUSED_BELOW_PERCENT" 'END { print int($1 * percent / 100 + run - $2) }'
}

# shellcheck shell=bash
# Debian and Ubuntu packages, installed only when they are missing.

package_installed() {
  [[ "$(dpkg-query --show --showformat '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]
}

ensure_packages() {
  local package
  local -a missing=()
  for package in "$@"; do
    package_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0

  have apt-get || die "missing on this system: ${missing[*]}" "install them; these scripts know Debian and Ubuntu only"
  [[ "$(id -u)" == 0 ]] || die "missing: ${missing[*]}" "run as root, or: sudo apt-get install ${missing[*]}"
  step "installing ${missing[*]}"
  apt_get update
  apt_get install "${missing[@]}"
}

# Quiet unless it fails. Another apt (unattended upgrades on a fresh server) is waited for.
apt_get() {
  local log
  log="$(mktemp)"
  if ! DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get $* failed" "see its last lines above; is the network up, and are the package sources right?"
  fi
  rm -f "$log"
}

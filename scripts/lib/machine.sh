# shellcheck shell=bash disable=SC2034
# Everything that berth needs of a machine, for the scripts that begin on a fresh one.

SCRIPTS="$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")"
ROOT="$(dirname "$SCRIPTS")"
readonly SCRIPTS ROOT # ROOT: used by the parts

for part in say timing packages docker git bun executable; do
  # shellcheck source=/dev/null
  . "$SCRIPTS/lib/$part.sh"
done

ensure_machine() {
  ensure_packages ca-certificates curl iproute2
  ensure_git
  ensure_docker
  ensure_bun
}

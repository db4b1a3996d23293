#!/bin/sh
# As in the official image: options and a configuration file go to the server, which does not run as root.
set -e

case "${1:-}" in
  -* | *.conf) set -- valkey-server "$@" ;;
esac

if [ "${1:-}" = valkey-server ]; then
  if [ "$(id -u)" = 0 ]; then
    find . \! -user valkey -exec chown valkey '{}' +
    exec setpriv --reuid=valkey --regid=valkey --clear-groups -- "$0" "$@"
  fi
  [ -w . ] || { echo "error: directory is not writable by current user ($(id -u))" >&2; exit 1; }
  # The official image compiles the server with protected mode off by default, Debian with it on.
  shift
  case "${1:-}" in
    '' | -*) set -- valkey-server --protected-mode no "$@" ;;
    *)
      file="$1"
      shift
      if grep -qi '^ *protected-mode' "$file"; then set -- valkey-server "$file" "$@"; else set -- valkey-server "$file" --protected-mode no "$@"; fi
      ;;
  esac
fi

[ "$(umask)" != 0022 ] || umask 0077
# shellcheck disable=SC2086 # several options in one variable
exec "$@" ${VALKEY_EXTRA_FLAGS:-}

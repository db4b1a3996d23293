#!/bin/sh
set -e

# As in the official image: options and Traefik's own commands go to traefik, anything else is run as it is.
if [ "${1#-}" != "$1" ]; then
  set -- traefik "$@"
elif traefik "$1" --help >/dev/null 2>&1; then
  set -- traefik "$@"
else
  echo "= '$1' is not a Traefik command: assuming shell execution." 1>&2
fi

exec "$@"

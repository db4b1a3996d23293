#!/bin/sh
# Installs the client that belongs to the server, deploys, and says where it is live. Runs on GitHub, Gitea, Forgejo, and by hand.
set -eu

: "${SERVICE_ENDPOINT:?the address of the server is missing}"
: "${SERVICE_TOKEN:?the token is missing; secrets are not given to workflows of forks}"
: "${DEPLOY_PROJECT:?the project is missing}"

SERVICE_ENDPOINT="${SERVICE_ENDPOINT%/}"
export SERVICE_ENDPOINT SERVICE_TOKEN

BERTH_INSTALL_DIR="$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/berth-XXXXXX")"
trap 'rm -rf "$BERTH_INSTALL_DIR"' EXIT
export BERTH_INSTALL_DIR

# Into a file, because a pipe would hide that the server did not answer.
if command -v curl >/dev/null 2>&1; then
  curl -fsSL --retry 3 -o "$BERTH_INSTALL_DIR/install.sh" "$SERVICE_ENDPOINT/install.sh"
else
  wget -q -O "$BERTH_INSTALL_DIR/install.sh" "$SERVICE_ENDPOINT/install.sh"
fi
sh "$BERTH_INSTALL_DIR/install.sh" >/dev/null

set -- deploy "${DEPLOY_DIRECTORY:-.}" --project "$DEPLOY_PROJECT" --service "${DEPLOY_SERVICE:-web}" --no-json
if [ -n "${DEPLOY_COMMIT:-}" ]; then set -- "$@" --commit "$DEPLOY_COMMIT"; fi
url="$("$BERTH_INSTALL_DIR/berth" "$@")"

printf 'live at %s\n' "$url"
if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'url=%s\n' "$url" >>"$GITHUB_OUTPUT"; fi

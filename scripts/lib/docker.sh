# shellcheck shell=bash
ensure_docker() { docker version >/dev/null; }

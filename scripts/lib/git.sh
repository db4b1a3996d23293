# shellcheck shell=bash

ensure_git() {
  have git || ensure_packages git
}

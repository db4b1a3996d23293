# shellcheck shell=bash
# The tests in lanes. Builds of examples take processors and network; what waits more than it works runs beside them.

# Measure time, or want the engine, the packet filter or the limits of builds for themselves.
readonly ALONE='^\./test/(e2e/(datastores/)?(builds|build-caches|disk|docker-disk|docker-faults|engine-faults|faults|limits|load|streams|uploads|web/(logs-long|build-log|large))|engines/firewall/iptables|http/sse-load)\.test\.ts$'
# With real engines: containers, databases, git.
readonly ENGINES='^\./test/(engines/(backups|builder-run|datastores|docker|firewall|git|proxy|registry|runtime)|datastores)/'
readonly REAL_BUILDS='^\./test/(e2e/examples/|engines/builder-plan/real-)'
# What users hold in their hands: the dashboard, the client and its tools, installers, upgrades, a move.
readonly HANDS='^\./test/e2e/((install|web)/|(cli|client-library|downloads|mcp|move|upgrade|watching)\.test\.ts$)'

test_files() {
  find ./test -name '*.test.ts' | sort
}

# lane_files NAME
lane_files() {
  case "$1" in
    quick) test_files | grep -Ev "^\./test/e2e/|$REAL_BUILDS|$ENGINES|$ALONE" ;;
    engines) test_files | grep -E "$ENGINES" | grep -Ev "$ALONE" ;;
    builds) test_files | grep -E "$REAL_BUILDS" ;;
    hands) test_files | grep -E "$HANDS" | grep -Ev "$ALONE" ;;
    waiting) test_files | grep -E '^\./test/e2e/' | grep -Ev "$REAL_BUILDS|$ALONE|$HANDS" ;;
    alone) test_files | grep -E "$ALONE" ;;
  esac
}

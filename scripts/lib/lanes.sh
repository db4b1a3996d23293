# shellcheck shell=bash
# The tests in lanes: two of them run at the same time, where neither measures what the other one does.

# Measure time, or want the engine, the packet filter or the limits of builds for themselves.
readonly ALONE='builds|build-caches|disk|docker-disk|docker-faults|engine-faults|faults|limits|load|streams|uploads'
# With real engines: containers, databases, git.
readonly ENGINES='^\./test/(engines/(backups|builder-run|datastores|docker|firewall|git|proxy|registry|runtime)|datastores)/'
readonly REAL_BUILDS='^\./test/(e2e/examples/|engines/builder-plan/real-)'

test_files() {
  find ./test -name '*.test.ts' | sort
}

# lane_files NAME
lane_files() {
  case "$1" in
    quick) test_files | grep -v '^\./test/e2e/' | grep -Ev "$REAL_BUILDS|$ENGINES" ;;
    engines) test_files | grep -E "$ENGINES" ;;
    builds) test_files | grep -E "$REAL_BUILDS" ;;
    waiting) test_files | grep -E '^\./test/e2e/(datastores/)?[^/]+$' | grep -Ev "/($ALONE)\.test\.ts$" ;;
    alone) test_files | grep -E "^\./test/e2e/(datastores/)?($ALONE)\.test\.ts$" ;;
  esac
}

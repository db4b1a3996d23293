# shellcheck shell=bash
# A Docker engine on this machine that answers: installed and started when it is not.

readonly ENGINE_LOG=/var/log/dockerd.log

ensure_docker() {
  use_local_engine
  ! engine_answers || return 0
  install_engine
  ! engine_answers || return 0
  [[ "$(id -u)" == 0 ]] || die "the Docker engine does not answer this user" \
    "run as root, or start Docker and add yourself to the group docker: sudo usermod -aG docker $USER"
  step "starting the Docker engine"
  if [[ "$(</proc/1/comm)" == systemd ]]; then
    start_engine_by_systemd
  else
    start_engine_by_hand
  fi
}

# berth runs apps on the machine that it is on, so an engine elsewhere is of no use to it.
use_local_engine() {
  if [[ "${DOCKER_HOST:-unix://}" != unix://* ]]; then
    warn "DOCKER_HOST=$DOCKER_HOST is another machine's engine: using the local one"
    unset DOCKER_HOST
  elif [[ -n "${DOCKER_HOST:-}" ]] && ! engine_answers; then
    warn "nothing answers at DOCKER_HOST=$DOCKER_HOST: using the local engine"
    unset DOCKER_HOST
  fi
  # Named even where it is the default, because a context chosen by `docker context use` would win otherwise.
  export DOCKER_HOST="${DOCKER_HOST:-unix:///var/run/docker.sock}"
}

engine_answers() {
  have docker && timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# The client alone may be there (a static binary in /usr/local/bin): only dockerd says that an engine is.
install_engine() {
  PATH="$PATH:/usr/sbin:/sbin"
  if ! have dockerd; then
    ensure_packages docker.io iptables ca-certificates
  elif ! have iptables; then
    ensure_packages iptables
  fi
  # Newer Debian has the client in a package of its own.
  have docker || ensure_packages docker-cli
}

start_engine_by_systemd() {
  systemctl enable --now docker >/dev/null 2>&1 || true
  wait_for_engine '' || {
    journalctl --unit docker --no-pager --lines 20 >&2 || true
    die "Docker did not start" "read its log above (journalctl -u docker), then run this again"
  }
}

start_engine_by_hand() {
  local daemon attempt
  for attempt in 1 2; do
    clear_engine_leftovers
    ensure_iptables
    setsid dockerd >>"$ENGINE_LOG" 2>&1 </dev/null &
    daemon=$!
    ! wait_for_engine "$daemon" || return 0
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    # A bridge that a killed engine left half made is in the way of a new one; Docker makes it again.
    [[ "$attempt" == 2 ]] || ip link delete docker0 2>/dev/null || true
  done
  grep -vE 'level=(info|debug)' "$ENGINE_LOG" | tail -n 15 >&2 || true
  die "Docker did not start" "its log is $ENGINE_LOG; correct what its last lines say, then run this again"
}

# wait_for_engine [PID]: up to a minute, less when that process ends.
wait_for_engine() {
  local daemon="$1" deadline=$((SECONDS + 60))
  while ! engine_answers; do
    [[ "$SECONDS" -lt "$deadline" ]] || return 1
    [[ -z "$daemon" ]] || kill -0 "$daemon" 2>/dev/null || return 1
    sleep 0.2
  done
}

# A killed engine leaves pid files whose numbers other processes may have by now; dockerd then refuses to start,
# or waits for a containerd that is none. A containerd that really still runs is taken over by the new engine.
clear_engine_leftovers() {
  if is_running dockerd /var/run/docker.pid; then
    wait_for_engine '' && return 0
    die "a Docker engine runs (pid $(</var/run/docker.pid)) but does not answer" \
      "look at $ENGINE_LOG or journalctl -u docker, stop that process, then run this again"
  fi
  rm -f /var/run/docker.pid
  if ! is_running containerd /var/run/docker/containerd/containerd.pid; then
    rm -f /var/run/docker/containerd/containerd.pid /var/run/docker/containerd/*.sock{,.ttrpc}
  fi
  # A directory here is what a container with this path mounted makes of a missing socket.
  [[ ! -d /var/run/docker.sock ]] || rmdir /var/run/docker.sock
}

is_running() {
  local name="$1" file="$2" pid
  [[ -r "$file" ]] || return 1
  pid="$(<"$file")"
  # A process that was killed and that nobody has waited for keeps its name, but has no executable any more.
  [[ -n "$pid" && "$(readlink "/proc/$pid/exe" 2>/dev/null)" == */"$name"* ]]
}

# Some kernels know only one of the two kinds of iptables.
ensure_iptables() {
  local kind
  ! iptables --table nat --list --numeric >/dev/null 2>&1 || return 0
  for kind in legacy nft; do
    [[ -x "/usr/sbin/iptables-$kind" ]] || continue
    update-alternatives --set iptables "/usr/sbin/iptables-$kind" >/dev/null 2>&1 || continue
    ! iptables --table nat --list --numeric >/dev/null 2>&1 || return 0
  done
  die "iptables does not work on this kernel, and Docker needs it" "try: iptables -t nat -L; are you root, with CAP_NET_ADMIN?"
}

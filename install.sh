#!/bin/sh
# Installs berth on this server, or upgrades it: ./install.sh --help. See docs/operating.md.
set -eu

# Everything goes below this directory instead of /; for tests.
ROOT="${INSTALL_ROOT:-}"
HERE="$(cd "$(dirname "$0")" && pwd)"
BIN="$ROOT/usr/local/bin/berth"
UNIT="$ROOT/etc/systemd/system/berth.service"
DATA="$ROOT/var/lib/berth"
CONFIG="$DATA/berth.toml"
TOKEN_FILE="$DATA/admin-token"

MEMORY_NEEDED_MB=480
MEMORY_WANTED_MB=900
DISK_NEEDED_MB=5120

main() {
  BASE_DOMAIN='' ACME_EMAIL='' YES='' UNINSTALL='' PURGE=''
  read_arguments "$@"
  [ -n "$ROOT" ] || [ "$(id -u)" = 0 ] || die 'this changes the system, and needs root' "run it as root: sudo $0 $*"
  if [ -n "$UNINSTALL" ]; then
    uninstall
  else
    install_berth
  fi
}

usage() {
  cat <<TEXT
Usage: install.sh [flags]

Installs berth on a Debian or Ubuntu server, or upgrades it: from a checkout (berth is built), or beside a berth executable.
Docker is installed when it is missing. State that is there is kept.

  --base-domain DOMAIN  apps answer at <service>--<project>.DOMAIN
  --acme-email ADDRESS  turns HTTPS on: your address at the certificate authority
  --yes                 do not ask
  --uninstall           stop berth and its apps, and remove it; state, volumes and images are kept
  --purge               with --uninstall: remove these too
TEXT
}

read_arguments() {
  while [ $# -gt 0 ]; do
    case "$1" in
      --base-domain=* | --acme-email=*)
        option="${1%%=*}" value="${1#*=}"
        shift
        set -- "$option" "$value" "$@"
        continue
        ;;
      --base-domain)
        BASE_DOMAIN="$(value_of "$@")"
        shift
        ;;
      --acme-email)
        ACME_EMAIL="$(value_of "$@")"
        shift
        ;;
      --yes | -y) YES=1 ;;
      --uninstall) UNINSTALL=1 ;;
      --purge) PURGE=1 ;;
      --help | -h)
        usage
        exit 0
        ;;
      *) die "unknown argument: $1" 'see: install.sh --help' ;;
    esac
    shift
  done
  [ -z "$PURGE" ] || [ -n "$UNINSTALL" ] || die '--purge removes all state, and goes with --uninstall only' 'see: install.sh --help'
  check_form "$BASE_DOMAIN" '[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+' \
    '--base-domain' 'a domain in lower case, such as apps.example.com'
  check_form "$ACME_EMAIL" '[^@[:space:]"\\]+@[^@[:space:]"\\]+' '--acme-email' 'an e-mail address'
}

value_of() {
  [ -n "${2:-}" ] || die "$1 needs a value" 'see: install.sh --help'
  printf '%s' "$2"
}

check_form() {
  [ -z "$1" ] || printf '%s\n' "$1" | grep -Eqx "$2" || die "$3 \"$1\" is not $4" 'correct it, and run this again'
}

# --- install -------------------------------------------------------------------------------------------------------------------------

install_berth() {
  [ -z "$ACME_EMAIL" ] || [ -n "$BASE_DOMAIN" ] || [ "$(setting base_domain localhost)" != localhost ] ||
    die 'no certificate authority gives certificates for localhost' 'add --base-domain with a domain whose DNS points at this machine'
  check_system
  check_memory
  check_disk
  check_ports
  say "This will $([ -x "$BIN" ] && echo upgrade || echo install) berth:"
  if is_checkout; then say "  build       from $HERE"; else say "  executable  $HERE/berth"; fi
  say "  to          $BIN"
  say "  state in    $DATA"
  say "  Docker      $(if docker_answers; then docker version --format 'stays: {{.Server.Version}}'; else echo 'will be installed and started'; fi)"
  if has_systemd; then say "  service     $UNIT"; fi
  confirm

  if is_checkout; then prepare_checkout; else prepare_beside; fi
  install_executable
  mkdir -p "$DATA"
  chmod 700 "$DATA"
  write_config base_domain "$BASE_DOMAIN"
  write_config acme_email "$ACME_EMAIL"
  if has_systemd; then
    write_unit
    start_service
  else
    say_how_to_start
  fi
}

is_checkout() { [ -f "$HERE/package.json" ] && [ -d "$HERE/scripts/lib" ]; }

check_system() {
  case "$(uname -m)" in
    x86_64 | aarch64) ;;
    *) die "berth does not run on $(uname -m)" 'use a machine with amd64 or arm64' ;;
  esac
  # shellcheck source=/dev/null
  system="$(. "$(below_root /etc/os-release)" && printf '%s %s' "$ID" "${ID_LIKE:-}")"
  case " $system " in
    *' debian '* | *' ubuntu '*) ;;
    *) die "this installs on Debian and Ubuntu, not on ${system% }" 'install Docker and start "berth server" by other means: docs/operating.md' ;;
  esac
  is_checkout || [ -x "$HERE/berth" ] || die "there is no berth executable beside $0" 'put it there, or run this in a checkout'
}

check_memory() {
  memory="$(awk '/^MemTotal:/ { print int($2 / 1024) }' "$(below_root /proc/meminfo)")"
  [ "$memory" -ge "$MEMORY_NEEDED_MB" ] ||
    die "this machine has $memory MB of memory; berth, its proxy and its registry need $MEMORY_NEEDED_MB" 'use a larger machine'
  [ "$memory" -ge "$MEMORY_WANTED_MB" ] || warn "$memory MB of memory are enough for berth, but builds may run out of it: add swap"
}

check_disk() {
  place="$DATA"
  while [ ! -e "$place" ]; do place="$(dirname "$place")"; done
  free="$(df -Pm "$place" | awk 'NR == 2 { print $4 }')"
  [ "$free" -ge "$DISK_NEEDED_MB" ] || [ -x "$BIN" ] ||
    die "$free MB are free at $place; images and builds need $DISK_NEEDED_MB" 'free some, or use a larger disk'
}

check_ports() {
  have ss || return 0
  # At an upgrade, berth's own server and containers listen already.
  own="$([ ! -x "$BIN" ] || echo 'traefik|berth|docker-proxy')"
  ports="$(setting http_port 80) $(setting proxy_api_port 4401) $(setting registry_port 4402) $(setting listen 127.0.0.1:4400 | sed 's/.*://')"
  [ -z "$ACME_EMAIL$(setting acme_email '')" ] || ports="$ports $(setting https_port 443)"
  for port in $ports; do
    taken="$(ss -Hltnp "sport = :$port" | grep -Ev "\"(${own:--})\"" | head -n 1)"
    [ -z "$taken" ] || die "port $port is taken: $taken" \
      "stop that program, or choose another port in $CONFIG: docs/operating.md"
  done
}

# setting KEY DEFAULT: from the configuration file.
setting() {
  found="$([ ! -r "$CONFIG" ] || sed -n "s/^$1 *= *\"\{0,1\}\([^\"#]*\)\"\{0,1\}.*/\1/p" "$CONFIG" | tail -n 1 | tr -d ' ')"
  printf '%s' "${found:-$2}"
}

docker_answers() { have docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# Docker, the build tools, dist/berth, and the images where no image registry can be reached.
prepare_checkout() {
  bash -c 'set -euo pipefail; cd "$1"; . scripts/lib/machine.sh; ensure_machine; build_berth; "$SCRIPTS/images/make" core' - "$HERE"
  EXECUTABLE="$HERE/dist/berth"
}

prepare_beside() {
  EXECUTABLE="$HERE/berth"
  docker_answers || install_docker
  have iptables || [ -x /usr/sbin/iptables ] || apt_install iptables
  # Repositories are served by git's own programs.
  have git || apt_install git
}

install_docker() {
  if ! have dockerd && ! [ -x /usr/sbin/dockerd ]; then
    say '› installing Docker'
    apt_install docker.io iptables ca-certificates
  fi
  if has_systemd; then
    systemctl enable --now docker
  fi
  wait_until 60 docker_answers ||
    die 'the Docker engine does not answer' "start it (systemctl start docker, or: dockerd &), then run this again"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@"
}

# The running server keeps its file; the one before stays beside, for a way back.
install_executable() {
  version="$("$EXECUTABLE" --version)" || die "$EXECUTABLE does not run on this machine" 'use the executable for its processor'
  mkdir -p "$(dirname "$BIN")"
  cp "$EXECUTABLE" "$BIN.new"
  chmod 755 "$BIN.new"
  if [ -x "$BIN" ] && ! cmp -s "$BIN" "$BIN.new"; then
    ln -f "$BIN" "$BIN.previous"
  fi
  mv -f "$BIN.new" "$BIN"
  say "› $BIN: $version"
}

# write_config KEY VALUE: sets it, and leaves everything else of the file as it is.
write_config() {
  [ -n "$2" ] || return 0
  touch "$CONFIG"
  chmod 600 "$CONFIG"
  if grep -q "^$1 *=" "$CONFIG"; then
    sed -i "s/^$1 *=.*/$1 = \"$(printf '%s' "$2" | sed 's/[\\/&]/\\&/g')\"/" "$CONFIG"
  else
    printf '%s = "%s"\n' "$1" "$2" >>"$CONFIG"
  fi
}

has_systemd() { [ -d "$ROOT/run/systemd/system" ]; }

# What berth needs as root: Docker's socket, packet filter rules, its own directory, and a look into its apps' sockets.
write_unit() {
  mkdir -p "$(dirname "$UNIT")"
  cat >"$UNIT" <<TEXT
# Written by install.sh, anew at every run: put changes into $CONFIG, or use: systemctl edit berth
[Unit]
Description=berth: source in, live URL out
Wants=network-online.target docker.service
After=network-online.target docker.service

[Service]
ExecStart=$BIN server --data-dir $DATA --token-file $TOKEN_FILE
# The first token is printed there; the log goes to the journal.
StandardOutput=null
Restart=always
RestartSec=1
TimeoutStopSec=60
LimitNOFILE=65536
OOMScoreAdjust=-500
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_CHOWN CAP_FOWNER CAP_DAC_OVERRIDE CAP_SYS_PTRACE
ProtectSystem=strict
ReadWritePaths=$DATA /run
ProtectHome=yes
PrivateTmp=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes

[Install]
WantedBy=multi-user.target
TEXT
}

start_service() {
  systemctl daemon-reload
  systemctl enable berth
  systemctl restart berth
  say '› waiting for the server'
  wait_until 90 server_answers ||
    die 'the server does not answer' "its log: journalctl -u berth; what may be wrong: $BIN doctor --data-dir $DATA"
  say_how_to_go_on
}

server_answers() { "$BIN" doctor --no-server --endpoint "http://$(setting listen 127.0.0.1:4400)" >/dev/null 2>&1; }

say_how_to_start() {
  say ''
  say 'systemd does not run here, so nothing was started. Start the server with:'
  say "  setsid nohup $BIN server --data-dir $DATA --token-file $TOKEN_FILE >/dev/null 2>>$ROOT/var/log/berth.log </dev/null &"
  [ ! -e "$DATA/server.lock" ] || say 'A server that ran before this upgrade has to be stopped first (kill <its process>); apps keep serving meanwhile.'
  say_how_to_go_on
}

say_how_to_go_on() {
  domain="$(setting base_domain localhost)"
  say ''
  say "berth is installed. Its API is at http://$(setting listen 127.0.0.1:4400) on this machine."
  say "  admin token   $TOKEN_FILE (copy it, then delete the file)"
  say "  check         $BIN doctor --data-dir $DATA"
  if [ "$domain" = localhost ]; then
    say '  a domain      ./install.sh --base-domain apps.example.com --acme-email you@example.com'
  else
    say "  DNS           records $domain and *.$domain have to point at this machine"
    say "  log in        berth login $([ -z "$(setting acme_email '')" ] && echo http || echo https)://$domain"
  fi
}

# --- uninstall -----------------------------------------------------------------------------------------------------------------------

uninstall() {
  say 'This will stop berth and every app that it runs, and remove it.'
  if [ -n "$PURGE" ]; then
    say "Its state in $DATA, all images of the apps and all their volumes will be DELETED."
  else
    say "State ($DATA), volumes and images are kept: a new installation goes on with them."
  fi
  confirm
  if has_systemd && [ -e "$UNIT" ]; then
    systemctl disable --now berth
  fi
  refuse_while_running
  remove_docker_objects
  rm -f "$UNIT" "$BIN" "$BIN.previous" "$BIN.new"
  if has_systemd; then systemctl daemon-reload; fi
  if [ -n "$PURGE" ]; then rm -rf "$DATA"; fi
  say 'berth is removed. Docker is kept.'
}

refuse_while_running() {
  [ -r "$DATA/server.lock" ] || return 0
  pid="$(cut -d' ' -f1 "$DATA/server.lock")"
  case "$(readlink "/proc/$pid/exe" 2>/dev/null || true)" in
    # With " (deleted)" after an upgrade.
    "$BIN"*) die "a berth server still runs (process $pid)" "stop it: kill $pid, then run this again" ;;
  esac
}

# Only what carries the label of this installation, which its containers with a mount of the data directory tell.
remove_docker_objects() {
  docker_answers || die 'the Docker engine does not answer' 'start it, so that the apps can be stopped, then run this again'
  instance=''
  for id in $(docker ps -aq --filter label=dev.berth.instance); do
    docker inspect --format '{{range .Mounts}}{{println .Source}}{{end}}' "$id" | grep -q "^$DATA/" || continue
    instance="$(docker inspect --format '{{index .Config.Labels "dev.berth.instance"}}' "$id")"
  done
  if [ -z "$instance" ]; then
    say '› there are no containers of this installation'
    return 0
  fi
  label="label=dev.berth.instance=$instance"
  docker ps -aq --filter "$label" | xargs -r docker rm -f >/dev/null
  docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null
  if [ -n "$PURGE" ]; then
    docker volume ls -q --filter "$label" | xargs -r docker volume rm >/dev/null
    docker images -aq --filter "$label" | sort -u | xargs -r docker rmi -f >/dev/null
  fi
  chains="BERTH-$(printf '%s' "$instance" | tail -c 4 | tr '[:lower:]' '[:upper:]')"
  remove_firewall "$chains" iptables
  remove_firewall "$chains" ip6tables
}

# remove_firewall PREFIX PROGRAM
remove_firewall() {
  have "$2" || return 0
  rules="$("$2" -w 5 -S 2>/dev/null || true)"
  printf '%s\n' "$rules" | grep -E -- " -j $1-(INPUT|FORWARD)\$" | sed 's/^-A/-D/' | xargs -r -L 1 "$2" -w 5
  for chain in "$1-INPUT" "$1-FORWARD"; do
    printf '%s\n' "$rules" | grep -qx -- "-N $chain" || continue
    "$2" -w 5 -F "$chain"
    "$2" -w 5 -X "$chain"
  done
}

# --- kit -----------------------------------------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }

warn() { printf '! %s\n' "$*" >&2; }

die() {
  printf '✗ %s\n  → %s\n' "$1" "$2" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# The file of this name below the root that is installed to, where it has one.
below_root() { if [ -e "$ROOT$1" ]; then printf '%s' "$ROOT$1"; else printf '%s' "$1"; fi; }

# wait_until SECONDS COMMAND…
wait_until() {
  left="$1"
  shift
  until "$@"; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1))
    sleep 1
  done
}

confirm() {
  [ -z "$YES" ] || return 0
  [ -t 0 ] || die 'there is nobody to ask' 'add --yes'
  printf 'Go on? [y/N] '
  read -r answer
  case "$answer" in
    y | Y | yes) ;;
    *) die 'stopped: nothing was changed' 'run it again whenever you like' ;;
  esac
}

main "$@"

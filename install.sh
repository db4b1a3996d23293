#!/bin/sh
# Installs berth on this server, or upgrades it; install.sh --help says more, docs/operating.md all.
# shellcheck disable=SC2317 # wait_until calls functions by their names
#   curl -fsSL <folder>/install.sh | sh -s -- --from <folder>/ --base-domain apps.example.com --acme-email you@example.com
set -eu

# Everything goes below this directory instead of /; for tests.
ROOT="${INSTALL_ROOT:-}"
# Empty when this is read from a pipe.
HERE="$(case "$0" in *install.sh) cd "$(dirname "$0")" && pwd ;; esac)"
# What people call; a link to the executable, whose folder is its own, so that the server may take back an upgrade that failed.
BIN="$ROOT/usr/local/bin/berth"
HOME_DIR="$ROOT/usr/local/lib/berth"
EXECUTABLE="$HOME_DIR/berth"
UNIT="$ROOT/etc/systemd/system/berth.service"
DATA="$ROOT/var/lib/berth"
CONFIG="$DATA/berth.toml"
TOKEN_FILE="$DATA/admin-token"
# Which containers are this installation's, for a purge after they are gone.
INSTANCE_FILE="$DATA/uninstalled-instance"

MEMORY_NEEDED_MB=480
MEMORY_WANTED_MB=900
DISK_NEEDED_MB=5120
# Docker 20.10.
DOCKER_API_NEEDED=41
# The first start fetches the images of the proxy and the registry.
START_SECONDS=300
HTTPS_SECONDS=90

main() {
  FROM='' SHA256='' RESTORE='' KEY_FILE='' BASE_DOMAIN='' ACME_EMAIL='' YES='' UNINSTALL='' PURGE=''
  read_arguments "$@"
  [ -n "$ROOT" ] || [ "$(id -u)" = 0 ] || die 'this changes the system, and needs root' \
    "$(if [ -n "$HERE" ]; then echo "run it as root: sudo $0 $*"; else echo "pipe it into: sudo sh -s -- $*"; fi)"
  take_turn
  if [ -n "$UNINSTALL" ]; then
    uninstall
  else
    install_berth
  fi
}

usage() {
  cat <<TEXT
Usage: install.sh [flags]

Installs berth on a server with Debian, Ubuntu, Fedora or one like them, or upgrades it. Docker is installed when it is missing, and
kept when it is there; so are state and settings. The executable comes from --from, else from beside this script, else it is
built from the checkout that this script lies in.

  --from URL|FILE       the executable; a URL that ends with / is a folder with berth-linux-amd64, berth-linux-arm64 and their .sha256
  --sha256 SUM          what the executable's checksum must be; needed when --from is plain http
  --base-domain DOMAIN  apps answer at <service>--<project>.DOMAIN
  --acme-email ADDRESS  turns HTTPS on: your address at the certificate authority
  --restore FILE        begin with the state of another server: what "berth state backup" made there
  --key-file FILE       with --restore: the key that the file is encrypted for
  --yes                 do not ask; what flags do not say stays as it is
  --uninstall           stop berth and its apps, and remove it; state, volumes and images are kept
  --purge               with --uninstall: remove these too
TEXT
}

read_arguments() {
  while [ $# -gt 0 ]; do
    case "$1" in
      --from=* | --sha256=* | --restore=* | --key-file=* | --base-domain=* | --acme-email=*)
        option="${1%%=*}" value="${1#*=}"
        shift
        set -- "$option" "$value" "$@"
        continue
        ;;
      --from)
        FROM="$(value_of "$@")"
        shift
        ;;
      --sha256)
        SHA256="$(value_of "$@")"
        shift
        ;;
      --restore)
        RESTORE="$(value_of "$@")"
        shift
        ;;
      --key-file)
        KEY_FILE="$(value_of "$@")"
        shift
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
  [ -z "$RESTORE" ] || [ -r "$RESTORE" ] || die "there is no file $RESTORE" 'copy it to this machine: berth state backup made it on the other one'
  [ -z "$RESTORE" ] || [ ! -e "$DATA/berth.db" ] || die "there is a state in $DATA already, so none is restored" \
    'to give it up: --uninstall --purge, then run this again; to put another in its place: berth state restore'
  [ -z "$KEY_FILE" ] || [ -n "$RESTORE" ] || die '--key-file goes with --restore only' 'see: install.sh --help'
  check_form "$BASE_DOMAIN" "$DOMAIN_FORM" '--base-domain' "$DOMAIN_WORDS"
  check_form "$ACME_EMAIL" "$EMAIL_FORM" '--acme-email' "$EMAIL_WORDS"
  check_form "$SHA256" '[0-9a-f]{64}' '--sha256' '64 hex digits in lower case'
}

DOMAIN_FORM='[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+'
DOMAIN_WORDS='a domain in lower case, such as apps.example.com'
EMAIL_FORM='[^@[:space:]"\\]+@[^@[:space:]"\\]+'
EMAIL_WORDS='an e-mail address'

value_of() {
  [ -n "${2:-}" ] || die "$1 needs a value" 'see: install.sh --help'
  printf '%s' "$2"
}

# has_form VALUE PATTERN: the whole value, line breaks included.
has_form() { [ "$(printf '%s' "$1" | grep -c '')" -le 1 ] && printf '%s\n' "$1" | grep -Eqx "$2"; }

# check_form VALUE PATTERN NAME WORDS
check_form() { [ -z "$1" ] || has_form "$1" "$2" || die "$3 \"$1\" is not $4" 'correct it, and run this again'; }

# Two runs at a time would undo each other's work; a lock of one that was killed is free.
take_turn() {
  have flock || return 0
  mkdir -p "$ROOT/run"
  exec 9>"$ROOT/run/berth-install.lock"
  flock -n 9 || die 'another run of install.sh is under way' 'wait for its end, then run this again'
}

# --- install -------------------------------------------------------------------------------------------------------------------------

install_berth() {
  check_system
  check_kernel
  check_memory
  check_disk
  check_docker
  choose_source
  ask_settings
  DOMAIN="${BASE_DOMAIN:-$(setting base_domain localhost)}"
  EMAIL="${ACME_EMAIL:-$(setting acme_email '')}"
  [ -z "$EMAIL" ] || [ "$DOMAIN" != localhost ] ||
    die 'no certificate authority gives certificates for localhost' 'add --base-domain with a domain whose DNS points at this machine'
  check_ports
  check_dns
  check_clock
  check_firewall
  say_plan
  confirm

  RESTART=''
  prepare
  install_executable
  restore_state
  prepare_data
  if has_systemd; then
    write_unit
    start_service
  else
    say_how_to_start
  fi
  take_clients
}

say_plan() {
  say ''
  say "This will $([ -x "$BIN" ] && echo upgrade || echo install) berth:"
  if [ "$FROM" = checkout ]; then say "  build       from $HERE"; else say "  executable  $FROM"; fi
  say "  to          $BIN"
  say "  state in    $DATA"
  say "  Docker      $(if docker_answers; then echo "stays: $(docker version --format '{{.Server.Version}}')"; else echo 'will be installed and started'; fi)"
  say "  apps at     $([ -n "$EMAIL" ] && echo https || echo http)://<service>--<project>.$DOMAIN"
  if has_systemd; then say "  service     $UNIT"; fi
}

# --- checks --------------------------------------------------------------------------------------------------------------------------

check_system() {
  case "$(uname -m)" in
    x86_64) ARCH=amd64 ;;
    aarch64) ARCH=arm64 ;;
    *) die "berth does not run on $(uname -m)" 'use a machine with amd64 or arm64' ;;
  esac
  release="$(below_root /etc/os-release)"
  [ -r "$release" ] || die 'this system does not say what it is: there is no /etc/os-release' 'use Debian, Ubuntu, Fedora or one like them'
  # shellcheck source=/dev/null
  system="$(. "$release" && printf '%s %s' "$ID" "${ID_LIKE:-}")"
  # shellcheck source=/dev/null
  SYSTEM_NAME="$(. "$release" && printf '%s' "${PRETTY_NAME:-$ID}")"
  SYSTEM_ID="${system%% *}"
  case " $system " in
    *' debian '* | *' ubuntu '*) PACKAGES=apt ;;
    *' fedora '* | *' rhel '* | *' centos '*) PACKAGES=dnf ;;
    *) die "this installs on Debian, Ubuntu, Fedora and their like, not on ${system% }" \
      'install Docker and start "berth server" by other means: docs/operating.md' ;;
  esac
  say "› $SYSTEM_NAME, $ARCH"
}

check_kernel() {
  kernel="$(uname -r)"
  major="${kernel%%.*}" rest="${kernel#*.}"
  minor="${rest%%[!0-9]*}"
  [ "$major" -gt 5 ] || { [ "$major" = 5 ] && [ "$minor" -ge 1 ]; } ||
    warn "the kernel is $kernel: berth is made for 5.1 and later" 'upgrade the system if berth does not start'
  groups="$(cat "$(below_root /sys/fs/cgroup/cgroup.controllers)" 2>/dev/null || awk '$4 == 1 { print $1 }' /proc/cgroups 2>/dev/null || true)"
  for controller in memory cpu pids; do
    printf '%s\n' "$groups" | grep -qw "$controller" ||
      warn "this kernel does not limit $controller: one app could take all of it" \
        'switch the control group on (on Debian: cgroup_enable=memory on the kernel command line), and start the machine again'
  done
}

check_memory() {
  memory="$(awk '/^MemTotal:/ { print int($2 / 1024) }' "$(below_root /proc/meminfo)")"
  [ "$memory" -ge "$MEMORY_NEEDED_MB" ] ||
    die "this machine has $memory MB of memory; berth, its proxy and its registry need $MEMORY_NEEDED_MB" 'use a larger machine'
  [ "$memory" -ge "$MEMORY_WANTED_MB" ] || warn "$memory MB of memory are enough for berth, but builds may run out of it" 'add swap, or memory'
}

check_disk() {
  for place in "$DATA" "$ROOT/var/lib/docker"; do
    while [ ! -e "$place" ]; do place="$(dirname "$place")"; done
    free="$(df -Pm "$place" | awk 'NR == 2 { print $4 }')"
    [ "$free" -ge "$DISK_NEEDED_MB" ] || [ -x "$BIN" ] ||
      die "$free MB are free at $place; images and builds need $DISK_NEEDED_MB" 'free some, or use a larger disk'
  done
}

# What answers to the name of Docker may be something else.
check_docker() {
  DOCKER_HOST="unix://$(setting docker_socket /var/run/docker.sock)"
  export DOCKER_HOST
  have docker || return 0
  case "$(readlink -f "$(command -v docker)")" in
    */snap/* | */snap) die 'Docker is here as a snap, which keeps containers away from /var/lib/berth' \
      'save what its containers hold, then: snap remove docker; this installs another one' ;;
  esac
  case "$(docker --version 2>&1)" in
    *[Pp]odman*) die 'the command docker is podman here, and berth needs the Docker engine' \
      "remove the package podman-docker ($([ "$PACKAGES" = apt ] && echo apt-get || echo dnf) remove podman-docker), then run this again" ;;
  esac
  docker_answers || return 0
  api="$(docker version --format '{{.Server.APIVersion}}')"
  [ "${api%%.*}" -gt 1 ] || [ "${api#*.}" -ge "$DOCKER_API_NEEDED" ] ||
    die "Docker $(docker version --format '{{.Server.Version}}') is too old for berth" 'upgrade Docker to 20.10 or later, then run this again'
}

check_ports() {
  # At an upgrade, berth's own server and containers listen already.
  own="$([ ! -x "$BIN" ] || echo 'traefik|berth|docker-proxy')"
  ports="$(setting http_port 80) $(setting proxy_api_port 4401) $(setting registry_port 4402) $(setting listen 127.0.0.1:4400 | sed 's/.*://')"
  [ -z "$EMAIL" ] || ports="$ports $(setting https_port 443)"
  for port in $ports; do
    taken="$(listeners "$port" | grep -Evx "(${own:--})( .*)?" | head -n 1 || true)"
    [ -z "$taken" ] || die "port $port is taken by $taken" \
      "stop that program (systemctl disable --now <its service>), or choose another port in $CONFIG: docs/operating.md"
  done
}

# listeners PORT: "nginx (process 123)", a line each.
listeners() {
  if have ss; then
    ss -Hltnp "sport = :$1" | sed 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1 (process \2)/; t; s/.*/another program/'
  else
    # Without iproute2: the kernel's own table, where 0A is LISTEN.
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
      awk -v port="$(printf ':%04X' "$1")" '$4 == "0A" && substr($2, length($2) - 4) == port { print "another program"; exit }'
  fi
}

# What is wrong here can be corrected later too, so it stops nothing; it says which certificates there can be now.
check_dns() {
  DNS_LEADS_HERE=1
  [ "$DOMAIN" != localhost ] || return 0
  own="$(own_addresses)"
  for name in "$DOMAIN" "berth-doctor.$DOMAIN"; do
    shown="$([ "$name" = "$DOMAIN" ] && echo "$DOMAIN" || echo "*.$DOMAIN")"
    found="$(getent ahosts "$name" | awk '{ print $1 }' | sort -u)"
    if [ -z "$found" ]; then
      DNS_LEADS_HERE=''
      warn "$shown is not known to DNS" "create a record: $shown A $(main_address)"
    elif foreign="$(printf '%s\n' "$found" | grep -Fvx "$own" | tr '\n' ' ')" && [ -n "$foreign" ]; then
      DNS_LEADS_HERE=''
      warn "$shown leads to ${foreign% }, which is no address of this machine" \
        "correct the record ($shown A $(main_address)); behind NAT that may be right"
    fi
  done
}

# Of the way to the internet; nothing is sent.
main_address() { { ip -4 route get 192.0.2.1 2>/dev/null || ip -o address show scope global; } | sed -n 's/.* \(src\|inet\) \([0-9.]*\).*/\2/p' | head -n 1; }

own_addresses() {
  if have ip; then
    ip -o address show scope global | awk '{ sub("/.*", "", $4); print $4 }'
  else
    hostname -I | tr ' ' '\n' | grep .
  fi
}

check_clock() {
  have timedatectl && has_systemd || return 0
  [ "$(timedatectl show --property=NTPSynchronized --value 2>/dev/null)" != no ] ||
    warn 'the clock of this machine is not synchronised: certificates depend on it' 'timedatectl set-ntp true'
}

# Ports are opened by their owner, who knows what else the firewall is for.
check_firewall() {
  ports="$(setting http_port 80)$([ -z "$EMAIL" ] || printf ' %s' "$(setting https_port 443)")"
  if have ufw && ufw status 2>/dev/null | grep -q '^Status: active'; then
    for port in $ports; do
      ufw status | grep -Eq "(^|,)$port(,[0-9,]*)?(/tcp)? +ALLOW|^(Nginx|Apache|WWW) Full" ||
        warn "the firewall (ufw) keeps port $port closed" "ufw allow $port/tcp"
    done
  elif have firewall-cmd && firewall-cmd --state >/dev/null 2>&1; then
    for port in $ports; do
      firewall-cmd --query-port="$port/tcp" >/dev/null 2>&1 ||
        { [ "$port" = 80 ] && firewall-cmd --query-service=http >/dev/null 2>&1; } ||
        { [ "$port" = 443 ] && firewall-cmd --query-service=https >/dev/null 2>&1; } ||
        warn "the firewall (firewalld) keeps port $port closed" "firewall-cmd --permanent --add-port=$port/tcp && firewall-cmd --reload"
    done
  fi
}

# --- settings ------------------------------------------------------------------------------------------------------------------------

# What no flag and no earlier run said. Empty answers are fine.
ask_settings() {
  [ -z "$YES$RESTORE" ] && has_terminal || return 0
  if [ -z "$BASE_DOMAIN" ] && [ -z "$(setting base_domain '')" ]; then
    BASE_DOMAIN="$(ask_for 'Domain of the apps, such as apps.example.com (empty: localhost)' "$DOMAIN_FORM" "$DOMAIN_WORDS")"
  fi
  [ -n "$BASE_DOMAIN" ] && [ -z "$ACME_EMAIL" ] && [ -z "$(setting acme_email '')" ] || return 0
  ACME_EMAIL="$(ask_for 'E-mail address for certificates (empty: no HTTPS)' "$EMAIL_FORM" "$EMAIL_WORDS")"
}

# ask_for QUESTION PATTERN WORDS
ask_for() {
  while :; do
    printf '%s: ' "$1" >/dev/tty
    read -r answer </dev/tty || return 0
    [ -n "$answer" ] || return 0
    has_form "$answer" "$2" && break
    printf '"%s" is not %s\n' "$answer" "$3" >/dev/tty
  done
  printf '%s' "$answer"
}

# setting KEY DEFAULT: from the configuration file.
setting() {
  found="$([ ! -r "$CONFIG" ] || sed -n "s/^$1 *= *\"\{0,1\}\([^\"#]*\)\"\{0,1\}.*/\1/p" "$CONFIG" | tail -n 1 | tr -d ' ')"
  printf '%s' "${found:-$2}"
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

# Before the first start, so that nothing of a new installation is in the way.
restore_state() {
  [ -n "$RESTORE" ] || return 0
  say "› restoring $RESTORE"
  set -- state restore "$RESTORE" --data-dir "$DATA" --force
  [ -z "$KEY_FILE" ] || set -- "$@" --key-file "$KEY_FILE"
  "$BIN" "$@" >/dev/null 9>&- || die 'the state was not restored' 'correct what is said above, then run this again'
  DOMAIN="${BASE_DOMAIN:-$(setting base_domain localhost)}"
  EMAIL="${ACME_EMAIL:-$(setting acme_email '')}"
}

prepare_data() {
  mkdir -p "$DATA"
  chmod 700 "$DATA"
  settings="$(cat "$CONFIG" 2>/dev/null || true)"
  write_config base_domain "$BASE_DOMAIN"
  write_config acme_email "$ACME_EMAIL"
  [ "$settings" = "$(cat "$CONFIG" 2>/dev/null || true)" ] || RESTART=1
  rm -f "$INSTANCE_FILE"
  # What SELinux lets containers mount; files made later inherit it.
  if have selinuxenabled && selinuxenabled; then chcon -R -t container_file_t "$DATA"; fi
}

# --- Docker and tools ----------------------------------------------------------------------------------------------------------------

docker_answers() { have docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

prepare() {
  if [ "$FROM" = checkout ]; then
    # Docker, the build tools, dist/berth, and the images where no image registry can be reached.
    bash -c 'set -euo pipefail; cd "$1"; . scripts/lib/machine.sh; ensure_machine; build_berth; "$SCRIPTS/images/make" core' - "$HERE" 9>&-
    return
  fi
  # Repositories are served by git's own programs; the firewall is set by iptables.
  missing=''
  for tool in git iptables; do has_tool "$tool" || missing="$missing $tool"; done
  have curl || have wget || missing="$missing curl"
  # shellcheck disable=SC2086 # a list of names
  [ -z "$missing" ] || install_packages $missing ca-certificates
  docker_answers || install_docker
}

install_docker() {
  if ! has_tool dockerd; then
    case "$PACKAGES" in
      apt) install_packages docker.io iptables ca-certificates ;;
      dnf) install_docker_by_dnf ;;
    esac
  fi
  # Newer distributions have the client in a package of its own.
  have docker || install_packages docker-cli
  # Its packages have done so already, where they are what they should be.
  if has_systemd && ! docker_answers; then ask_systemd enable --now docker || true; fi
  wait_until 60 docker_answers ||
    die 'the Docker engine does not answer' 'see why (journalctl -u docker), start it (systemctl start docker, or: dockerd &), then run this again'
}

# Fedora and Amazon Linux have Docker; Red Hat's distributions have podman under that name, so Docker's own packages are taken there.
install_docker_by_dnf() {
  case "$SYSTEM_ID" in
    fedora) install_packages moby-engine ;;
    amzn) install_packages docker ;;
    *)
      repository="$ROOT/etc/yum.repos.d/docker-ce.repo"
      [ -e "$repository" ] || write_docker_repository "$repository"
      install_packages docker-ce docker-ce-cli containerd.io
      ;;
  esac
}

write_docker_repository() {
  place="https://download.docker.com/linux/$([ "$SYSTEM_ID" = rhel ] && echo rhel || echo centos)"
  mkdir -p "$(dirname "$1")"
  cat >"$1" <<TEXT
[docker-ce-stable]
name=Docker CE Stable
baseurl=$place/\$releasever/\$basearch/stable
enabled=1
gpgcheck=1
gpgkey=$place/gpg
TEXT
}

install_packages() {
  say "› installing $*"
  log="$(mktemp)"
  if ! packages "$@" >"$log" 2>&1 </dev/null 9>&-; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    die "cannot install $*" 'correct what is said above (is the network up, are the package sources right?), then run this again'
  fi
  rm -f "$log"
}

packages() {
  case "$PACKAGES" in
    apt)
      export DEBIAN_FRONTEND=noninteractive
      # After an installation that was cut off.
      dpkg --configure -a &&
        apt-get -q -o DPkg::Lock::Timeout=300 update &&
        apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@"
      ;;
    dnf) dnf -q -y install "$@" ;;
  esac
}

# --- the executable ------------------------------------------------------------------------------------------------------------------

is_checkout() { [ -n "$HERE" ] && [ -f "$HERE/package.json" ] && [ -d "$HERE/scripts/lib" ]; }

# Sets FROM: a URL, a file, or the word checkout.
choose_source() {
  case "$FROM" in
    http://* | https://*)
      case "$FROM" in */) FROM="${FROM}berth-linux-$ARCH" ;; esac
      case "$FROM" in
        https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
        *) [ -n "$SHA256" ] || die "whatever comes from $FROM could be changed on its way" 'use https, or add --sha256 with the checksum of the executable' ;;
      esac
      ;;
    '')
      if is_checkout; then
        FROM=checkout
      elif [ -n "$HERE" ] && [ -x "$HERE/berth" ]; then
        FROM="$HERE/berth"
      else
        die 'there is no berth executable beside this script' 'say where one is: --from URL|FILE, such as --from https://downloads.example.com/'
      fi
      ;;
    *) [ -f "$FROM" ] || die "there is no file $FROM" 'say where the executable is: --from URL|FILE' ;;
  esac
}

# Into place in one step. The running server keeps its file; the one before stays beside, for a way back.
install_executable() {
  mkdir -p "$(dirname "$BIN")" "$HOME_DIR"
  staged="$EXECUTABLE.download"
  trap 'rm -f "$staged" "$staged.sha256"' EXIT
  obtain "$staged"
  chmod 755 "$staged"
  version="$("$staged" --version 2>&1)" || die "$FROM does not run on this machine: $version" "use the executable for $ARCH (its processor needs AVX2 on amd64)"
  if ! [ -x "$EXECUTABLE" ]; then
    mv -f "$staged" "$EXECUTABLE"
  elif ! cmp -s "$EXECUTABLE" "$staged"; then
    exchange_executable
  fi
  ln -sf "$EXECUTABLE" "$BIN"
  say "› $BIN: $version"
}

# A server that runs exchanges it itself, and takes it back when the new one is not well.
exchange_executable() {
  upgrading="$("$EXECUTABLE" server upgrade --help 2>/dev/null || true)"
  if has_systemd && ask_systemd is-active berth && printf '%s' "$upgrading" | grep -q 'berth server upgrade'; then
    say '› upgrading the server; the apps go on serving'
    set -- server upgrade "$staged" --data-dir "$DATA"
    # They come at the end, from where this knows.
    if printf '%s' "$upgrading" | grep -q -- --no-clients; then set -- "$@" --no-clients; fi
    "$EXECUTABLE" "$@" >/dev/null 9>&- ||
      die 'the server was not upgraded, and goes on as it was' 'correct what is said above, then run this again; its log: journalctl -u berth'
  else
    ln -f "$EXECUTABLE" "$EXECUTABLE.previous"
    mv -f "$staged" "$EXECUTABLE"
    RESTART=1
  fi
}

# obtain FILE: the executable, with its checksum verified.
obtain() {
  case "$FROM" in
    checkout) cp "$HERE/dist/berth" "$1" ;;
    http://* | https://*)
      say "› downloading $FROM"
      fetch "$FROM" "$1" || die "cannot download $FROM" 'check the address and the network, then run this again'
      if [ -z "$SHA256" ]; then
        fetch "$FROM.sha256" "$1.sha256" || die "there is no checksum at $FROM.sha256" 'add --sha256 with the checksum of the executable'
        SHA256="$(cut -d' ' -f1 "$1.sha256" | tr '[:upper:]' '[:lower:]')"
      fi
      ;;
    *) cp "$FROM" "$1" ;;
  esac
  [ -z "$SHA256" ] || [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$SHA256" ] ||
    die "$FROM is damaged, or another one than you want: its checksum is not $SHA256" 'run this again; if it stays so, ask who publishes it'
}

# fetch URL FILE
fetch() {
  if have curl; then
    curl --fail --silent --show-error --location --compressed --connect-timeout 20 --retry 3 --output "$2" "$1"
  else
    wget -q --timeout=20 --tries=4 -O "$2" "$1"
  fi
}

# --- the service ---------------------------------------------------------------------------------------------------------------------

has_systemd() { [ -d "$ROOT/run/systemd/system" ]; }

# Without the lock of this run, which nothing that is started may hold.
ask_systemd() { systemctl --quiet "$@" 9>&-; }

# berth is root for Docker's socket, which is as much. What it needs besides: packet filter rules, its own directory, limits on the
# control groups of builds, and a look into its apps' sockets.
write_unit() {
  mkdir -p "$(dirname "$UNIT")"
  former="$(cat "$UNIT" 2>/dev/null || true)"
  cat >"$UNIT" <<TEXT
# Written by install.sh, anew at every run: put changes into $CONFIG, or use: systemctl edit berth
[Unit]
Description=berth: source in, live URL out
Wants=network-online.target docker.service
After=network-online.target docker.service
StartLimitIntervalSec=0

[Service]
ExecStart=$EXECUTABLE server --data-dir $DATA --token-file $TOKEN_FILE
# The first token is printed there; the log goes to the journal.
StandardOutput=null
StandardError=journal
Restart=always
RestartSec=1
TimeoutStopSec=60
LimitNOFILE=65536
OOMScoreAdjust=-500
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_CHOWN CAP_FOWNER CAP_DAC_OVERRIDE CAP_SYS_PTRACE
ProtectSystem=strict
ReadWritePaths=$DATA $HOME_DIR /run
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
TEXT
  [ "$former" = "$(cat "$UNIT")" ] || RESTART=1
}

start_service() {
  had_token="$([ ! -e "$TOKEN_FILE" ] || echo yes)"
  ask_systemd daemon-reload
  ask_systemd enable berth
  # Without a change it is left alone.
  if [ -n "$RESTART" ] || ! ask_systemd is-active berth; then ask_systemd restart berth; fi
  restarts_before="$(restarts)"
  say '› waiting for the server; the first start fetches the images of its proxy and its registry'
  wait_until "$START_SECONDS" server_has_settled || true
  server_is_well || die "the server is not well: $(health)$(last_words)" \
    "its log: journalctl -u berth; what may be wrong: $BIN doctor --data-dir $DATA. Correct it, then run this again"
  await_https
  say_how_to_go_on
}

# What the server says of itself; nothing while it does not answer.
health() {
  said="$(mktemp)"
  fetch_once "http://$(setting listen 127.0.0.1:4400 | sed 's/^\(0\.0\.0\.0\|\[::\]\|\*\):/127.0.0.1:/')/v1/health" >"$said" 2>/dev/null || echo 'it does not answer' >"$said"
  cat "$said"
  rm -f "$said"
}

fetch_once() { if have curl; then curl --fail --silent --noproxy '*' --max-time 5 "$1"; else wget -q --no-proxy --timeout=5 --tries=1 -O - "$1"; fi; }

# Well, or ending again and again.
server_has_settled() { server_is_well || [ "$(restarts)" -ge $((restarts_before + 5)) ]; }

restarts() { ask_systemd show --property=NRestarts --value berth | grep -E '^[0-9]+$' || echo 0; }

# The last lines of a server that ended.
last_words() {
  ! server_answers || return 0
  printf '\n'
  journalctl _SYSTEMD_UNIT=berth.service --no-pager --lines 2 --output cat 2>/dev/null || true
}

server_answers() { health | grep -q '"status"'; }

server_is_well() { health | grep -q '"status": *"ok"'; }

await_https() {
  [ -n "$EMAIL" ] || return 0
  if [ -z "$DNS_LEADS_HERE" ]; then
    warn "certificates cannot be had before DNS leads to this machine" 'create the records above; berth gets certificates by itself then'
    return
  fi
  have curl || return 0
  say "› waiting for the certificate of $DOMAIN"
  wait_until "$HTTPS_SECONDS" https_answers ||
    warn "there is no certificate for $DOMAIN yet: $(https_answers 2>&1 | head -n 1)" \
      "is port 80 open to the internet (your provider's firewall too)? See: docker logs $(docker ps --format '{{.Names}}' --filter label=berth.role=proxy | head -n 1)"
}

https_answers() {
  port="$(setting https_port 443)"
  curl --fail --silent --show-error --noproxy '*' --max-time 5 --output /dev/null --resolve "$DOMAIN:$port:127.0.0.1" "https://$DOMAIN:$port/v1/health"
}

say_how_to_start() {
  say ''
  say 'systemd does not run here, so nothing was started. Start the server with:'
  say "  setsid nohup $BIN server --data-dir $DATA --token-file $TOKEN_FILE >/dev/null 2>>$ROOT/var/log/berth.log </dev/null &"
  [ ! -e "$DATA/server.lock" ] || say 'A server that ran before this upgrade has to be stopped first (kill <its process>); apps keep serving meanwhile.'
  had_token=yes
  say_how_to_go_on
}

say_how_to_go_on() {
  scheme="$([ -z "$EMAIL" ] && echo http || echo https)"
  say ''
  say "berth is installed. Its API is at http://$(setting listen 127.0.0.1:4400) on this machine$([ "$DOMAIN" = localhost ] || echo ", at $scheme://$DOMAIN from elsewhere")."
  # A log of the installation is no place for a secret.
  if [ -z "$had_token" ] && [ -t 1 ]; then
    say "  admin token   $(cat "$TOKEN_FILE")"
    say "                shown this once; $TOKEN_FILE has it until you delete that file"
  elif [ -e "$TOKEN_FILE" ] || [ ! -e "$DATA/berth.db" ]; then
    say "  admin token   $TOKEN_FILE (copy it, then delete the file)"
  fi
  say "  check         $BIN doctor --data-dir $DATA"
  if [ "$DOMAIN" = localhost ]; then
    say '  a domain      run this again with --base-domain apps.example.com --acme-email you@example.com'
  else
    say "  DNS           records $DOMAIN and *.$DOMAIN have to point at this machine"
    say "  log in        berth login $scheme://$DOMAIN"
  fi
}

# The clients of all platforms that the server hands out, once it is live: what fails here is mended later.
take_clients() {
  "$BIN" server downloads --help >/dev/null 2>&1 || return 0
  command="berth server downloads FROM, where FROM is a folder or an address with all that \"bun run build\" wrote to dist/downloads"
  place="$FROM" folder="$HERE/dist/downloads"
  case "$FROM" in
    checkout) place="$folder" command="bun run build in $HERE (some minutes), then: berth server downloads $folder" ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) folder='' ;;
    http://*)
      warn "no clients of other platforms were taken from $FROM: they could be changed on their way" "$command"
      return
      ;;
    *) folder="$(dirname "$FROM")" place="$folder" ;;
  esac
  if [ -n "$folder" ] && [ ! -e "$folder/manifest.json" ]; then
    warn 'the server hands out the client of this platform only' "for the others: $command"
    return
  fi
  say ''
  say "› taking the clients of other platforms from $place; the server is live, so this may be stopped"
  "$BIN" server downloads "$place" --data-dir "$DATA" >/dev/null 9>&- ||
    warn 'the server hands out the client of this platform only' "correct what is said above, then: berth server downloads $place"
}

# --- uninstall -----------------------------------------------------------------------------------------------------------------------

uninstall() {
  DOCKER_HOST="unix://$(setting docker_socket /var/run/docker.sock)"
  export DOCKER_HOST
  if [ ! -e "$BIN" ] && [ ! -e "$UNIT" ] && [ ! -e "$DATA" ]; then
    say 'berth is not installed here: nothing was changed.'
    return
  fi
  say 'This will stop berth and every app that it runs, and remove it.'
  if [ -n "$PURGE" ]; then
    say "Its state in $DATA, all images of the apps and all their volumes will be DELETED."
  else
    say "State ($DATA), volumes and images are kept: a new installation goes on with them."
  fi
  confirm
  if has_systemd && [ -e "$UNIT" ]; then
    ask_systemd disable --now berth
  fi
  refuse_while_running
  remove_docker_objects
  rm -f "$UNIT" "$BIN"
  rm -rf "$HOME_DIR"
  if has_systemd; then ask_systemd daemon-reload; fi
  if [ -n "$PURGE" ]; then rm -rf "$DATA"; fi
  say 'berth is removed. Docker is kept, and so are the images that berth fetched (docker image ls): others may use them.'
}

refuse_while_running() {
  [ -r "$DATA/server.lock" ] || return 0
  pid="$(cut -d' ' -f1 "$DATA/server.lock")"
  case "$(readlink "/proc/$pid/exe" 2>/dev/null || true)" in
    # With " (deleted)" after an upgrade.
    "$EXECUTABLE"* | "$BIN"*) die "a berth server still runs (process $pid)" "stop it: kill $pid, then run this again" ;;
  esac
}

# Only what carries the label of this installation.
remove_docker_objects() {
  docker_answers || die 'the Docker engine does not answer' 'start it, so that the apps can be stopped, then run this again'
  instance="$(instance_here)"
  if [ -z "$instance" ]; then
    say '› there are no containers of this installation'
    return 0
  fi
  # Kept for a purge later on.
  [ ! -d "$DATA" ] || printf '%s\n' "$instance" >"$INSTANCE_FILE"
  label="label=dev.berth.instance=$instance"
  docker ps -aq --filter "$label" | removed containers docker rm -f
  docker network ls -q --filter "$label" | removed networks docker network rm
  if [ -n "$PURGE" ]; then
    docker volume ls -q --filter "$label" | removed volumes docker volume rm
    docker images -aq --filter "$label" | sort -u | removed images docker rmi -f
    # Names that the images of others have in this installation's registry.
    docker images --format '{{.Repository}}:{{.Tag}}' | grep "^127\.0\.0\.1:$(setting registry_port 4402)/" | removed names docker rmi || true
  else
    say "› kept: $(docker volume ls -q --filter "$label" | grep -c . || true) volumes, $(docker images -aq --filter "$label" | sort -u | grep -c . || true) images"
  fi
  chains="BERTH-$(printf '%s' "$instance" | tail -c 4 | tr '[:lower:]' '[:upper:]')"
  remove_firewall "$chains" iptables
  remove_firewall "$chains" ip6tables
  say "› removed: firewall chains $chains-*"
}

# removed WHAT COMMAND…: of the ids on standard input.
removed() {
  what="$1"
  shift
  ids="$(cat)"
  [ -n "$ids" ] || return 0
  printf '%s\n' "$ids" | xargs "$@" >/dev/null
  say "› removed: $(printf '%s\n' "$ids" | grep -c .) $what"
}

# A container with a mount of the data directory tells whose it is; after an earlier uninstall a file does.
instance_here() {
  for id in $(docker ps -aq --filter label=dev.berth.instance); do
    docker inspect --format '{{range .Mounts}}{{println .Source}}{{end}}' "$id" | grep -q "^$DATA/" || continue
    docker inspect --format '{{index .Config.Labels "dev.berth.instance"}}' "$id"
    return
  done
  [ ! -r "$INSTANCE_FILE" ] || cat "$INSTANCE_FILE"
}

# remove_firewall PREFIX PROGRAM
remove_firewall() {
  program="$(tool_path "$2")" || return 0
  rules="$("$program" -w 5 -S 2>/dev/null || true)"
  printf '%s\n' "$rules" | grep -E -- " -j $1-(INPUT|FORWARD)\$" | sed 's/^-A/-D/' | xargs -r -L 1 "$program" -w 5
  for chain in "$1-INPUT" "$1-FORWARD"; do
    printf '%s\n' "$rules" | grep -qx -- "-N $chain" || continue
    "$program" -w 5 -F "$chain"
    "$program" -w 5 -X "$chain"
  done
}

# --- kit -----------------------------------------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }

# warn WHAT NEXT
warn() { printf '! %s\n  → %s\n' "$1" "$2" >&2; }

die() {
  printf '✗ %s\n  → %s\n' "$1" "$2" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Some tools are in sbin, which is not on everybody's path.
tool_path() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1"; }

has_tool() { tool_path "$1" >/dev/null; }

# The file of this name below the root that is installed to, where it has one.
below_root() { if [ -e "$ROOT$1" ]; then printf '%s' "$ROOT$1"; else printf '%s' "$1"; fi; }

# wait_until SECONDS COMMAND…
wait_until() {
  deadline=$(($(date +%s) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 0.2
  done
}

# Standard input may be this script itself, so people are asked at their terminal.
has_terminal() { (: </dev/tty) 2>/dev/null; }

confirm() {
  [ -z "$YES" ] || return 0
  has_terminal || die 'there is nobody to ask' 'add --yes'
  printf 'Go on? [y/N] ' >/dev/tty
  read -r answer </dev/tty || answer=''
  case "$answer" in
    y | Y | yes) ;;
    *) die 'stopped: nothing was changed' 'run it again whenever you like' ;;
  esac
}

# A script that arrived only in part ends before this, or in the middle of it, and does nothing.
{
  main "$@"
  exit
}

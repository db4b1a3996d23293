# shellcheck shell=bash
# The server that scripts/quickstart runs in the background, with its state in .berth.

readonly STATE="$ROOT/.berth"
readonly TOKEN_FILE="$STATE/admin-token"
HTTP_PORT=8080
API_PORT=4400

server_pid() {
  local pid
  [[ -r "$STATE/server.pid" ]] || return 1
  pid="$(<"$STATE/server.pid")"
  [[ "$(readlink "/proc/$pid/exe" 2>/dev/null)" == "$BERTH"* ]] && printf '%s' "$pid"
}

server_answers() {
  curl --silent --fail --noproxy '*' --max-time 3 --output /dev/null "http://127.0.0.1:$API_PORT/v1/health"
}

# The ports of the last run stay, because URLs of running apps hold them. Otherwise the first free ones from
# the usual ones upwards; a Traefik that listens there is berth's own, which serves while the server is stopped.
choose_ports() {
  if [[ -r "$STATE/ports" ]]; then
    read -r HTTP_PORT API_PORT <"$STATE/ports"
  fi
  ! server_pid >/dev/null || return 0
  HTTP_PORT="$(free_port "$HTTP_PORT" traefik)"
  API_PORT="$(free_port "$API_PORT")"
  printf '%s %s\n' "$HTTP_PORT" "$API_PORT" >"$STATE/ports"
}

# free_port FIRST [PROGRAM]: a port that PROGRAM listens on counts as free.
free_port() {
  local port="$1" program="${2:-}" listeners
  while :; do
    listeners="$(ss --no-header --listening --tcp --numeric --processes "sport = :$port")"
    if [[ -z "$listeners" || (-n "$program" && -e "$STATE/ports" && "$listeners" == *"\"$program\""*) ]]; then
      printf '%s' "$port"
      return
    fi
    port=$((port + 1))
  done
}

start_server() {
  local pid
  step "starting the server (log: .berth/server.log)"
  setsid nohup "$BERTH" server --data-dir "$STATE" --http-port "$HTTP_PORT" --listen "127.0.0.1:$API_PORT" \
    --token-file "$TOKEN_FILE" >>"$STATE/server.log" 2>&1 </dev/null &
  pid=$!
  printf '%s\n' "$pid" >"$STATE/server.pid"
  local deadline=$((SECONDS + 90))
  until server_answers; do
    if ! kill -0 "$pid" 2>/dev/null || [[ "$SECONDS" -ge "$deadline" ]]; then
      tail -n 20 "$STATE/server.log" >&2
      die "the server did not come up on 127.0.0.1:$API_PORT" \
        "read .berth/server.log (its last lines are above); '$BERTH doctor' checks this machine"
    fi
    sleep 0.1
  done
}

# Apps keep serving meanwhile: only berth itself stops.
stop_server() {
  local pid
  pid="$(server_pid)" || return 0
  kill "$pid"
  for _ in {1..300}; do
    [[ -e "/proc/$pid" ]] || return 0
    sleep 0.1
  done
  die "the server (pid $pid) does not stop" "look at .berth/server.log; kill -9 $pid is safe, berth recovers"
}

# shellcheck shell=bash
# The server that scripts/quickstart runs in the background, with its state in .berth.

readonly STATE="$ROOT/.berth"
readonly TOKEN_FILE="$STATE/admin-token"
HTTP_PORT=8080
API_PORT=4400
PROXY_API_PORT=4401
REGISTRY_PORT=4402

server_pid() {
  local pid
  [[ -r "$STATE/server.pid" ]] || return 1
  pid="$(<"$STATE/server.pid")"
  [[ "$(readlink "/proc/$pid/exe" 2>/dev/null)" == "$BERTH"* ]] && printf '%s' "$pid"
}

server_answers() {
  curl --silent --fail --noproxy '*' --max-time 3 --output /dev/null "http://127.0.0.1:$API_PORT/v1/health"
}

# Ready is more than answering: engine, proxy and registry are there, so that a deploy does not wait for them.
server_ready() {
  curl --silent --fail --noproxy '*' --max-time 3 "http://127.0.0.1:$API_PORT/v1/health" | grep -q '"status":"ok"'
}

# The ports of the last run stay, because URLs of running apps hold them; a Traefik or a registry that listens there is
# berth's own, which serves while the server is stopped. Otherwise the first free ones from the usual ones upwards.
choose_ports() {
  local known='' taken=' '
  if [[ -r "$STATE/ports" ]]; then
    read -r HTTP_PORT API_PORT PROXY_API_PORT REGISTRY_PORT <"$STATE/ports"
    : "${PROXY_API_PORT:=4401}" "${REGISTRY_PORT:=4402}"
    known=1
  fi
  ! server_pid >/dev/null || return 0
  HTTP_PORT="$(free_port "$HTTP_PORT" "${known:+traefik}" "$taken")"
  taken+="$HTTP_PORT "
  API_PORT="$(free_port "$API_PORT" '' "$taken")"
  taken+="$API_PORT "
  PROXY_API_PORT="$(free_port "$PROXY_API_PORT" "${known:+traefik}" "$taken")"
  taken+="$PROXY_API_PORT "
  REGISTRY_PORT="$(free_port "$REGISTRY_PORT" "${known:+docker-proxy}" "$taken")"
  printf '%s\n' "$HTTP_PORT $API_PORT $PROXY_API_PORT $REGISTRY_PORT" >"$STATE/ports"
}

# free_port FIRST OURS TAKEN: a port that the program OURS listens on counts as free; those in TAKEN do not.
free_port() {
  local port="$1" ours="$2" taken="$3" listeners
  while :; do
    listeners="$(ss --no-header --listening --tcp --numeric --processes "sport = :$port")"
    if [[ "$taken" != *" $port "* && (-z "$listeners" || (-n "$ours" && "$listeners" == *"\"$ours\""*)) ]]; then
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
    --proxy-api-port "$PROXY_API_PORT" --registry-port "$REGISTRY_PORT" --token-file "$TOKEN_FILE" >>"$STATE/server.log" 2>&1 </dev/null &
  pid=$!
  printf '%s\n' "$pid" >"$STATE/server.pid"
  local deadline=$((SECONDS + 90))
  until server_ready; do
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

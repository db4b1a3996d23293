# shellcheck shell=bash
# The Docker Engine API over its socket. BuildKit is reached this way because it needs no buildx plugin,
# which Debian's and Ubuntu's clients do not always have.

engine_socket() {
  local host="${DOCKER_HOST:-unix:///var/run/docker.sock}"
  printf '%s' "${host#unix://}"
}

# engine_api METHOD PATH [curl options…]
engine_api() {
  local method="$1" path="$2"
  shift 2
  curl --silent --show-error --unix-socket "$(engine_socket)" --request "$method" "$@" "http://engine$path"
}

urlencode() {
  local LC_ALL=C text="$1" out='' char i
  for ((i = 0; i < ${#text}; i++)); do
    char="${text:i:1}"
    case "$char" in
      [a-zA-Z0-9.~_-]) out+="$char" ;;
      *) out+="$(printf '%%%02X' "'$char")" ;;
    esac
  done
  printf '%s' "$out"
}

# json_object KEY=VALUE…: values here are versions and image names, which need no escaping.
json_object() {
  local pair out=''
  for pair in "$@"; do
    out+="${out:+,}\"${pair%%=*}\":\"${pair#*=}\""
  done
  printf '{%s}' "$out"
}

# engine_build IMAGE DIRECTORY LABEL=VALUE LOG [ARGUMENT=VALUE…]; the argument TARGET picks the stage.
engine_build() {
  local image="$1" directory="$2" label="$3" log="$4" argument target=''
  shift 4
  for argument in "$@"; do
    [[ "$argument" != TARGET=* ]] || target="${argument#TARGET=}"
  done
  local query
  query="version=2&rm=1&t=$(urlencode "$image")&labels=$(urlencode "$(json_object "$label")")"
  query+="&buildargs=$(urlencode "$(json_object "$@")")&target=$(urlencode "$target")"
  tar --create --directory "$directory" . |
    engine_api POST "/build?$query" --header 'Content-Type: application/x-tar' --data-binary @- >"$log"
  grep -q '"moby.image.id"' "$log"
}

# build_log_text LOG: BuildKit's progress is base64 protobuf, one message a line; its text is what a reader wants.
build_log_text() {
  local message
  sed -n 's/.*"aux":"\([^"]*\)".*/\1/p' "$1" | while read -r message; do
    base64 --decode <<<"$message" | tr -c '[:print:]\n' '\n' | grep -E '.{4,}' || true
  done | grep -vE '^.?sha256:[0-9a-f]+' || true
  grep -o '"message":"[^"]*"' "$1" || true
}

#!/usr/bin/env bash
# Does what people use the official entry point for: makes the database cluster in an empty data directory, then runs the server.
set -Eeo pipefail

main() {
  [[ "${1:-}" != -* ]] || set -- postgres "$@"
  if [[ "${1:-}" == postgres ]] && ! only_tells "$@"; then
    from_file POSTGRES_PASSWORD
    from_file POSTGRES_USER postgres
    from_file POSTGRES_DB "$POSTGRES_USER"
    from_file POSTGRES_INITDB_ARGS
    : "${POSTGRES_HOST_AUTH_METHOD:=}"
    make_directories
    if [[ "$(id -u)" == 0 ]]; then
      exec gosu postgres "$0" "$@"
    fi
    if [[ -s "$PGDATA/PG_VERSION" ]]; then
      printf '\nPostgreSQL Database directory appears to contain a database; Skipping initialization\n\n'
    else
      make_cluster "$@"
      printf '\nPostgreSQL init process complete; ready for start up.\n\n'
    fi
  fi
  exec "$@"
}

# Options that make the server print something and end.
only_tells() {
  local word
  for word in "$@"; do
    case "$word" in
      -'?' | --help | --describe-config | -V | --version) return 0 ;;
    esac
  done
  return 1
}

# from_file NAME [DEFAULT]: NAME, or else what the file says that NAME_FILE names.
from_file() {
  local name="$1" file="${1}_FILE" value="${2:-}"
  [[ -z "${!name:-}" || -z "${!file:-}" ]] || die "error: both $name and $file are set (but are exclusive)"
  if [[ -n "${!name:-}" ]]; then
    value="${!name}"
  elif [[ -n "${!file:-}" ]]; then
    value="$(<"${!file}")"
  fi
  export "$name=$value"
  unset "$file"
}

make_directories() {
  local directory
  mkdir -p "$PGDATA" /var/run/postgresql || true
  # Both may belong to someone else when the container runs as a user of its own.
  chmod 0700 "$PGDATA" || true
  chmod 3775 /var/run/postgresql || true
  if [[ -n "${POSTGRES_INITDB_WALDIR:-}" ]]; then
    mkdir -p "$POSTGRES_INITDB_WALDIR"
    chmod 0700 "$POSTGRES_INITDB_WALDIR"
  fi
  [[ "$(id -u)" == 0 ]] || return 0
  for directory in "$PGDATA" /var/run/postgresql ${POSTGRES_INITDB_WALDIR:+"$POSTGRES_INITDB_WALDIR"}; do
    find "$directory" \! -user postgres -exec chown postgres '{}' +
  done
}

make_cluster() {
  local method words=()
  if [[ -z "$POSTGRES_PASSWORD" && "$POSTGRES_HOST_AUTH_METHOD" != trust ]]; then
    die 'Error: Database is uninitialized and superuser password is not specified.' \
      '       You must specify POSTGRES_PASSWORD to a non-empty value for the superuser,' \
      '       or POSTGRES_HOST_AUTH_METHOD=trust to allow all connections without a password (not recommended).'
  fi
  # One string of several options, quoted as in a shell.
  eval "words=($POSTGRES_INITDB_ARGS)"
  [[ -z "${POSTGRES_INITDB_WALDIR:-}" ]] || words+=(--waldir "$POSTGRES_INITDB_WALDIR")
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") "${words[@]}"

  method="$(postgres -C password_encryption "${@:2}")"
  printf '\nhost all all all %s\n' "${POSTGRES_HOST_AUTH_METHOD:-$method}" >>"$PGDATA/pg_hba.conf"

  # For these steps only, out of reach of other containers.
  export PGPASSWORD="${PGPASSWORD:-$POSTGRES_PASSWORD}"
  pg_ctl -D "$PGDATA" -w start -o "$(printf '%q ' "${@:2}" -c listen_addresses='' -p "${PGPORT:-5432}")"
  if [[ "$POSTGRES_DB" != postgres ]]; then
    run_sql postgres --set db="$POSTGRES_DB" <<<'CREATE DATABASE :"db";'
  fi
  run_init_files
  pg_ctl -D "$PGDATA" -m fast -w stop
  unset PGPASSWORD
}

# run_sql DATABASE [OPTION…]: as the superuser, over the socket.
run_sql() {
  PGHOST='' PGHOSTADDR='' psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-password --no-psqlrc --dbname "$@"
}

run_init_files() {
  local file
  for file in /docker-entrypoint-initdb.d/*; do
    case "$file" in
      *.sh)
        if [[ -x "$file" ]]; then
          echo "$0: running $file"
          "$file"
        else
          echo "$0: sourcing $file"
          # shellcheck source=/dev/null
          . "$file"
        fi
        ;;
      *.sql) echo "$0: running $file" && run_sql "$POSTGRES_DB" -f "$file" ;;
      *.sql.gz) echo "$0: running $file" && gunzip -c "$file" | run_sql "$POSTGRES_DB" ;;
      *.sql.xz) echo "$0: running $file" && xzcat "$file" | run_sql "$POSTGRES_DB" ;;
      *.sql.zst) echo "$0: running $file" && zstd -dc "$file" | run_sql "$POSTGRES_DB" ;;
      */'*') ;;
      *) echo "$0: ignoring $file" ;;
    esac
  done
}

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

main "$@"

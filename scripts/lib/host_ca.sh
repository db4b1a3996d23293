# shellcheck shell=bash
# The private certificate authorities that this host trusts beside the public ones (a company's, a TLS proxy's).

readonly HOST_CA_PUBLIC=/usr/share/ca-certificates
readonly HOST_CA_LOCAL=/usr/local/share/ca-certificates
readonly HOST_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt

# One certificate a line, its base64 body without line breaks. The bundle is read too, because some machines
# get their private CA there only; it can be told from the public ones only when those are installed as files.
host_ca_bodies() {
  local -a public=() private=()
  mapfile -t public < <(find "$HOST_CA_PUBLIC" -name '*.crt' 2>/dev/null | sort)
  mapfile -t private < <(find "$HOST_CA_LOCAL" -name '*.crt' 2>/dev/null | sort)
  if [[ ${#public[@]} -gt 0 && -r "$HOST_CA_BUNDLE" ]]; then
    private+=("$HOST_CA_BUNDLE")
  fi
  [[ ${#private[@]} -gt 0 ]] || return 0
  awk -v public="$HOST_CA_PUBLIC/" '
    /-----BEGIN CERTIFICATE-----/ { body = ""; inside = 1; next }
    /-----END CERTIFICATE-----/ {
      inside = 0
      if (index(FILENAME, public) == 1) known[body] = 1
      else if (!(body in known)) { known[body] = 1; print body }
      next
    }
    inside { gsub(/[ \t\r]/, ""); body = body $0 }
  ' "${public[@]}" "${private[@]}"
}

# host_ca_write DIRECTORY: a .crt file for each, named by its content; none when there are none.
host_ca_write() {
  local directory="$1" body
  mkdir -p "$directory"
  while read -r body; do
    {
      echo '-----BEGIN CERTIFICATE-----'
      fold -w 64 <<<"$body"
      echo '-----END CERTIFICATE-----'
    } >"$directory/host-$(sha256sum <<<"$body" | cut -c1-12).crt"
  done < <(host_ca_bodies)
}

# shellcheck shell=bash disable=SC2153 # RECIPE, ARGUMENTS: from catalog.sh
# Makes images ready under their official names: present already, pulled, or built as a stand-in.

readonly STAND_IN_LABEL=dev.berth.stand-in
IMAGES_STATE="${TMPDIR:-/tmp}/berth-images.$(id -u)"
declare -gA STATE=()

# images_present IMAGE…: asks the engine once; STATE is `official` or the fingerprint of the stand-in's recipe.
images_present() {
  local image mark format
  format="{{range .RepoTags}}{{println . (index \$.Config.Labels \"$STAND_IN_LABEL\")}}{{end}}"
  while read -r image mark; do
    [[ -z "$image" ]] || STATE[$image]="${mark:-official}"
  done < <(docker image inspect --format "$format" "$@" 2>/dev/null || true)
}

image_is_current() {
  local image="$1" state="${STATE[$1]:-}"
  [[ -n "$state" ]] || return 1
  [[ "$state" != official ]] || return 0
  fingerprint "$image"
  [[ "$state" == "${FINGERPRINT[$image]}" ]]
}

# Asks the engine, which knows its mirrors and proxies, and remembers the answer for this run.
registry_reachable() {
  local answer="$IMAGES_RUN/registry"
  if [[ ! -e "$answer" ]]; then
    if engine_api GET /distribution/hello-world/json --max-time 8 --fail --output /dev/null 2>/dev/null; then
      echo yes >"$answer"
    else
      echo no >"$answer"
    fi
  fi
  [[ "$(<"$answer")" == yes ]]
}

# provide_image IMAGE: one line of progress; other runs of this script at the same time wait for each other.
provide_image() {
  local image="$1" lock started how old
  exec {lock}>"$IMAGES_STATE/${image//[^a-zA-Z0-9.]/_}.lock"
  flock "$lock"
  unset "STATE[$image]"
  images_present "$image"
  old="$(image_id "$image")"
  if ! image_is_current "$image"; then
    started="$(now_ms)"
    if [[ ! "$image" =~ ^berth ]] && registry_reachable && docker pull --quiet "$image" >/dev/null; then
      how=pulled
    else
      provide_bases "$image"
      started="$(now_ms)"
      say "  $image  building…"
      build_stand_in "$image"
      how=built
    fi
    # The stand-in that this one replaces; it stays while something uses it.
    [[ -z "$old" || "$old" == "$(image_id "$image")" ]] || docker image rm "$old" >/dev/null 2>&1 || true
    say "  $image  $how in $(since "$started")"
  fi
  exec {lock}>&-
}

image_id() {
  docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true
}

provide_bases() {
  local base
  for base in $(bases "$1"); do
    provide_image "$base"
  done
}

build_stand_in() {
  local image="$1" recipe="$IMAGES_DIR/${RECIPE[$1]}" log
  log="$IMAGES_STATE/${image//[^a-zA-Z0-9.]/_}.log"
  fingerprint "$image"
  local -a arguments=()
  read -ra arguments <<<"${ARGUMENTS[$image]}"
  if [[ -x "$recipe/bootstrap" ]]; then
    import_debian "$image" "${arguments[0]#SUITE=}" "$recipe" "$log" && return
    tail -n 20 "$log" >&2
  else
    engine_build "$image" "$recipe" "$STAND_IN_LABEL=${FINGERPRINT[$image]}" "$log" "${arguments[@]}" && return
    build_log_text "$log" | tail -n 30 >&2
  fi
  die "could not make $image" "the whole log is $log; correct the cause and run scripts/images/make $image again"
}

# import_debian IMAGE SUITE RECIPE LOG
import_debian() {
  local image="$1" suite="$2" recipe="$3" log="$4" certificates="$IMAGES_RUN/certificates"
  ensure_packages mmdebstrap
  local -a changes=(--change 'CMD ["bash"]'
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    --change "LABEL $STAND_IN_LABEL=${FINGERPRINT[$image]}")
  host_ca_write "$certificates"
  if [[ -n "$(ls "$certificates")" ]]; then
    local bundle=/etc/ssl/certs/ca-certificates.crt
    # pip, requests and uv carry certificates of their own and Node is compiled with them: without this they see the public ones only.
    changes+=(--change "ENV SSL_CERT_FILE=$bundle" --change "ENV PIP_CERT=$bundle" --change "ENV REQUESTS_CA_BUNDLE=$bundle"
      --change 'ENV NODE_EXTRA_CA_CERTS=/usr/local/share/host-ca.pem')
  else
    certificates=''
  fi
  "$recipe/bootstrap" "$suite" "$certificates" 2>"$log" | docker import "${changes[@]}" - "$image" >>"$log"
}

# shellcheck shell=bash disable=SC2034 # what is read here, others use
# scripts/images/catalog, read once: how each stand-in image is made.

IMAGES_DIR="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../images")"
declare -ga CATALOG=()
declare -gA RECIPE=() LANE=() GROUP=() ARGUMENTS=()

catalog_load() {
  local image recipe lane group arguments
  while read -r image recipe lane group arguments; do
    [[ -n "$image" && "$image" != \#* ]] || continue
    CATALOG+=("$image")
    RECIPE[$image]="$recipe" LANE[$image]="$lane" GROUP[$image]="$group" ARGUMENTS[$image]="$arguments"
  done <"$IMAGES_DIR/catalog"
}

# catalog_expand NAME…: images and groups to images, in the catalog's order. `all` leaves out the test group.
catalog_expand() {
  local -A wanted=()
  local name image
  for name in "$@"; do
    local found=''
    for image in "${CATALOG[@]}"; do
      if [[ "$image" == "$name" || "${GROUP[$image]}" == "$name" || ("$name" == all && "${GROUP[$image]}" != test) ]]; then
        wanted[$image]=1 found=1
      fi
    done
    [[ -n "$found" ]] || die "no image or group is called '$name'" "known: core all test ${CATALOG[*]}"
  done
  for image in "${CATALOG[@]}"; do
    [[ -z "${wanted[$image]:-}" ]] || printf '%s\n' "$image"
  done
}

# bases IMAGE: the images of the catalog that its recipe starts from.
bases() {
  local image="$1" dockerfile base
  dockerfile="$IMAGES_DIR/${RECIPE[$image]}/Dockerfile"
  [[ -f "$dockerfile" ]] || return 0
  {
    sed -n 's/^FROM \([^ $][^ ]*\).*/\1/p' "$dockerfile"
    tr ' ' '\n' <<<"${ARGUMENTS[$image]}" | sed -n 's/^BASE=//p'
  } | sort -u | while read -r base; do
    [[ -z "$base" || -z "${RECIPE[$base]:-}" ]] || printf '%s\n' "$base"
  done
}

declare -gA FINGERPRINT=()

# fingerprint IMAGE: into FINGERPRINT[IMAGE]; it changes with the recipe, its bases or the host's certificates.
fingerprint() {
  local image="$1" base parts
  [[ -z "${FINGERPRINT[$image]:-}" ]] || return 0
  parts="${ARGUMENTS[$image]} $(cd "$IMAGES_DIR/${RECIPE[$image]}" && find . -type f -print0 | sort -z | xargs -0 sha256sum)"
  while read -r base; do
    [[ -n "$base" ]] || continue
    fingerprint "$base"
    parts+=" ${FINGERPRINT[$base]}"
  done <<<"$(bases "$image")"
  [[ "${RECIPE[$image]}" != debian ]] || parts+=" $(host_ca_bodies)"
  FINGERPRINT[$image]="$(sha256sum <<<"$parts" | cut -c1-16)"
}

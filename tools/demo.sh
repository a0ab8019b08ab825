#!/bin/bash
# SPDX-License-Identifier: MIT
# demo.sh [FILE] - label, simplify and saliency of FILE, or of a Landsat scene and a generated one:
# a table of what they took, and pictures of what came out, in demo-out/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${QFZ_BUILD:-build}
out=$PWD/demo-out
cache=$out/cache
qfz=$(find "$build" -maxdepth 2 -type f -name qfz -perm -u+x | head -n 1)
status=0

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "demo: $*"
    exit 1
}
[ -n "$qfz" ] || fail "no qfz in $build/"
mkdir -p "$cache"

# The Landsat 7 scene lies in a Debian and Ubuntu package, which is unpacked, not installed.
fetch_landsat() {
    local scene=$cache/L7_ETMs.tif found
    if [ ! -s "$scene" ]; then
        rm -rf "$cache/stars" && mkdir -p "$cache/stars"
        (
            cd "$cache/stars"
            # As root, apt complains that its own user may not write here; that is no matter.
            apt-get download -q r-cran-stars >download.log 2>&1 ||
                { refresh_lists && apt-get download -q r-cran-stars >download.log 2>&1; } ||
                { cat download.log >&2; exit 1; }
            dpkg-deb -x r-cran-stars_*.deb unpacked
        ) || return 1
        found=$(find "$cache/stars/unpacked" -name L7_ETMs.tif | head -n 1)
        [ -n "$found" ] || return 1
        cp "$found" "$scene"
        rm -rf "$cache/stars"
    fi
    echo "$scene"
}

refresh_lists() {
    if [ "$(id -u)" -eq 0 ]; then
        apt-get update -q >update.log 2>&1
    else
        sudo apt-get update -q | cat >update.log
    fi
}

make_big_scene() {
    local scene=$cache/scene_4096.tif
    if [ ! -s "$scene" ]; then
        "$build/data/make_scene" "$scene.part.tif" --size 4096x4096 --bands 4 --bits 16 --seed 7 \
            --collar || return 1
        mv "$scene.part.tif" "$scene"
    fi
    echo "$scene"
}

# value KEY: of a flat JSON object on stdin.
value() { grep -oE "\"$1\" *: *(\"[^\"]*\"|[-+.0-9eE]+)" | head -n 1 | sed -E 's/^[^:]*: *//; s/"//g'; }

# run_one NAME SUBCOMMAND ARGUMENTS...: one row of the table.
run_one() {
    local name=$1 json
    shift
    json=$("$qfz" "$@" -q --json --overwrite) || fail "qfz $* failed"
    local regions pixels seconds rss width height
    regions=$(value regions <<<"$json")
    pixels=$(value pixels <<<"$json")
    seconds=$(value seconds <<<"$json")
    rss=$(value peak_rss_bytes <<<"$json")
    width=$(value width <<<"$json")
    height=$(value height <<<"$json")
    LC_ALL=C awk -v name="$name" -v w="$width" -v h="$height" -v valid="$pixels" \
        -v regions="$regions" -v s="$seconds" -v rss="$rss" 'BEGIN {
            printf "  %-9s %7d x %-7d %12d %12s %9.2f %9.1f %9.0f\n", name, w, h, valid,
                regions ? regions : "-", s, w * h / 1e6 / (s > 0 ? s : 1e-9), rss / 1048576 }'
}

# suggest SRC REGIONS: alpha, the least one that gives no more regions, and omega.
suggest() {
    local json
    json=$("$qfz" label -q --json --count-only --distance linf --regions-target "$2" "$1") || return 1
    value alpha <<<"$json" | LC_ALL=C awk '{ printf "%.9g %.9g\n", $1, 6 * $1 }'
}

# target SRC: a fiftieth of its pixels.
target() {
    local json
    json=$("$qfz" info --json "$1") || return 1
    LC_ALL=C awk -v w="$(value width <<<"$json")" -v h="$(value height <<<"$json")" \
        'BEGIN { printf "%d", w * h / 50 + 1 }'
}

# show NAME FILE [ALPHA OMEGA]: all of it for one raster.
show() {
    local name=$1 src=$2 to=$out/$1 alpha=${3-} omega=${4-}
    mkdir -p "$to"
    if [ -z "$alpha" ]; then
        read -r alpha omega < <(suggest "$src" "$(target "$src")") ||
            fail "$src: no alpha was found"
    fi
    echo
    echo "$name: $src"
    echo "  steps up to alpha = $alpha join neighbours (largest difference over the bands);" \
        "regions span omega = $omega at most"
    echo
    printf '  %-9s %17s %12s %12s %9s %9s %9s\n' job 'width x height' 'valid px' regions seconds \
        Mpx/s 'peak MB'
    run_one label label --distance linf --alpha "$alpha" --quicklook-style image \
        --quicklook "$to/labels.png" "$src" "$to/labels.tif"
    run_one simplify simplify --distance linf --alpha "$alpha" --omega "$omega" \
        --labels "$to/regions.tif" --quicklook-style means --quicklook "$to/simplified.png" \
        "$src" "$to/simplified.tif"
    run_one map simplify --distance linf --alpha "$alpha" --omega "$omega" --min-area 25 \
        --labels "$to/map_regions.tif" --quicklook "$to/map.png" "$src" "$to/map.tif"
    run_one saliency saliency --distance linf --min-area 25 --quicklook "$to/saliency.png" "$src" \
        "$to/saliency.tif"
    echo
    echo "  pictures (alpha-components over the image, (alpha, omega)-components in their means, those" \
        "of at least 25 pixels in colours, saliency):"
    for picture in labels simplified map saliency; do
        echo "    $to/$picture.png"
    done
}

"$qfz" --version
if [ -n "${1-}" ]; then
    name=$(basename "$1")
    name=$(printf '%s' "${name%.*}" | tr -c '[:alnum:]._-' _)
    show "${name:-raster}" "$1"
    exit 0
fi

if landsat=$(fetch_landsat); then
    show landsat7 "$landsat"
else
    say "demo: the Landsat scene could not be fetched (package r-cran-stars); going on without it"
    status=1
fi
scene=$(make_big_scene) || fail "the big scene could not be made"
# The noise of its sensor is known: neighbours differ by 11 (one standard deviation) in each band.
show scene_4096 "$scene" 36 400
exit $status

#!/bin/bash
# SPDX-License-Identifier: MIT
# gallery.sh DATA [BUILD] - runs real rasters of the folder DATA, prints the table of
# docs/gallery.md and leaves its pictures in docs/img/gallery/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=${1:?usage: tools/gallery.sh DATA [BUILD]}
build=${2:-build}
qfz=$build/apps/qfz
pictures=docs/img/gallery
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$pictures"

value() { grep -oE "\"$1\" *: *(\"[^\"]*\"|[-+.0-9eE]+)" | head -n 1 | sed -E 's/^[^:]*: *//; s/"//g'; }

# jpeg FROM NAME [OPTION...]: a JPEG of 480 pixels across.
jpeg() {
    gdal_translate -q -of JPEG -co QUALITY=85 -r average -outsize 480 0 "${@:3}" "$1" "$pictures/$2.jpg"
    rm -f "$pictures/$2.jpg.aux.xml"
}

# look NAME COMMAND...: the picture that this command of qfz draws.
look() {
    "$qfz" "${@:2}" -q --overwrite --quicklook "$scratch/look.png"
    jpeg "$scratch/look.png" "$1"
}

# window NAME LABELS X Y WIDTH HEIGHT: the regions of a part of the labels.
window() {
    gdal_translate -q -srcwin "${@:3}" "$2" "$scratch/window.tif"
    look "$1" regions "$scratch/window.tif"
}

# row SOURCE OUTPUT ARGUMENTS...: runs the command, prints what it took.
row() {
    local source=$1 output=$2 json
    shift 2
    { time json=$("$qfz" "$@" -q --json --overwrite "$data/$source" "$scratch/$output" 2>&3); } 3>&2 2>"$scratch/seconds"
    printf '| `qfz %s %s %s` | %s x %s | %s | %.2f | %.0f |\n' "$*" "$(basename "$source")" \
        "$output" "$(value width <<<"$json")" "$(value height <<<"$json")" \
        "$(value regions <<<"$json")" "$(awk '{ print $1 + $2 }' "$scratch/seconds")" \
        "$(awk -v b="$(value peak_rss_bytes <<<"$json")" 'BEGIN { print b / 1000000 }')"
}

TIMEFORMAT='%U %S'
echo '| command | pixels | regions | processor seconds | peak MB |'
echo '| --- | ---: | ---: | ---: | ---: |'
row mosaic/s2_aber_overlap.vrt aber_zones.tif label --distance linf --alpha 40
row mosaic/s2_aber_overlap.vrt aber_simple.tif simplify --distance linf --alpha 80 --omega 500
row mosaic/s2_aber_overlap.vrt aber_map.tif simplify --distance linf --alpha 80 --omega 500 --min-area 25 --labels "$scratch/aber_regions.tif"
row mosaic/s2_aber_overlap.vrt aber_saliency.tif saliency --distance linf
row demo/landsat7_bahamas_rgb_u8_nd0.tif bahamas_simple.tif simplify --distance linf --connectivity 8 --alpha 12 --omega 60
row demo/landsat7_bahamas_rgb_u8_nd0.tif bahamas_saliency.tif saliency --distance linf
row landcover/cdl_2016_iowa_test_8000.tif crops.tif label
row landcover/cdl_2016_iowa_test_8000.tif crops_8.tif label --connectivity 8
row landcover/globe_landmask_43200x21600_1bit.tif islands.tif label --background 0
row landcover/globe_landmask_43200x21600_1bit.tif islands_8.tif label --background 0 --connectivity 8
row dem/etopo5_f32.tif relief_zones.tif label --alpha 25
row dem/etopo5_f32.tif relief_simple.tif simplify --alpha 60 --omega 600
row dem/etopo5_f32.tif relief_saliency.tif saliency

aber=$data/mosaic/s2_aber_overlap.vrt
bahamas=$data/demo/landsat7_bahamas_rgb_u8_nd0.tif
relief=$data/dem/etopo5_f32.tif
jpeg "$aber" aber_input -b 3 -b 2 -b 1 -ot Byte -scale_1 22 128 -scale_2 52 122 -scale_3 30 103
look aber_simple simplify --distance linf --alpha 80 --omega 500 --labels "$scratch/l.tif" \
    --quicklook-style means "$aber" "$scratch/s.tif"
look aber_map simplify --distance linf --alpha 80 --omega 500 --min-area 25 --labels "$scratch/l.tif" \
    --quicklook-style means "$aber" "$scratch/s.tif"
look aber_lines regions --quicklook-style image --stats "$aber" "$scratch/aber_regions.tif"
look aber_regions regions "$scratch/aber_regions.tif"
look aber_zones regions "$scratch/aber_zones.tif"
look aber_saliency saliency --distance linf "$aber" "$scratch/s.tif"
look aber_contours saliency --distance linf --min-area 25 "$aber" "$scratch/s.tif"
jpeg "$bahamas" bahamas_input
look bahamas_simple simplify --distance linf --connectivity 8 --alpha 12 --omega 60 \
    --labels "$scratch/l.tif" --quicklook-style means "$bahamas" "$scratch/s.tif"
look bahamas_saliency saliency --distance linf "$bahamas" "$scratch/s.tif"
window crops "$scratch/crops.tif" 2000 2000 3000 3000
window islands "$scratch/islands.tif" 34000 8000 6000 6000
jpeg "$relief" relief_input -ot Byte -scale -6000 3000
look relief_simple simplify --alpha 60 --omega 600 --labels "$scratch/l.tif" --quicklook-style means \
    "$relief" "$scratch/s.tif"
look relief_saliency saliency "$relief" "$scratch/s.tif"

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

# look MODE RASTER: draws the picture look.png.
look() {
    if [ "$1" = labels ]; then
        "$qfz" regions -q --overwrite --quicklook "$scratch/look.png" "$2"
    else
        "$build/tools/quicklook" "$1" "$2" "$scratch/look.png" >"$scratch/said"
    fi
}

# picture MODE RASTER NAME [WINDOW]: a JPEG of 480 pixels across; WINDOW is x y w h.
picture() {
    local from=$2
    if [ $# -ge 4 ]; then
        # shellcheck disable=SC2086
        gdal_translate -q -srcwin $4 "$2" "$scratch/window.tif"
        from=$scratch/window.tif
    fi
    look "$1" "$from"
    gdal_translate -q -of JPEG -co QUALITY=85 -b 1 -b 2 -b 3 -r average -outsize 480 0 \
        "$scratch/look.png" "$pictures/$3.jpg"
    rm -f "$pictures/$3.jpg.aux.xml"
}

# row SOURCE OUTPUT ARGUMENTS...: runs the command, prints what it took.
row() {
    local source=$1 output=$2 json
    shift 2
    json=$("$qfz" "$@" -q --json --overwrite "$data/$source" "$scratch/$output")
    printf '| `qfz %s %s %s` | %s x %s | %s | %.2f | %.0f |\n' "$*" "$(basename "$source")" \
        "$output" "$(value width <<<"$json")" "$(value height <<<"$json")" \
        "$(value regions <<<"$json")" "$(value seconds <<<"$json")" \
        "$(awk -v b="$(value peak_rss_bytes <<<"$json")" 'BEGIN { print b / 1048576 }')"
}

echo '| command | pixels | regions | seconds | peak MB |'
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

picture rgb "$data/mosaic/s2_aber_overlap.vrt" aber_input
picture rgb "$scratch/aber_simple.tif" aber_simple
picture rgb "$scratch/aber_map.tif" aber_map
picture labels "$scratch/aber_regions.tif" aber_regions
picture labels "$scratch/aber_zones.tif" aber_zones
picture saliency "$scratch/aber_saliency.tif" aber_saliency
picture rgb "$data/demo/landsat7_bahamas_rgb_u8_nd0.tif" bahamas_input
picture rgb "$scratch/bahamas_simple.tif" bahamas_simple
picture saliency "$scratch/bahamas_saliency.tif" bahamas_saliency
picture labels "$scratch/crops.tif" crops '2000 2000 3000 3000'
picture labels "$scratch/islands.tif" islands '34000 8000 6000 6000'
picture gray "$data/dem/etopo5_f32.tif" relief_input
picture gray "$scratch/relief_simple.tif" relief_simple
picture saliency "$scratch/relief_saliency.tif" relief_saliency

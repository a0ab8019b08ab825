#!/bin/sh
# SPDX-License-Identifier: MIT
# lossless.sh QFZ - every format that this GDAL can write, and every option known to change values:
# the pixels are those of a GTiff, or the job is refused before it begins and leaves no file.
. "$(dirname "$0")/lib.sh"

python3 - "$T" <<'PYTHON'
import random, sys
random.seed(7)
w, h = 300, 200
open(sys.argv[1] + "/noise.pgm", "wb").write(b"P5 %d %d 255\n" % (w, h) + random.randbytes(w * h))
open(sys.argv[1] + "/noise.ppm", "wb").write(b"P6 %d %d 255\n" % (w, h) + random.randbytes(3 * w * h))
PYTHON
for n in pgm ppm; do
    gdal_translate -q -a_srs EPSG:32632 -a_ullr 500000 5000000 503000 4998000 "$T/noise.$n" "$T/$n.tif"
done

# pixels RASTER FILE REFERENCE: the pixels of the bands that REFERENCE has, as raw numbers in FILE.
# Some formats add bands (alpha).
pixels() {
    case $3 in
    *ppm*) bands="-b 1 -b 2 -b 3" ;;
    *saliency) bands="-b 1 -b 2" ;;
    *) bands="-b 1" ;;
    esac
    # shellcheck disable=SC2086
    gdal_translate -q -of ENVI -ot Float64 -co INTERLEAVE=BSQ $bands "$1" "$2" >/dev/null 2>&1
}

# exact NAME REFERENCE COMMAND... DST: succeeds with the pixels of REFERENCE, or is refused.
exact() {
    name=$1
    reference=$2
    shift 2
    checks=$((checks + 1))
    run "$@"
    for dst in "$@"; do :; done
    case $rc in
    0)
        n_exact=$((n_exact + 1))
        if ! pixels "$dst" "$T/raw" "$reference" || ! cmp -s "$T/raw" "$reference"; then
            wrong "$name: other pixels"
        fi
        rm -rf "$T/out/"*
        ;;
    1 | 2)
        n_refused=$((n_refused + 1))
        if [ "$(wc -l <"$T/stderr")" -ne 1 ]; then wrong "$name: not one line on stderr"; fi
        if grep -qE '/vsiqfz/|\.qfz-' "$T/stderr"; then wrong "$name: an internal name"; fi
        nothing_left "$name"
        ;;
    *) wrong "$name: status $rc" ;;
    esac
}

for task in "label" "simplify --omega 9" "saliency"; do
    # shellcheck disable=SC2086
    "$qfz" $task -q "$T/pgm.tif" "$T/reference.tif" 
    reference=$T/reference_pgm_${task%% *}
    pixels "$T/reference.tif" "$reference" "$reference"
    rm -f "$T/reference.tif"
done
"$qfz" simplify --omega 9 -q "$T/ppm.tif" "$T/reference.tif" 
pixels "$T/reference.tif" "$T/reference_ppm_simplify" ppm

# ---- Every format.
n_exact=0
n_refused=0
for format in $(gdalinfo --formats | sed -n 's/^ *\([A-Za-z0-9_]*\) -[a-z, ]*raster[a-z, ]*- (r*w.*/\1/p'); do
    case $format in
    WMS | WMTS | PostGISRaster | NGW | MEM) continue ;; # not files
    esac
    dot=.$(gdalinfo --format "$format" | sed -n 's/^ *Extensions*: *\([a-zA-Z0-9]*\).*/\1/p' | head -1)
    [ "$dot" != . ] || dot=.raw
    exact "label, $format" "$T/reference_pgm_label" "$qfz" label -q --of "$format" "$T/pgm.tif" "$T/out/dst$dot"
    exact "simplify, $format" "$T/reference_pgm_simplify" \
        "$qfz" simplify --omega 9 -q --of "$format" "$T/pgm.tif" "$T/out/dst$dot"
done
echo "formats: $n_exact exact, $n_refused refused"
if [ "$n_exact" -lt 8 ]; then wrong "only $n_exact formats are exact"; fi
# Saliency of two bands may be narrower than levels can be at most: a GeoPackage takes two bands of bytes for grey and alpha.
for format in GPKG MBTiles PNG PCIDSK; do
    if ! gdalinfo --format $format >/dev/null 2>&1; then continue; fi
    exact "saliency, $format" "$T/reference_pgm_saliency" "$qfz" saliency -q --of $format "$T/pgm.tif" "$T/out/dst.x"
done
# Options by which one file holds the name of another.
for option in "ISIS3 DATA_LOCATION=EXTERNAL" "ISIS3 DATA_LOCATION=GEOTIFF" "ISIS2 LABELING_METHOD=DETACHED" "PCIDSK INTERLEAVING=FILE"; do
    if ! gdalinfo --format "${option% *}" >/dev/null 2>&1; then continue; fi
    refused "$option" 'cannot be renamed' "$qfz" simplify --omega 9 -q --of "${option% *}" --co "${option#* }" "$T/ppm.tif" \
        "$T/out/dst.x"
done
exact "saliency, netCDF" "$T/reference_pgm_saliency" "$qfz" saliency -q "$T/pgm.tif" "$T/out/dst.nc"

# ---- Options that change values: never exact, so each must be refused, with a remedy.
lossy() { # lossy WORD FORMAT OPTION...
    word=$1
    format=$2
    shift 2
    options=
    for option in "$@"; do options="$options --co $option"; done
    for task in "label" "simplify --omega 9" "saliency"; do
        # shellcheck disable=SC2086
        refused "$task: $format $*" "$word" "$qfz" $task -q --of "$format" $options "$T/pgm.tif" "$T/out/dst.tif"
    done
}
has() { gdalinfo --format "$1" 2>/dev/null | grep -q "$2"; }
lossy 'use COMPRESS=ZSTD' GTiff COMPRESS=JPEG
lossy 'use COMPRESS=ZSTD|exact values|not valid' COG COMPRESS=JPEG
lossy 'exact values' GTiff DISCARD_LSB=2
for method in CUBIC AVERAGE BILINEAR GAUSS RMS; do
    lossy 'use OVERVIEW_RESAMPLING=NEAREST|not valid|unexpected value' COG OVERVIEW_RESAMPLING=$method
done
lossy 'use RESAMPLING=NEAREST' COG RESAMPLING=LANCZOS
lossy 'gdalwarp' COG TILING_SCHEME=GoogleMapsCompatible
lossy 'exact|overviews' COG OVERVIEW_COMPRESS=JPEG
if has GTiff LERC; then
    lossy 'MAX_Z_ERROR does not keep exact values' GTiff COMPRESS=LERC_ZSTD MAX_Z_ERROR=3
    exact "LERC without an error" "$T/reference_pgm_label" \
        "$qfz" label -q --co COMPRESS=LERC_DEFLATE "$T/pgm.tif" "$T/out/dst.tif"
fi
if has GTiff JXL; then lossy 'use JXL_LOSSLESS=YES' GTiff COMPRESS=JXL JXL_LOSSLESS=NO; fi
if has GTiff WEBP_LOSSLESS; then
    refused "WEBP in a GTiff" 'use WEBP_LOSSLESS=YES' "$qfz" simplify -q --omega 9 \
        --co COMPRESS=WEBP --co INTERLEAVE=PIXEL "$T/ppm.tif" "$T/out/dst.tif"
fi
exact "NBITS of labels" "$T/reference_pgm_label" "$qfz" label -q --co NBITS=17 "$T/pgm.tif" "$T/out/dst.tif"
# Configuration options, also from the environment, by which GDAL writes overviews.
for config in COMPRESS_OVERVIEW=JPEG COMPRESS_OVERVIEW=LERC MAX_Z_ERROR_OVERVIEW=8 WEBP_LEVEL_OVERVIEW=20 WEBP_LOSSLESS_OVERVIEW=NO \
    JXL_LOSSLESS_OVERVIEW=NO; do
    refused "GTiff, overviews, $config" 'exact values' "$qfz" simplify -q --omega 9 --overviews nearest --config "$config" \
        "$T/pgm.tif" "$T/out/dst.tif"
    refused "COG, $config" 'exact values' env "$config" "$qfz" label -q --of COG "$T/pgm.tif" "$T/out/dst.tif"
    exact "no overviews, $config" "$T/reference_pgm_simplify" "$qfz" simplify -q --omega 9 --config "$config" "$T/pgm.tif" \
        "$T/out/dst.tif"
done
if has COG WEBP; then
    refused "WEBP in a COG" 'OVERVIEW_QUALITY=100' "$qfz" simplify -q --omega 9 --of COG --co COMPRESS=WEBP --co QUALITY=100 \
        "$T/ppm.tif" "$T/out/dst.tif"
    gdal_translate -q -outsize 700 600 "$T/ppm.tif" "$T/larger.tif"
    for options in "--co COMPRESS=WEBP --co QUALITY=100 --co OVERVIEW_QUALITY=100" "--co COMPRESS=ZSTD"; do
        # shellcheck disable=SC2086
        "$qfz" simplify -q --omega 9 --of COG $options "$T/larger.tif" "$T/cog.tif"
        gdal_translate -q -of ENVI -co INTERLEAVE=BSQ -oo OVERVIEW_LEVEL=0 "$T/cog.tif" "$T/overview" >/dev/null 2>&1
        rm "$T/cog.tif"
        if [ ! -e "$T/exact" ]; then mv "$T/overview" "$T/exact"; fi
    done
    checks=$((checks + 1))
    if ! cmp -s "$T/overview" "$T/exact"; then wrong "overviews of WEBP in a COG"; fi
fi
for format in WEBP JP2OpenJPEG JPEG; do
    if ! gdalinfo --format $format >/dev/null 2>&1; then continue; fi
    exact "$format" "$T/reference_ppm_simplify" "$qfz" simplify -q --omega 9 --of $format "$T/ppm.tif" "$T/out/dst.x"
    for option in LOSSLESS=NO QUALITY=40 REVERSIBLE=NO; do
        if has $format "${option%=*}" && [ "$format $option" != "WEBP QUALITY=40" ]; then
            refused "$format $option" 'exact values|not keep' "$qfz" simplify -q --omega 9 --of $format \
                --co $option "$T/ppm.tif" "$T/out/dst.x"
        fi
    done
done
finish

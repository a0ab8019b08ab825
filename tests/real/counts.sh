#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh QFZ DATA [all|fewer] - the numbers of components that SciPy and scikit-image find in
# real rasters, and two mosaics that must equal what GDAL makes of their parts.  fewer: a quarter
# of the largest raster, all of which a sanitizer takes a minute for.
here=$(dirname "$0")
qfz=$1
data=$2
. "$here/../cli/lib.sh"
[ -d "$data/landcover" ] || skip "no folder $data/landcover"

# count FILE CONNECTIVITY REGIONS OPTIONS...; FILE of the folder, or a path from the root.
count() {
    file=$1
    case $file in /*) path=$file ;; *) path=$data/$file ;; esac
    connectivity=$2
    want=$3
    shift 3
    if [ ! -f "$path" ]; then
        leave_out "no $file"
        return
    fi
    checks=$((checks + 1))
    "$qfz" label --json --connectivity "$connectivity" "$@" "$path" "$T/dst.tif" --overwrite \
        >"$T/stdout" 2>"$T/stderr" || wrong "$file: exit status $?"
    got=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["regions"])' <"$T/stdout")
    if [ "$got" = "$want" ]; then echo "$file, $connectivity-connected: $got"
    else wrong "$file, $connectivity-connected: $got, not $want"; fi
}

globe=landcover/globe_landmask_43200x21600_1bit.tif
if [ "${3:-all}" = all ]; then
    count $globe 4 25941 --background 0
    count $globe 8 18660 --background 0
else
    if [ -f "$data/$globe" ]; then
        gdal_translate -q -of VRT -srcwin 0 5400 43200 5400 "$data/$globe" "$T/quarter.vrt"
    fi
    count "$T/quarter.vrt" 8 6219 --background 0
fi
count landcover/GMW_N26W082_2020_v3.tif 4 7172
count landcover/GMW_N26W082_2020_v3.tif 8 4807
count demo/nlcd_zion_2013_palette_u8.tif 4 41563
count demo/nlcd_zion_2013_palette_u8.tif 8 12349
count landcover/cdl_2016_iowa_test_8000.tif 4 24368
count landcover/cdl_2016_iowa_test_8000.tif 8 17697

# "band 1 not 0" is one value for all that is not 0: alpha 255 within the valid pixels of band 1.
count demo/landsat7_bahamas_rgb_u8_nd0.tif 4 9 -b 1 --alpha 255 --nodata 0
count demo/landsat7_bahamas_rgb_u8_nd0.tif 8 6 -b 1 --alpha 255 --nodata 0

# equal NAME A B OPTIONS: simplify and saliency of A and B are the same pixels.
equal() {
    name=$1
    a=$2
    b=$3
    shift 3
    for task in label saliency; do
        checks=$((checks + 1))
        "$qfz" $task -q --overwrite "$@" "$a" "$T/a.tif" 2>"$T/stderr" || wrong "$name: $task"
        "$qfz" $task -q --overwrite "$@" "$b" "$T/b.tif" 2>"$T/stderr" || wrong "$name: $task"
        sums_a=$(gdalinfo -checksum "$T/a.tif" | grep Checksum)
        sums_b=$(gdalinfo -checksum "$T/b.tif" | grep Checksum)
        if [ -z "$sums_a" ] || [ "$sums_a" != "$sums_b" ]; then wrong "$name: $task differs"; fi
    done
}
if [ -f "$data/mosaic/rasterio_rgb4.vrt" ]; then
    equal "Bahamas in four parts" "$data/mosaic/rasterio_rgb4.vrt" \
        "$data/demo/landsat7_bahamas_rgb_u8_nd0.tif"
else
    leave_out "no rasterio_rgb4.vrt"
fi
if [ -f "$data/mosaic/s2_aber_overlap.vrt" ]; then
    gdal_translate -q "$data/mosaic/s2_aber_overlap.vrt" "$T/whole.tif"
    equal "Aberystwyth in sixteen parts" "$data/mosaic/s2_aber_overlap.vrt" "$T/whole.tif"
else
    leave_out "no s2_aber_overlap.vrt"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# least_area.sh QFZ - a least area above that of the raster gives one region, and takes as much disk
# as one of half the raster: boundary summaries and exteriors filled the disk, with events of nearly
# all pixels.
. "$(dirname "$0")/lib.sh"

# Noise, 400 rows of 1000 pixels.
awk 'BEGIN {
    for (y = 0; y < 400; y++)
        for (x = 0; x < 1000; x++) {
            n = (n * 1103515245 + 12345) % 2147483648
            printf "%d%s", int(n / 65536) % 200, x < 999 ? " " : "\n"
        }
}' | grid "$T/noise.tif" Byte
gdal_translate -q -a_srs EPSG:4326 -a_ullr 10 50 20 46 "$T/noise.tif" "$T/in.tif"

# one_region LEAST: with temporary files of at most 100 MB, or 200 where ulimit counts in KiB.
one_region() {
    checks=$((checks + 2))
    (ulimit -f 200000 && exec "$qfz" label -q --overwrite --engine cpu -j 1 --tile 16 \
        --memory 80MB --alpha 3 --min-area "$1" "$T/in.tif" "$T/$1.tif") 2>"$T/stderr" ||
        wrong "$1: exit status $?"
    gdalinfo -mm "$T/$1.tif" | grep -q "Min/Max=1.000,1.000" || wrong "$1: not one region"
}
one_region 1000000000
one_region 1000000km2
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# places.sh QFZ disk|device|folder - outputs on a full disk, on a device, in a folder without write
# permission: one line on stderr, no file left.  A case that the machine does not allow is skipped.
. "$(dirname "$0")/lib.sh"

head -c 360000 /dev/urandom >"$T/noise"
{
    echo "P5 600 600 255"
    cat "$T/noise"
} >"$T/noise.pgm"
gdal_translate -q -co COMPRESS=LZW -co TILED=YES "$T/noise.pgm" "$T/in.tif"

case $2 in
disk)
    mkdir "$T/tiny"
    mount -t tmpfs -o size=64k none "$T/tiny" 2>/dev/null || skip "no permission to mount a small disk"
    trap 'umount "$T/tiny"; rm -rf "$T"' EXIT
    for task in label saliency simplify; do
        refused "$task: a full disk" 'tiny/dst\.tif|No space|space' \
            "$qfz" $task --alpha 3 "$T/in.tif" "$T/tiny/dst.tif"
        if [ -n "$(ls -A "$T/tiny")" ]; then
            wrong "$task: a full disk: left behind: $(ls -A "$T/tiny")"
            rm -rf "$T/tiny/"*
        fi
    done
    refused "a full disk for the table" 'tiny/r\.csv|space' \
        "$qfz" label --regions "$T/tiny/r.csv" "$T/in.tif" "$T/out/dst.tif"
    if [ -n "$(ls -A "$T/tiny")" ]; then wrong "full disk, table: left $(ls -A "$T/tiny")"; fi
    # Many drivers ignore failed writes, and some write everything when they close the file.  Such a
    # driver once left a truncated table, or a raster without its table.
    gdal_translate -q -srcwin 0 0 60 60 -a_srs EPSG:4326 -a_ullr 0 1 1 0 "$T/noise.pgm" \
        "$T/small.tif"
    for table in csv geojson fgb gpkg shp ods xlsx kml; do
        refused "a full disk for a table, $table" "tiny/r\.$table|space" \
            "$qfz" label --regions "$T/tiny/r.$table" "$T/small.tif" "$T/out/dst.tif"
        if [ -n "$(ls -A "$T/tiny")" ]; then
            wrong "full disk, $table: left $(ls -A "$T/tiny")"
            rm -rf "$T/tiny/"*
        fi
    done
    "$qfz" label -q --regions "$T/r.csv" "$T/small.tif" "$T/small_labels.tif"
    bytes=$(($(wc -c <"$T/r.csv") - 1))
    mount -o "remount,size=$((bytes / 4096 * 4))k" "$T/tiny"
    refused "a disk that is full at the last bytes of a table" 'space' \
        "$qfz" label --regions "$T/tiny/r.csv" "$T/small.tif" "$T/out/dst.tif"
    ;;
device)
    # A device node for the test: run by root, a command that renames its output would replace
    # /dev/full of the system.
    mknod "$T/full" c 1 7 2>/dev/null || skip "no permission to make a device"
    refused "a device" 'full' "$qfz" label --overwrite "$T/in.tif" "$T/full"
    if [ ! -c "$T/full" ]; then wrong "a device was replaced by a file"; fi
    ;;
folder)
    mkdir "$T/locked"
    chmod a-w "$T/locked"
    as_others=
    if [ "$(id -u)" -eq 0 ]; then # root may write anywhere
        as_others="setpriv --bounding-set -dac_override,-dac_read_search"
        # shellcheck disable=SC2086
        $as_others true 2>/dev/null || skip "root, and no setpriv"
    fi
    # shellcheck disable=SC2086
    $as_others touch "$T/locked/file" 2>/dev/null && skip "a folder that can be written to anyway"
    # shellcheck disable=SC2086
    refused "a folder without write permission" 'locked' \
        $as_others "$qfz" label "$T/in.tif" "$T/locked/dst.tif"
    ;;
esac
finish

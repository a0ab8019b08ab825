#!/bin/bash
# SPDX-License-Identifier: MIT
# scene.sh MAKE_SCENE - the generator's pixels depend on the place and the seed alone.
set -euo pipefail
make_scene=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sum() { gdalinfo -checksum "$1" | grep -o 'Checksum=.*' | tr '\n' ' '; }
command -v gdalinfo >/dev/null || { echo "no gdalinfo here"; exit 77; }

"$make_scene" "$work/small.tif" --size 200x150 --bands 3 --seed 7
"$make_scene" "$work/large.tif" --size 700x333 --bands 3 --seed 7
"$make_scene" "$work/other.tif" --size 200x150 --bands 3 --seed 8
gdal_translate -q -srcwin 0 0 200 150 "$work/large.tif" "$work/corner.tif"
[ "$(sum "$work/small.tif")" = "$(sum "$work/corner.tif")" ] || { echo "depends on the size"; exit 1; }
[ "$(sum "$work/small.tif")" != "$(sum "$work/other.tif")" ] || { echo "blind to the seed"; exit 1; }
OMP_NUM_THREADS=1 "$make_scene" "$work/one.tif" --size 200x150 --bands 3 --seed 7
[ "$(sum "$work/small.tif")" = "$(sum "$work/one.tif")" ] || { echo "depends on the threads"; exit 1; }

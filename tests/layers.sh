#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - who may include whom.  A room may include its own headers and those of the rooms beside
# its name below; where a header follows a room's name, that header only.
set -u
cd "$(dirname "$0")/.." || exit 2

found=$(
    while read -r room allowed; do
        [ -d "src/$room" ] || { echo "src/$room: no such room"; continue; }
        pattern="^($(echo "$room/ $allowed" | sed 's/ *$//' | tr ' ' '|'))"
        grep -rnoE '^#include "[^"]*"' "src/$room" | while IFS= read -r hit; do
            path=${hit#*'#include "'}
            echo "$path" | grep -qE "$pattern|^qfz[a-z_]*\.h" || echo "$hit: not allowed in $room/"
        done
    done <<'TABLE'
core
raster core/
cpu core/
gpu core/
stitch core/ cpu/
job core/ raster/raster.h cpu/cpu.h gpu/gpu.h stitch/stitch.h
TABLE
    ls src | grep -vxE 'core|raster|cpu|gpu|stitch|job' | sed 's/$/: no room of the table/'
    grep -rnE '^#include [<"](gdal|cpl_|ogr|proj|geodesic)' src | grep -v '^src/raster/' |
        sed 's|$|: GDAL and PROJ outside raster/|'
    grep -rnE '\b(GDAL|OGR|CPL|VSI)[A-Z]*[a-z]*[A-Z][A-Za-z]*\(' src | grep -v '^src/raster/' |
        sed 's|$|: GDAL outside raster/|'
    grep -rnE 'cuda_runtime|\bcuda[A-Z]|__global__' src | grep -v '^src/gpu/' |
        sed 's|$|: CUDA outside gpu/|'
    grep -rnE '^#include [<"]mpi\.h|\bMPI_[A-Z]' src | grep -v '^src/stitch/transport' |
        sed 's|$|: MPI outside the transport of stitch/|'
    if [ -d apps ]; then
        # Headers that lie in apps/ itself belong to apps/.
        grep -rnE '^#include "' apps | while IFS= read -r hit; do
            path=${hit#*'#include "'}
            path=${path%%\"*}
            [ "$path" = qfz.h ] || [ -f "apps/$path" ] || [ -f "$(dirname "${hit%%:*}")/$path" ] ||
                echo "$hit: apps/ may include qfz.h only"
        done
        # The build's data of apps and bindings: nothing below them knows them.
        grep -rnE '^#include "(\.\./)*apps/' src | sed 's|$|: src/ may not include apps/|'
    fi
)
[ -z "$found" ] && exit 0
echo "$found"
exit 1

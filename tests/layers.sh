#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - which folder may include which.  A folder of a table below may include its own headers
# and what its line names: whole folders (ending in /) or single headers.  Between any headers of src/
# there is no circle of includes.
set -u
cd "$(dirname "$0")/.." || exit 2

# check PREFIX: the lines of standard input are folders below PREFIX, each with what it may include.
# An include that leaves the parent of these folders is another table's concern.
check() {
    above=${1#src/}
    while read -r folder allowed; do
        [ -d "$1$folder" ] || { echo "$1$folder: no such folder"; continue; }
        pattern="^$above($(echo "$folder/ $allowed" | sed 's/ *$//' | tr ' ' '|'))"
        grep -rnoE '^#include "[^"]*"' "$1$folder" | while IFS= read -r hit; do
            path=${hit#*'#include "'}
            [ -n "$above" ] && case $path in "$above"*) ;; *) continue ;; esac
            echo "$path" | grep -qE "$pattern|^qfz[a-z_]*\.h" ||
                echo "$hit: not allowed in $1$folder/"
        done
    done
}

# Prints each header of src/ that includes itself by way of others, with the way.
circles() {
    grep -rnE '^#include "' src | sed -E 's|^src/([^:]*):[0-9]*:#include "([^"]*)".*|\1 \2|' | awk '
        { includes[$1] = includes[$1] " " $2 }
        function visit(file, way,    names, n, i) {
            state[file] = 1
            n = split(includes[file], names, " ")
            for (i = 1; i <= n; i++)
                if (state[names[i]] == 1)
                    print "src/" names[i] ": circle of includes:" way " " file " " names[i]
                else if (!state[names[i]])
                    visit(names[i], way " " file)
            state[file] = 2
        }
        END { for (file in includes) if (!state[file]) visit(file, "") }'
}

found=$(
    # Rooms: folders of src/.
    check src/ <<'TABLE'
core
raster core/
cpu core/
check core/
gpu core/
stitch core/ cpu/
regions core/
session core/ cpu/cpu.h gpu/gpu.h
chunks core/ stitch/
job core/ raster/raster.h check/check.h regions/regions.h cpu/cpu.h gpu/gpu.h stitch/stitch.h session/engine_choice.h
TABLE
    # Folders of src/gpu/; the engine's, on top, and gpu.h are what the other rooms see.
    check src/gpu/ <<'TABLE'
device
forest device/
saliency device/ forest/
tree device/ forest/
omega device/ forest/
groups device/ forest/ omega/
components device/
filter device/ forest/
curve device/ forest/
features device/ components/
published device/ features/ forest/ omega/
engine gpu.h device/ filter/ curve/ forest/ saliency/ tree/ omega/ groups/ components/ features/ published/
TABLE
    ls src/gpu | grep -vxE 'device|filter|curve|forest|saliency|tree|omega|groups|components|features|published|engine|gpu.h|none.c' |
        sed 's|$|: no folder of the table of gpu/|'
    circles
    ls src | grep -vxE 'core|raster|cpu|check|gpu|stitch|regions|session|chunks|job' | sed 's/$/: no room of the table/'
    grep -rnE '^#include [<"](gdal|cpl_|ogr|proj|geodesic)' src | grep -v '^src/raster/' |
        sed 's|$|: GDAL and PROJ outside raster/|'
    grep -rnE '\b(GDAL|OGR|CPL|VSI)[A-Z]*[a-z]*[A-Z][A-Za-z]*\(' src | grep -v '^src/raster/' |
        sed 's|$|: GDAL outside raster/|'
    grep -rnE 'cuda_runtime|\bcuda[A-Z]|__global__' src | grep -v '^src/gpu/' |
        sed 's|$|: CUDA outside gpu/|'
    grep -rnE '^#include [<"]mpi\.h|\bMPI_[A-Z]' src | grep -v '^src/stitch/transport' |
        sed 's|$|: MPI outside the transport of stitch/|'
    grep -rnE '^#include "' web | grep -v '"qfz.h"$' | sed 's|$|: web/ may include qfz.h only|'
    if [ -d apps ]; then
        # Headers that lie in apps/ itself belong to apps/.
        grep -rnE '^#include "' apps | while IFS= read -r hit; do
            path=${hit#*'#include "'}
            path=${path%%\"*}
            case $hit in apps/bench*) [ "$path" = qfz_bench.h ] && continue ;; esac
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

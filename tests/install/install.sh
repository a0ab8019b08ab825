#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh CMAKE BUILD SCRATCH CC CFLAGS - installs the build into SCRATCH, builds consumer.c
# against it by find_package() and by pkg-config, shared and static, and runs the four programs.
# Builds examples/ against it as a user would, and compares what each prints.
set -euo pipefail
cmake=$1 build=$2 scratch=$3 cc=$4 cflags=${5-}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
rm -rf "$scratch/there" "$scratch/prefix" "$scratch/by_cmake" "$scratch/examples" "$scratch/out"

# Installed in one place, used in another: nothing may depend on the path.
"$cmake" --install "$build" --prefix "$scratch/there" >/dev/null
mv "$scratch/there" "$scratch/prefix"
prefix=$scratch/prefix
if find "$prefix" -name 'qfz_bench.h' | grep .; then
    echo "a header of the project's own was installed"
    exit 1
fi

expected='1 1 2
3 1 4
5 5 5'
check() { # NAME PROGRAM...
    local name=$1 out
    shift
    out=$("$@") || { echo "$name: exit status $?"; exit 1; }
    case $out in
    "$expected"*) echo "$name: ${out##*$'\n'}" ;;
    *) printf '%s printed:\n%s\n' "$name" "$out"; exit 1 ;;
    esac
}

"$cmake" -S "$here/by_cmake" -B "$scratch/by_cmake" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$cflags" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$scratch/by_cmake" >/dev/null
check "find_package, shared" "$scratch/by_cmake/consumer_shared"
check "find_package, static" "$scratch/by_cmake/consumer_static"

prints() { # NAME EXPECTED ARGUMENT...
    local name=$1 expected=$2 out
    shift 2
    out=$("$scratch/examples/$name" "$@") || { echo "example $name: exit status $?"; exit 1; }
    [ "$out" = "$expected" ] || { printf 'example %s printed:\n%s\n' "$name" "$out"; exit 1; }
    echo "example $name $*"
}

examples=$here/../../examples
"$cmake" -S "$examples" -B "$scratch/examples" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$cflags -Wall -Wextra -Werror" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$scratch/examples" >/dev/null
mkdir -p "$scratch/out"
if [ -e "$build/apps/qfz" ]; then # a build with GDAL
prints label_file '4 regions in 23 valid pixels of 6 x 4' "$examples/small.asc" "$scratch/out/0.tif"
prints label_file '3 regions in 23 valid pixels of 6 x 4' "$examples/small.asc" "$scratch/out/1.tif" 1
if command -v gdal_translate >/dev/null; then
    gdal_translate -q -of XYZ "$scratch/out/1.tif" "$scratch/out/1.xyz"
    [ "$(awk '{printf "%d ", $3}' "$scratch/out/1.xyz")" = \
        '1 1 1 1 1 1 1 2 2 2 2 1 1 2 3 0 2 1 1 1 1 1 1 1 ' ] || {
        echo "example label_file wrote other labels"
        exit 1
    }
fi
fi
prints label_array '1 1 1 2 2 2
1 1 1 2 3 3
1 1 1 4 3 3
1 1 1 4 4 3
4 regions'
prints cuts '(0, 1) and (0, 2) meet at 18
alpha 0: 10 regions
alpha 1: 6 regions
alpha 3: 5 regions
alpha 9: 4 regions
alpha 27: 2 regions'
prints alpha_omega 'region 1: 4 pixels about (1, 1.5), mean 1
region 2: 1 pixels about (1.5, 0.5), mean 2
region 3: 1 pixels about (2.5, 0.5), mean 3
region 4: 1 pixels about (3.5, 0.5), mean 4
region 5: 1 pixels about (4.5, 0.5), mean 5
region 6: 2 pixels about (5.5, 1), mean 6
region 7: 6 pixels about (3.5, 2), mean 8.5
region 8: 1 pixels about (0.5, 2.5), mean 0
region 9: 1 pixels about (5.5, 2.5), mean 7
1 2 3 4 5 6
1 1 9 9 9 6
0 1 9 9 9 7'
if [ -e "$build/apps/qfz" ]; then
prints cancel 'step: pass 1 of 2
step: pass 2 of 2
step: end
done' "$examples/small.asc" "$scratch/out/saliency.tif"
prints cancel 'step: pass 1 of 2
cancelled' "$examples/small.asc" "$scratch/out/cancelled.tif" 10
[ -e "$scratch/out/saliency.tif" ] || { echo "example cancel wrote nothing"; exit 1; }
[ ! -e "$scratch/out/cancelled.tif" ] || { echo "example cancel left an output"; exit 1; }
fi

pc=$(find "$prefix" -name qfz.pc)
export PKG_CONFIG_PATH=${pc%/qfz.pc}
libdir=${PKG_CONFIG_PATH%/pkgconfig}
# shellcheck disable=SC2046,SC2086 # several words each
"$cc" $cflags "$here/consumer.c" -o "$scratch/by_pc_shared" $(pkg-config --cflags --libs qfz)
check "pkg-config, shared" env LD_LIBRARY_PATH="$libdir" "$scratch/by_pc_shared"

# Only the archive, so that the linker has no choice.
rm -f "$libdir"/libqfz.so*
# shellcheck disable=SC2046,SC2086
"$cc" $cflags "$here/consumer.c" -o "$scratch/by_pc_static" $(pkg-config --cflags --libs --static qfz)
check "pkg-config, static" "$scratch/by_pc_static"

if [ -e "$build/apps/qfz" ]; then
    "$prefix/bin/qfz" --version
fi

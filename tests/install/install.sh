#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh CMAKE BUILD SCRATCH CC CFLAGS - installs the build into SCRATCH, builds consumer.c
# against it by find_package() and by pkg-config, shared and static, and runs the four programs.
set -euo pipefail
cmake=$1 build=$2 scratch=$3 cc=$4 cflags=${5-}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
rm -rf "$scratch/there" "$scratch/prefix" "$scratch/by_cmake"

# Installed in one place, used in another: nothing may depend on the path.
"$cmake" --install "$build" --prefix "$scratch/there" >/dev/null
mv "$scratch/there" "$scratch/prefix"
prefix=$scratch/prefix

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

#!/bin/bash
# SPDX-License-Identifier: MIT
# reproducible.sh TARBALL FOLDER [SETTING...] - builds a release twice, FOLDER/a and FOLDER/longer/path/b,
# with other time zones, languages and file modes, and compares what is installed: the same bytes.
# SETTING: of cmake, as -DQFZ_GDAL=OFF.  Without the CUDA engine, in whose objects nvcc writes random names.
set -euo pipefail
if [ $# -lt 2 ]; then
    echo "usage: tools/reproducible.sh TARBALL FOLDER [SETTING...]" >&2
    exit 2
fi
tarball=$(realpath "$1")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
export CCACHE_DISABLE=1 # its relative names differ from those of the compiler alone

# one NAME SETTING...: builds in FOLDER/NAME, and installs in FOLDER/NAME/root.
one() {
    local there=$folder/$1 root=$folder/$1/root
    shift
    mkdir -p "$there"
    tar -x -C "$there" -f "$tarball" --strip-components=1
    cmake -S "$there" -B "$there/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
        -DQFZ_CUDA=OFF "$@" >"$there/log" 2>&1 &&
        cmake --build "$there/build" -j "$(nproc)" >>"$there/log" 2>&1 &&
        DESTDIR=$root cmake --install "$there/build" >>"$there/log" 2>&1 || {
        tail -40 "$there/log" >&2
        echo "reproducible.sh: the build in $there failed" >&2
        return 1
    }
}

(umask 022 && export TZ=UTC LC_ALL=C && one a "$@")
(umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 && one longer/path/b "$@")
diff -r "$folder/a/root" "$folder/longer/path/b/root" || {
    echo "reproducible.sh: the two builds differ" >&2
    exit 1
}
echo "$(find "$folder/a/root" -type f | wc -l) installed files, the same bytes in both builds"

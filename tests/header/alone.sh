#!/bin/sh
# SPDX-License-Identifier: MIT
# alone.sh CC - every header compiles alone as C17, the public one also as C++17.
set -u
cc=$1
cd "$(dirname "$0")/../.." || exit 2
bad=0

# GDAL's headers are wanted by raster/ only; where they are, pkg-config or the compiler knows.
gdal=$(pkg-config --cflags gdal 2>/dev/null | sed 's/-I/-isystem /g')

for header in include/*.h $(find src -name '*.h'); do
    # shellcheck disable=SC2086 # several words
    "$cc" -std=gnu17 -Wall -Wextra -Wstrict-prototypes -Werror -fopenmp -fsyntax-only \
        -Iinclude -Isrc $gdal -include "$header" -x c /dev/null ||
        { echo "$header does not compile alone as C17"; bad=1; }
done

# The public header owes nothing to extensions.
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -include include/qfz.h -x c \
    /dev/null || { echo "include/qfz.h is no ISO C17"; bad=1; }

for cxx in c++ g++ clang++; do
    command -v "$cxx" >/dev/null || continue
    "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -include include/qfz.h \
        -x c++ /dev/null || { echo "include/qfz.h does not compile as C++17"; bad=1; }
    exit $bad
done
echo "no C++ compiler: include/qfz.h not tried as C++17"
exit $bad

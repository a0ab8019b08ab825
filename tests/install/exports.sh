#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh LIBRARY HEADER - the shared library exports exactly what the header declares QFZ_API,
# with the versions of symbols.txt.
set -u
library=$1
header=$2
here=$(cd "$(dirname "$0")" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# A declaration may go on in the next line; its name is the word before the first parenthesis.
grep -E '^QFZ_API' "$header" | sed -E 's/\(.*//; s/.*[ *]//' | LC_ALL=C sort >"$work/declared"
nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" {print $3}' |
    grep -vE '^(_init|_fini|__asan_|__odr_asan|__ubsan_)' | LC_ALL=C sort >"$work/versioned"
sed 's/@.*//' "$work/versioned" >"$work/exported"

[ -s "$work/declared" ] || { echo "no QFZ_API in $header"; exit 1; }
diff "$work/declared" "$work/exported" || {
    echo "< declared in qfz.h only; > exported only"
    echo "A function of the API is declared QFZ_API in include/qfz.h and listed in cmake/qfz.map."
    exit 1
}
diff "$here/symbols.txt" "$work/versioned" || {
    echo "< in tests/install/symbols.txt only; > in the library only"
    echo "A lost or renamed symbol breaks programs: it needs a new major version.  A new function"
    echo "belongs to a new node of cmake/qfz.map and, as NAME@@NODE, to tests/install/symbols.txt."
    exit 1
}

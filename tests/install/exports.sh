#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh LIBRARY HEADER - the shared library exports exactly what the header declares QFZ_API.
set -u
library=$1
header=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# A declaration may go on in the next line; its name is the word before the first parenthesis.
grep -E '^QFZ_API' "$header" | sed -E 's/\(.*//; s/.*[ *]//' | sort >"$work/declared"
nm -D --defined-only "$library" | awk '{print $3}' | sed 's/@.*//' |
    grep -vE '^(_init|_fini|__asan_|__odr_asan|__ubsan_)' | sort >"$work/exported"

[ -s "$work/declared" ] || { echo "no QFZ_API in $header"; exit 1; }
diff "$work/declared" "$work/exported" && exit 0
echo "< declared in qfz.h only; > exported only"
exit 1

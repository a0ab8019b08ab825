#!/bin/sh
# SPDX-License-Identifier: MIT
# layout.sh CC HEADER_FOLDER - public structs and constants are laid out as layout.txt says.
set -u
cc=$1
include=$2
here=$(cd "$(dirname "$0")" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

case $("$cc" -dumpmachine) in
x86_64-* | aarch64-*) ;;
*) echo "layout.txt is of 64-bit processors"; exit 77 ;;
esac
"$cc" -std=c17 -Wall -Wextra -Werror -I"$include" "$here/layout.c" -o "$work/layout" || exit 1
"$work/layout" >"$work/layout.txt" || exit 1
diff "$here/layout.txt" "$work/layout.txt" || {
    echo "< as released; > as compiled"
    echo "A struct without struct_size, and every existing member and constant, stays as released"
    echo "until a new major version.  A struct with struct_size may get members at its end: add them"
    echo "to tests/install/layout.c and replace layout.txt by the program's output."
    exit 1
}
# Members that are missing in layout.c would not be compared.
sed -n '/^typedef struct/,/^}/p' "$include/qfz.h" | grep -cE '^typedef struct [a-z_]+ \{' >"$work/n"
[ "$(cat "$work/n")" = "$(grep -c '^ *SIZE(' "$here/layout.c")" ] || {
    echo "include/qfz.h has $(cat "$work/n") structs, tests/install/layout.c another number"
    exit 1
}

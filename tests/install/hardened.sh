#!/bin/bash
# SPDX-License-Identifier: MIT
# hardened.sh HARDENED CONFIG COMMANDS FILE... - the programs and libraries FILE of a Release build have
# what cmake/hardening.cmake asks for, as readelf shows; COMMANDS: compile_commands.json.
set -u
[ "$1" = ON ] && [ "$2" = Release ] || {
    echo "skipped: a build of the type $2, or without QFZ_HARDENING, or with a sanitizer"
    exit 77
}
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }
commands=$3
shift 3
bad=0
fail() { echo "$*"; bad=1; }

for file in "$@"; do
    header=$(readelf -hW "$file")
    dynamic=$(readelf -dW "$file")
    parts=$(readelf -lW "$file")
    symbols=$(readelf --dyn-syms -W "$file")
    grep -q 'Type: *DYN' <<<"$header" || fail "$file: not at any address (no PIE)"
    case $file in
    *.so*) ;;
    *) grep -q '(FLAGS_1).*PIE' <<<"$dynamic" || fail "$file: no PIE" ;;
    esac
    grep -q '(FLAGS_1).*NOW' <<<"$dynamic" || fail "$file: symbols are bound late (no -z now)"
    grep -q 'GNU_RELRO' <<<"$parts" || fail "$file: no part is read-only after the start (no RELRO)"
    grep -qE 'GNU_STACK.* RW +0x' <<<"$parts" || fail "$file: the stack is executable"
    grep -q ' __stack_chk_fail' <<<"$symbols" || fail "$file: no stack protector"
    # In the C library's headers, level 3 (where qfz has it) checks all that level 2 checks.
    grep -qE ' __(memcpy|memset|snprintf)_chk' <<<"$symbols" || fail "$file: no _FORTIFY_SOURCE"
    grep -q 'TEXTREL' <<<"$dynamic" && fail "$file: code is changed when it is loaded"
    echo "$file: read"
done

# A probe of the stack leaves no symbol: the command that compiled a file of the library says it.
command=$(grep -m1 '"command".*src/core/memory\.c' "$commands")
for flag in -fstack-clash-protection -D_FORTIFY_SOURCE= -ffile-prefix-map=; do
    case $command in
    *"$flag"*) ;;
    *) fail "memory.c was compiled without $flag" ;;
    esac
done
exit "$bad"

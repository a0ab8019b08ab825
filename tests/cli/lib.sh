# SPDX-License-Identifier: MIT
# lib.sh - functions of the command-line tests.  A test is started as `test.sh QFZ [DATA]`.  It works
# in its own scratch folder $T, counts failures and continues after each, and ends with `finish`.

# skip REASON...: ends the test as skipped.
skip() {
    echo "skipped: $*"
    exit 77
}

qfz=$1
[ -x "$qfz" ] || skip "no command $qfz"
for tool in gdal_translate gdal_create gdalinfo python3; do
    command -v $tool >/dev/null || skip "needs $tool"
done

T=$(mktemp -d "${TMPDIR:-/tmp}/qfz_cli_XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP # exit runs the trap above
mkdir "$T/out"
checks=0
failures=0
left_out=0

wrong() {
    failures=$((failures + 1))
    echo "WRONG: $*"
    if [ -s "$T/stderr" ]; then sed 's/^/    stderr: /' "$T/stderr" | cut -c1-300 | head -5; fi
}

# leave_out REASON...: skips a part of the test; the other parts run, and the test counts as skipped.
leave_out() {
    echo "skipped: $*"
    left_out=77
}

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    checks=$((checks + 1))
    "$@" >/dev/null 2>&1 || wrong "$name"
}

# run COMMAND...: sets rc, $T/stdout, $T/stderr.
run() {
    rc=0
    timeout 60 "$@" >"$T/stdout" 2>"$T/stderr" </dev/null || rc=$?
}

# refused NAME WORD COMMAND...: the command must fail with one line on stderr that matches WORD (an
# extended regular expression), print nothing on stdout and leave no file in $T/out.
refused() {
    name=$1
    word=$2
    shift 2
    checks=$((checks + 1))
    run "$@"
    if [ "$rc" -eq 0 ]; then wrong "$name: exit status 0"; fi
    if [ "$rc" -ge 124 ]; then wrong "$name: exit status $rc"; fi
    if [ "$(wc -l <"$T/stderr")" -ne 1 ]; then wrong "$name: $(wc -l <"$T/stderr") lines on stderr"; fi
    if ! grep -qiE -- "$word" "$T/stderr"; then wrong "$name: \"$word\" is not in the message"; fi
    if [ -s "$T/stdout" ]; then wrong "$name: something on stdout"; fi
    nothing_left "$name"
}

# nothing_left NAME: $T/out must be empty.
nothing_left() {
    if [ -n "$(ls -A "$T/out")" ]; then
        wrong "$1: left behind: $(ls -A "$T/out" | tr '\n' ' ')"
        rm -rf "$T/out"
        mkdir "$T/out"
    fi
}

# accepted NAME COMMAND...: the command must succeed and print nothing on stdout.
accepted() {
    name=$1
    shift
    checks=$((checks + 1))
    run "$@"
    if [ "$rc" -ne 0 ]; then wrong "$name: exit status $rc"; fi
    if [ -s "$T/stdout" ]; then wrong "$name: something on stdout"; fi
}

# grid FILE [TYPE]: writes the rows on stdin (an ASCII grid without its header) to a GeoTIFF.
grid() {
    cat >"$T/rows"
    {
        echo "ncols $(head -1 "$T/rows" | wc -w)"
        echo "nrows $(wc -l <"$T/rows")"
        echo "xllcorner 0"
        echo "yllcorner 0"
        echo "cellsize 1"
        cat "$T/rows"
    } >"$T/grid.asc"
    gdal_translate -q -ot "${2:-Byte}" "$T/grid.asc" "$1" || exit 1
    rm -f "$T/grid.asc" "$T/grid.prj"
}

# values FILE: prints all pixels of band 1.
values() {
    gdal_translate -q -of XYZ "$1" /vsistdout/ 2>/dev/null | awk '{ printf "%s ", $3 }'
}

finish() {
    echo "$checks checks, $failures wrong"
    [ "$failures" -eq 0 ] || exit 1
    exit $left_out
}

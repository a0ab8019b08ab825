#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh QFZ - names of outputs: symbolic links, descriptors, files that appear during the run,
# temporary names, several outputs that appear together.
. "$(dirname "$0")/lib.sh"

python3 - "$T" <<'PYTHON'
import random, sys
random.seed(6)
n = 2000
open(sys.argv[1] + "/noise.pgm", "wb").write(b"P5 %d %d 255\n" % (n, n) + random.randbytes(n * n))
PYTHON
gdal_translate -q -co TILED=YES "$T/noise.pgm" "$T/noise.tif"
gdal_translate -q -srcwin 0 0 40 40 "$T/noise.pgm" "$T/small.tif"
is_raster() { gdalinfo "$1" >/dev/null 2>&1; }

# ---- A symbolic link: the file that it leads to is written.
mkdir "$T/far"
ln -s ../far/there.tif "$T/out/link.tif"
accepted "a link to a file that does not exist" "$qfz" label -q "$T/small.tif" "$T/out/link.tif"
check "the file is where the link leads to" is_raster "$T/far/there.tif"
check "the link remains" test -h "$T/out/link.tif"
run "$qfz" label -q "$T/small.tif" "$T/out/link.tif"
if [ "$rc" -ne 1 ] || ! grep -q 'there.tif: already exists' "$T/stderr"; then wrong "a link to a file, without --overwrite: $rc"; fi
before=$(stat -c %i "$T/far/there.tif")
accepted "a link, --overwrite" "$qfz" label -q --overwrite "$T/small.tif" "$T/out/link.tif"
check "the link remains after --overwrite" test -h "$T/out/link.tif"
check "the file was replaced" test "$before" != "$(stat -c %i "$T/far/there.tif")"
ln -s link.tif "$T/out/loop.tif"
ln -sf loop.tif "$T/out/link.tif"
run "$qfz" label -q "$T/small.tif" "$T/out/link.tif"
if [ "$rc" -ne 1 ] || ! grep -q 'too many symbolic links' "$T/stderr"; then wrong "a loop of links: $rc"; fi
rm -rf "$T/out/"* "$T/far"

# ---- Descriptors, pipes.
# Through a link of the test: run by root, a command that replaces links would replace the system's.
echo precious >"$T/standard"
ln -s /proc/self/fd/1 "$T/stdout_link"
checks=$((checks + 1))
rc=0
"$qfz" label -q --overwrite "$T/small.tif" "$T/stdout_link" >>"$T/standard" 2>"$T/stderr" || rc=$?
if [ "$rc" -ne 1 ] || ! grep -q 'not a regular file' "$T/stderr"; then
    wrong "a link to standard output: status $rc"
fi
check "standard output is unchanged" grep -q precious "$T/standard"
check "the link to standard output remains" test -h "$T/stdout_link"
mkfifo "$T/pipe"
refused "a pipe" 'pipe: not a regular file' "$qfz" label --overwrite "$T/small.tif" "$T/pipe"
check "the pipe is still a pipe" test -p "$T/pipe"

# during WHAT COMMAND...: runs COMMAND in the background, and the shell command WHAT once a temporary
# file of the job is there.
during() {
    what=$1
    shift
    rc=0
    "$@" >"$T/stdout" 2>"$T/stderr" </dev/null &
    pid=$!
    temp=
    for _ in $(seq 1 3000); do
        temp=$(find "$T/out" -name '.*.qfz-*' | head -1)
        if [ -n "$temp" ]; then break; fi
        sleep 0.01
    done
    eval "$what"
    wait $pid || rc=$?
    checks=$((checks + 1))
}
no_temporaries() {
    if find "$T/out" -name '.*' -type f | grep -q .; then wrong "$1: left $(ls -A "$T/out")"; fi
}

# ---- A file that appears during the run is not replaced without --overwrite.
during 'echo precious >"$T/out/dst.tif"' "$qfz" saliency -q --tile 64 "$T/noise.tif" "$T/out/dst.tif"
if [ "$rc" -ne 1 ] || ! grep -q 'dst.tif: another process has made this file' "$T/stderr"; then
    wrong "an output that appears during the run: status $rc"
fi
check "it is unchanged" grep -q precious "$T/out/dst.tif"
no_temporaries "an output that appears"
case $(basename "$temp") in
.dst-tif.qfz-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]????????-tmp.tif) ;;
*) wrong "not a random name: $temp" ;;
esac
during 'echo old >"$T/out/dst.tif"' "$qfz" saliency -q --overwrite --tile 64 "$T/noise.tif" "$T/out/dst.tif"
if [ "$rc" -ne 0 ]; then wrong "--overwrite, an output that appears: status $rc"; fi
check "--overwrite replaces it" is_raster "$T/out/dst.tif"
no_temporaries "an output that appears, --overwrite"
rm -rf "$T/out/"*

# ---- Several outputs appear together.  A folder with the name of the second one makes its rename fail.
for overwrite in "" --overwrite; do
    for second in labels.tif r.csv; do
        if [ -n "$overwrite" ]; then echo precious >"$T/out/dst.tif"; fi
        # shellcheck disable=SC2086
        during "mkdir $T/out/$second" "$qfz" simplify -q $overwrite --tile 64 --omega 255 \
            --labels "$T/out/labels.tif" --regions "$T/out/r.csv" "$T/noise.tif" "$T/out/dst.tif"
        if [ "$rc" -ne 1 ] || ! grep -q "$second: a folder has this name" "$T/stderr"; then
            wrong "$second cannot be renamed: status $rc"
        fi
        rmdir "$T/out/$second"
        if [ -n "$overwrite" ]; then
            check "$second cannot be renamed: the old output is back" grep -q precious "$T/out/dst.tif"
            rm -f "$T/out/dst.tif"
        fi
        nothing_left "$second cannot be renamed"
    done
done

# ---- Modes follow the umask, in the folder of the output and in that of --work.
for mask in 022 077; do
    (
        umask $mask
        exec "$qfz" label -q --work "$T/out/work" "$T/small.tif" "$T/out/dst.tif"
    )
    modes=$(stat -c %a "$T/out/dst.tif" "$T/out/work/job" | sort -u | tr '\n' ' ')
    case $mask in
    022) check "umask 022: $modes" test "$modes" = "644 " ;;
    077) check "umask 077: $modes" test "$modes" = "600 " ;;
    esac
    names=$(ls "$T/out/work")
    rm -rf "$T/out/"*
done

# ---- Planted links in the folder of --work are not followed.
mkdir "$T/out/work"
echo precious >"$T/victim"
for name in $names job.tmp done.tmp finishing.tmp "job.$$.tmp"; do
    if [ "$name" != job ] && [ ! -h "$T/out/work/$name" ]; then ln -s "$T/victim" "$T/out/work/$name"; fi
done
run "$qfz" label -q --work "$T/out/work" "$T/small.tif" "$T/out/dst.tif"
check "a file behind planted links is unchanged" test "$(cat "$T/victim")" = precious
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# torture_one.sh QFZ SCRATCH LIMIT TASK FILE - one run for torture.sh.
qfz=$1
task=$4
file=$5
name="$task $(basename "$file")"
out=$(mktemp -d "$2/run_XXXXXX") || exit 1
errors=$out.stderr
if [ "$3" = yes ]; then ulimit -v 6000000; fi
before=$(ls -A "$(dirname "$file")" | cksum)
rc=0
case $task in
label) set -- label "$file" "$out/dst.tif" ;;
simplify) set -- simplify --alpha 2 --omega 5 --labels "$out/labels.tif" --regions "$out/r.csv" "$file" "$out/dst.tif" ;;
saliency) set -- saliency --connectivity 8 "$file" "$out/dst.tif" ;;
layouts) set -- saliency --layout khalimsky --distance linf "$file" "$out/dst.tif" ;;
cut) set -- cut --alpha 1 "$file" "$out/dst.tif" ;;
info) set -- info "$file" ;;
esac
task=$1
shift
if [ "$task" = info ]; then set -- "$1"; fi
if [ "$task" != info ]; then set -- --memory 500MB -j 1 "$@"; fi
# On an idle machine the largest raster takes 5 s with a sanitizer; GDAL takes 30 s to decode the one
# tile of 537 Mpixel.
seconds=60
case $file in *single_block_32769_16385.jp2) seconds=240 ;; esac
timeout --preserve-status -k 5 $seconds "$qfz" "$task" "$@" >"$out.stdout" 2>"$errors" </dev/null || rc=$?
lines=$(wc -l <"$errors")
say() {
    echo "WRONG: $name: $*"
    head -3 "$errors" | cut -c1-250 | sed 's/^/    /'
}
if [ "$rc" -ge 124 ]; then
    say "exit status $rc"
elif [ "$rc" -ne 0 ]; then
    [ "$lines" -eq 1 ] || say "exit status $rc, $lines lines on stderr"
    if grep -q 'stopped' "$errors"; then say "not done after $seconds s"; fi
    [ -z "$(ls -A "$out")" ] || say "left behind: $(ls -A "$out" | tr '\n' ' ')"
    [ ! -s "$out.stdout" ] || say "something on stdout"
else
    for f in "$out"/*.tif; do
        [ -f "$f" ] || continue
        gdalinfo -checksum "$f" 2>&1 | grep -q ERROR && say "$(basename "$f") cannot be read"
    done
    extra=$(ls -A "$out" | grep -vE '^(dst\.tif|labels\.tif|r\.csv)$' | tr '\n' ' ')
    [ -z "$extra" ] || say "left behind: $extra"
    [ "$task" = info ] || [ -f "$out/dst.tif" ] || say "no output"
    [ "$task" = info ] || [ ! -s "$out.stdout" ] || say "something on stdout"
fi
[ "$before" = "$(ls -A "$(dirname "$file")" | cksum)" ] || say "wrote beside the source"
rm -rf "$out" "$errors" "$out.stdout"
exit 0

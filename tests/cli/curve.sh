#!/bin/sh
# SPDX-License-Identifier: MIT
# curve.sh QFZ DATA - the outputs of qfz curve; its numbers against those of label --count-only and
# of cut, also on real rasters; bad input.
. "$(dirname "$0")/lib.sh"
data=$2

grid "$T/in.tif" <<'ROWS'
1 1 2
3 9 2
ROWS

# 1 1 2 2 are joined at 1, 3 at 2, 9 at 6; the 1 and the 9 differ by 8.
printf 'alpha,regions\n0,4\n1,3\n2,2\n6,1\n' >"$T/want.csv"
for tile in 1 2 64; do
    checks=$((checks + 1))
    run "$qfz" curve -q --format csv --tile $tile "$T/in.tif"
    cmp -s "$T/stdout" "$T/want.csv" || wrong "tile $tile: $(cat "$T/stdout")"
done
# Regions of two pixels: 3 and 9 join 1 1 first.
printf 'alpha,regions\n0,2\n1,1\n' >"$T/want_2.csv"
for tile in 1 2 64; do
    checks=$((checks + 1))
    run "$qfz" curve -q --format csv --min-area 2 --tile $tile "$T/in.tif"
    cmp -s "$T/stdout" "$T/want_2.csv" || wrong "least area, tile $tile: $(cat "$T/stdout")"
done
accepted "-o" "$qfz" curve -q --format csv -o "$T/out/c.csv" --plot "$T/out/c.png" "$T/in.tif"
check "the file is as stdout" cmp "$T/out/c.csv" "$T/want.csv"
check "the plot is a PNG" sh -c "gdalinfo '$T/out/c.png' | grep -q 'Size is 900, 600'"
checks=$((checks + 2))
[ "$(ls -A "$T/out" | tr '\n' ' ')" = "c.csv c.png " ] || wrong "left behind: $(ls -A "$T/out")"
run "$qfz" curve -q --format json "$T/in.tif"
python3 - "$T/stdout" <<'PYTHON' || wrong "JSON: $(cat "$T/stdout")"
import json, sys
found = json.load(open(sys.argv[1]))
assert found["curve"] == {"alpha": [0, 1, 2, 6], "regions": [4, 3, 2, 1]}, found
assert found["exact_below"] is None and found["regions"] == 4 and found["pixels"] == 6, found
PYTHON
checks=$((checks + 1))
run "$qfz" curve -q "$T/in.tif"
[ "$(awk 'NF == 3 && $1 ~ /^[0-9]+$/ {printf "%s:%s:%s ", $1, $2, $3}' "$T/stdout")" = \
    "4:0:4 2:2:2 1:6:1 1:6:1 " ] || wrong "text: $(cat "$T/stdout")"

# At most K regions: the least alpha of the curve.
for pair in 9:0:4 4:0:4 3:1:3 2:2:2 1:6:1; do
    checks=$((checks + 1))
    run "$qfz" label -q --count-only --regions-target "${pair%%:*}" --tile 2 "$T/in.tif"
    found=$(sed -n 's/^ *"\(alpha\|regions\)": \([0-9]*\),*$/\2/p' "$T/stdout" | tr '\n' ':')
    [ "$found" = "${pair#*:}:" ] || wrong "regions-target ${pair%%:*}: $found, $(cat "$T/stdout")"
done
# The plan has the passes of the curve, too.
passes() {
    run "$qfz" info --json "$@" "$T/in.tif"
    sed -n 's/^ *"passes": \([0-9]*\),*$/\1/p' "$T/stdout"
}
for area in "" "--min-area 2"; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # two words or none
    with=$(passes --task label --regions-target 3 $area)
    # shellcheck disable=SC2086
    without=$(passes --task label --alpha 3 $area) of_curve=$(passes --task curve $area)
    [ "$with" -eq $((without + of_curve)) ] || wrong "a plan with a target: $with passes, not $without + $of_curve"
done
rm -f "$T/out"/*
refused "alpha beside a target" 'leave out --alpha' \
    "$qfz" label --regions-target 3 --alpha 2 "$T/in.tif" "$T/out/l.tif"
refused "a target in phases" 'has no phases; find alpha by the phases of curve' \
    "$qfz" label --regions-target 3 --work "$T/out" --phase stitch "$T/in.tif" "$T/out/l.tif"
refused "a target of 0" 'must be 1' "$qfz" label --regions-target 0 "$T/in.tif" "$T/out/l.tif"
grid "$T/apart.tif" <<'ROWS'
1 0 2
ROWS
refused "areas apart" 'no alpha gives 1 regions or fewer; 2 areas' \
    "$qfz" label --nodata 0 --regions-target 1 "$T/apart.tif" "$T/out/l.tif"

# Every way to hide pixels reaches the curve.
gdal_create -q -of GTiff -outsize 3 2 -bands 1 -burn 0 "$T/none.tif"
for hiding in "--nodata 9" "--mask $T/in.tif" "--mask $T/none.tif"; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # two words
    run "$qfz" curve -q --format csv $hiding "$T/in.tif"
    case $hiding in
    *9) want="alpha,regions 0,3 1,2 2,1 " ;;
    *in.tif) want="alpha,regions 0,4 1,3 2,2 6,1 " ;;
    *) want="alpha,regions 0,0 " ;;
    esac
    [ "$(tr '\n' ' ' <"$T/stdout")" = "$want" ] || wrong "$hiding: $(cat "$T/stdout")"
done
run "$qfz" curve -q --mask "$T/none.tif" "$T/in.tif"
[ "$rc" -eq 0 ] || wrong "a raster without a valid pixel: status $rc"

# --- bad input
rm -f "$T/out"/*
refused "no plot of nothing" 'c\.png: a curve without regions' \
    "$qfz" curve -q --mask "$T/none.tif" --plot "$T/out/c.png" "$T/in.tif"
refused "no such file" 'missing\.tif' "$qfz" curve "$T/missing.tif"
refused "an unknown format" 'format' "$qfz" curve --format xml "$T/in.tif"
refused "an output raster" 'too many' "$qfz" curve "$T/in.tif" "$T/out/dst.tif"
refused "a file that exists" 'want\.csv: already exists; use --overwrite' \
    "$qfz" curve -o "$T/want.csv" "$T/in.tif"
refused "a plot that exists" 'want\.csv: already exists' \
    "$qfz" curve --plot "$T/want.csv" "$T/in.tif"
# Before the work begins: the message is not about the source.
refused "a folder that is missing" 'nowhere' "$qfz" curve -o "$T/nowhere/c.csv" "$T/missing.tif"
refused "a plot in a folder that is missing" 'nowhere' \
    "$qfz" curve --plot "$T/nowhere/c.png" "$T/missing.tif"
ln -s "$T/in.tif" "$T/link.tif"
for input in "$T/in.tif" "$T/./in.tif" "$T/link.tif"; do
    refused "the source as text" 'would replace an input' \
        "$qfz" curve --overwrite -o "$input" "$T/in.tif"
    refused "the source as plot" 'would replace an input' \
        "$qfz" curve --overwrite --plot "$input" "$T/in.tif"
done
refused "the mask as text" 'would replace an input' \
    "$qfz" curve --overwrite --mask "$T/link.tif" -o "$T/in.tif" "$T/apart.tif"
for same in "$T/out/c" "$T/./out/../out/c"; do
    refused "one name for text and plot" 'two outputs have this name' \
        "$qfz" curve -o "$T/out/c" --plot "$same" "$T/missing.tif"
done
refused "alpha" 'not an option of qfz curve' "$qfz" curve --alpha 3 "$T/in.tif"
accepted "--overwrite" "$qfz" curve -q --overwrite -o "$T/want.csv" "$T/in.tif"
if [ -c /dev/full ]; then
    checks=$((checks + 1))
    rc=0
    "$qfz" curve -q "$T/in.tif" >/dev/full 2>"$T/stderr" || rc=$?
    if [ "$rc" -ne 1 ] || ! grep -q 'stdout' "$T/stderr"; then wrong "stdout is full: status $rc"; fi
fi

# --- real rasters
# number ALPHA: of the curve in $T/curve.csv.
number() {
    awk -F, -v alpha="$1" 'NR > 1 && $1 + 0 <= alpha + 0 { n = $2 } END { print n }' "$T/curve.csv"
}

# same FILE ALPHAS OPTIONS...: curve and label count the same.
same() {
    file=$data/$1
    alphas=$2
    name=$1
    shift 2
    if [ ! -f "$file" ]; then
        leave_out "no $name"
        return
    fi
    "$qfz" curve -q --format csv --overwrite -o "$T/curve.csv" "$@" "$file" || wrong "$name: curve"
    for alpha in $alphas; do
        checks=$((checks + 1))
        run "$qfz" label -q --count-only --alpha "$alpha" "$@" "$file"
        got=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["regions"])' <"$T/stdout")
        [ "$(number "$alpha")" = "$got" ] || wrong "$name at $alpha: $(number "$alpha"), not $got"
    done
}

everest=demo/landsat7_everest_rgb_u8.tif
same $everest "0 1 2 3 5.5 30 77 110 inf" --distance l1 --connectivity 8
same $everest "0 1 2.5 7 30 200" --distance l2
same demo/landsat7_bahamas_rgb_u8_nd0.tif "0 2 9 40 255" --distance linf
same demo/nlcd_zion_2013_palette_u8.tif "0 1 9 40"
same demo/s2_aberystwyth_10band_u16.tif "0 50 100 333.3 800" --distance linf
same demo/naip_potholes_rgbn_u8.tif "0 3 8 20 60" --distance l1 --tile 333
same demo/naip_potholes_rgbn_u8.tif "0 8 60" --distance l1 --tile 333 --min-area 25
same $everest "0 7.5 200" --distance l2 --min-area 4ha

# Counts that another program found.
if [ -f "$data/$everest" ]; then
    "$qfz" curve -q --format csv --overwrite -o "$T/curve.csv" --distance linf "$data/$everest"
    "$qfz" saliency -q --distance linf "$data/$everest" "$T/hierarchy.tif"
    for pair in 4:193984 9:94760 20:29988; do
        checks=$((checks + 2))
        alpha=${pair%:*}
        want=${pair#*:}
        [ "$(number "$alpha")" = "$want" ] || wrong "curve at $alpha: $(number "$alpha")"
        run "$qfz" cut --count-only --alpha "$alpha" "$T/hierarchy.tif"
        grep -q "\"regions\": $want," "$T/stdout" || wrong "cut at $alpha: $(cat "$T/stdout")"
    done
fi
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh QFZ - qfz check: each kind of fault in a small raster is found at its pixel, with exit status
# 3; right rasters pass; bad input.
. "$(dirname "$0")/lib.sh"

# right NAME COMMAND...: exit status 0.
right() {
    name=$1
    shift
    checks=$((checks + 1))
    run "$@"
    if [ "$rc" -ne 0 ]; then wrong "$name: exit status $rc"; fi
}

# fault NAME X Y WORDS OPTIONS...: the rows on stdin are labels of in.tif with a fault at a pixel.
fault() {
    name=$1 x=$2 y=$3 words=$4
    shift 4
    grid "$T/faulty.tif" Float32
    checks=$((checks + 1))
    run "$qfz" check -q "$@" "$T/faulty.tif" "$T/in.tif"
    if [ "$rc" -ne 3 ]; then wrong "$name: exit status $rc"; fi
    if ! grep -q ": column $x, row $y: .*$words" "$T/stderr"; then wrong "$name: not at $x, $y"; fi
}

grid "$T/in.tif" <<'ROWS'
5 5 5 5 5
5 9 9 9 5
5 9 0 9 7
5 5 5 5 5
ROWS
grid "$T/right.tif" <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 3
1 1 1 1 1
ROWS
right "by hand" "$qfz" check -q --background 0 "$T/right.tif" "$T/in.tif"
right "without a source" "$qfz" check -q "$T/right.tif"

fault "two labels in a region" 4 3 "label 3, .*column 3, row 3 has label 1" --background 0 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 3
1 1 1 1 3
ROWS
fault "a label is left out" 4 2 "label 4 comes first here, after labels up to 2" --background 0 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 4
1 1 1 1 1
ROWS
fault "one label for two regions" 4 2 "a second region of label 2" --background 0 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 2
1 1 1 1 1
ROWS
fault "not in raster order" 0 0 "label 2 comes first here" --background 0 <<'ROWS'
2 2 2 2 2
2 1 1 1 2
2 1 0 1 3
2 2 2 2 2
ROWS
fault "a valid pixel without a label" 4 2 "label 0, but the pixel is valid" --background 0 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 0
1 1 1 1 1
ROWS
fault "a label on the background" 2 2 "label 2, but the pixel is invalid" --background 0 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 2 2 3
1 1 1 1 1
ROWS
fault "no label at all" 3 0 "no label" --background 0 <<'ROWS'
1 1 1 1.5 1
1 2 2 2 1
1 2 0 2 3
1 1 1 1 1
ROWS
fault "omega is passed" 1 1 "span more than omega" --alpha 4 --omega 3 <<'ROWS'
1 1 1 1 1
1 1 1 1 1
1 1 2 1 1
1 1 1 1 1
ROWS
fault "omega allows more" 0 3 "label 5, but 1 when computed anew" --alpha 4 --omega 3 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 3 2 4
5 5 5 5 5
ROWS
fault "a region is too small" 4 2 "less than the least area" --background 0 --alpha 0 --min-area 2 <<'ROWS'
1 1 1 1 1
1 2 2 2 1
1 2 0 2 3
1 1 1 1 1
ROWS

# Outputs of each command, with what they were made by in their metadata; then one wrong value.
for task in "label" "label --alpha 2 --connectivity 8" "label --alpha 1 --min-area 3" \
    "saliency" "saliency --connectivity 8 --distance linf"; do
    # shellcheck disable=SC2086 # several words
    accepted "$task" "$qfz" ${task%% *} -q --overwrite $(echo "$task " | cut -d' ' -f2-) "$T/in.tif" \
        "$T/made.tif"
    right "check of $task" "$qfz" check -q "$T/made.tif" "$T/in.tif"
    cp "$T/made.tif" "$T/whole.tif"
done
accepted "simplify" "$qfz" simplify -q --alpha 4 --omega 3 --labels "$T/l.tif" "$T/in.tif" "$T/p.tif"
right "check of simplify" "$qfz" check -q "$T/l.tif" "$T/in.tif"
accepted "omega alone" "$qfz" simplify -q --overwrite --omega 3 --labels "$T/l.tif" "$T/in.tif" \
    "$T/p.tif"
right "check without alpha" "$qfz" check -q "$T/l.tif" "$T/in.tif"
accepted "cut" "$qfz" cut -q --alpha 2 "$T/whole.tif" "$T/cut.tif"
right "check of a cut" "$qfz" check -q "$T/cut.tif" "$T/in.tif"

# Saliency against a source with other levels: too great, too low.
checks=$((checks + 2))
grid "$T/less.tif" <<'ROWS'
5 5 5 5 5
5 6 6 6 5
5 6 0 6 7
5 5 5 5 5
ROWS
grid "$T/more.tif" <<'ROWS'
5 5 5 5 5
5 29 29 29 5
5 29 0 29 7
5 5 5 5 5
ROWS
run "$qfz" check -q "$T/whole.tif" "$T/less.tif"
if [ "$rc" -ne 3 ] || ! grep -q 'column 0, row 0: band 3: .*which is less' "$T/stderr"; then
    wrong "levels that are too great"
fi
run "$qfz" check -q "$T/whole.tif" "$T/more.tif"
if [ "$rc" -ne 3 ] || ! grep -q 'column [0-9], row [0-9]: .*when computed anew' "$T/stderr"; then
    wrong "levels that are too low"
fi

checks=$((checks + 1))
run "$qfz" check --json "$T/right.tif" "$T/in.tif"
python3 - "$T/stdout" <<'PYTHON' || wrong "JSON: $(cat "$T/stdout")"
import json, sys
found = json.load(open(sys.argv[1]))
assert found["right"] is False and found["faults"] == 1 and (found["x"], found["y"]) == (2, 2), found
assert found["content"] == "labels" and not found["compared"] and found["regions"] == 3, found
PYTHON

# The table of regions: right ones in several formats, then CSV with one fault.
for extension in csv gpkg fgb; do
    accepted "table.$extension" "$qfz" label -q --overwrite --background 0 --alpha 0 \
        --regions "$T/table.$extension" "$T/in.tif" "$T/labels.tif"
    right "check of table.$extension" "$qfz" check -q --background 0 --table "$T/table.$extension" \
        "$T/labels.tif" "$T/in.tif"
done
printf 'px_x1,label\n5,1\n4,2\n5,3\n' >"$T/few.csv"
right "check of few columns" "$qfz" check -q --table "$T/few.csv" "$T/labels.tif"

# faulty_table NAME WORDS SCRIPT: sed changes the right table of label,pixels,px_x0,px_y0,px_x1,px_y1.
faulty_table() {
    checks=$((checks + 1))
    sed "$3" "$T/box.csv" >"$T/faulty.csv"
    run "$qfz" check -q --table "$T/faulty.csv" "$T/labels.tif"
    if [ "$rc" -ne 3 ]; then wrong "$1: exit status $rc"; fi
    if ! grep -qE ": $2\$" "$T/stderr"; then wrong "$1: not \"$2\""; fi
    if [ "$(wc -l <"$T/stderr")" -ne 1 ]; then wrong "$1: more than one fault"; fi
}
printf 'label,pixels,px_x0,px_y0,px_x1,px_y1\n1,13,0,0,5,4\n2,5,1,1,4,3\n3,1,4,2,5,3\n' >"$T/box.csv"
right "a table by hand" "$qfz" check -q --table "$T/box.csv" "$T/labels.tif"
faulty_table "missing row" "column 1, row 1: label 2 has no row in the table" '/^2,/d'
faulty_table "missing last row" "column 4, row 2: label 3 has no row in the table" '$d'
faulty_table "doubled row" "column 1, row 1: label 2 has 2 rows in the table" '/^2,/p'
faulty_table "wrong count" "column 1, row 1: label 2: pixels is 6 in the table, but 5 in the raster" \
    's/^2,5/2,6/'
faulty_table "wrong px_x0" "column 4, row 2: label 3: px_x0 is 3 in the table, but 4 in the raster" \
    's/^3,1,4,2,5,3/3,1,3,2,5,3/'
faulty_table "wrong px_y0" "column 4, row 2: label 3: px_y0 is 1 in the table, but 2 in the raster" \
    's/^3,1,4,2,5,3/3,1,4,1,5,3/'
faulty_table "wrong px_x1" "column 4, row 2: label 3: px_x1 is 6 in the table, but 5 in the raster" \
    's/^3,1,4,2,5,3/3,1,4,2,6,3/'
faulty_table "wrong px_y1" "column 4, row 2: label 3: px_y1 is 4 in the table, but 3 in the raster" \
    's/^3,1,4,2,5,3/3,1,4,2,5,4/'
faulty_table "no number" "column 1, row 1: label 2: pixels is no whole number in the table, .*" \
    's/^2,5/2,5.5/'
faulty_table "foreign label" "label 4 has a row in the table, but no pixel" '$a 4,1,4,2,5,3'
faulty_table "label 0" "row 1 of the table: label 0, which no region has" '1a 0,1,4,2,5,3'
faulty_table "no label" "row 4 of the table: the label is no whole number" '$a ,1,4,2,5,3'
checks=$((checks + 1))
{ head -1 "$T/box.csv"; tail -n +2 "$T/box.csv" | sort -r; } >"$T/turned.csv"
run "$qfz" check --json -q --table "$T/turned.csv" "$T/labels.tif"
if [ "$rc" -ne 0 ] || ! grep -q '"table": ".*turned.csv"' "$T/stdout"; then
    wrong "another order of rows: $(cat "$T/stdout")"
fi

# Polygons: right ones of 4- and 8-connected labels, then by hand with one fault.
for connectivity in 4 8; do
    for extension in gpkg fgb; do
        accepted "polygons.$extension" "$qfz" label -q --overwrite --connectivity $connectivity \
            --alpha 0 --polygons "$T/polygons.$extension" --regions "$T/table.csv" "$T/in.tif" \
            "$T/connected.tif"
        right "check of polygons.$extension" "$qfz" check -q --polygons "$T/polygons.$extension" \
            --table "$T/table.csv" "$T/connected.tif" "$T/in.tif"
    done
done
accepted "simplified" "$qfz" regions -q --simplify-tolerance 3 --polygons "$T/simplified.fgb" \
    "$T/labels.tif"
checks=$((checks + 1))
run "$qfz" check -q --polygons "$T/simplified.fgb" "$T/labels.tif"
if [ "$rc" -ne 3 ] || ! grep -q "simplified polygons cannot be checked" "$T/stderr"; then
    wrong "simplified polygons: exit status $rc"
fi

# faulty_polygon NAME WORDS SCRIPT: sed changes the right polygons.
faulty_polygon() {
    checks=$((checks + 1))
    sed "$3" "$T/hand.csv" >"$T/faulty.csv"
    run "$qfz" check -q --polygons "$T/faulty.csv" "$T/labels.tif"
    if [ "$rc" -ne 3 ]; then wrong "$1: exit status $rc"; fi
    if ! grep -qE ": $2\$" "$T/stderr"; then wrong "$1: not \"$2\""; fi
    if [ "$(wc -l <"$T/stderr")" -ne 1 ]; then wrong "$1: more than one fault"; fi
}
cat >"$T/hand.csv" <<'ROWS'
WKT,label,pixels
"POLYGON ((0 4,5 4,5 2,4 2,4 3,1 3,1 1,5 1,5 0,0 0,0 4))",1,13
"MULTIPOLYGON (((1 3,4 3,4 1,1 1,1 3),(2 2,3 2,3 1,2 1,2 2)))",2,5
"POLYGON ((4 2,5 2,5 1,4 1,4 2))",3,1
ROWS
right "polygons by hand" "$qfz" check -q --polygons "$T/hand.csv" "$T/labels.tif"
at_3="column 4, row 2: label 3"
faulty_polygon "another place" "$at_3: the polygon is not the region's outline" \
    's/4 2,5 2,5 1,4 1,4 2/4 1,5 1,5 0,4 0,4 1/'
faulty_polygon "too large" "$at_3: the polygon covers 2 pixels, but the region has 1" \
    's/4 2,5 2,5 1,4 1,4 2/4 2,5 2,5 0,4 0,4 2/'
faulty_polygon "a hole is missing" "column 1, row 1: label 2: the polygon covers 6 pixels, but .* 5" \
    's/,(2 2,3 2,3 1,2 1,2 2)//'
faulty_polygon "a spike" "$at_3: the polygon is not the region's outline" \
    's/4 2,5 2,5 1,4 1,4 2/4 2,5 2,5 1,5 0,5 1,4 1,4 2/'
faulty_polygon "half a pixel" "$at_3: the polygon has a point that is no corner of pixels" \
    's/4 2,5 2,5 1,4 1,4 2/4.5 2,5 2,5 1,4.5 1,4.5 2/'
faulty_polygon "outside" "$at_3: the polygon has a point that is no corner of pixels" \
    's/4 2,5 2,5 1,4 1,4 2/4 2,6 2,6 1,4 1,4 2/'
faulty_polygon "slanting" "$at_3: the polygon has a slanting line; .*" \
    's/4 2,5 2,5 1,4 1,4 2/4 2,5 2,4 1,4 2/'
faulty_polygon "no polygon" "$at_3: the row has no polygon" 's/"POLYGON ((4 2[^"]*"//'
faulty_polygon "a point" "$at_3: the row has no polygon" 's/"POLYGON ((4 2[^"]*"/POINT (4 2)/'
faulty_polygon "no row" "$at_3 has no row in the table of polygons" '$d'
faulty_polygon "two rows" "$at_3 has 2 rows in the table of polygons" '$p'
faulty_polygon "wrong number" "$at_3: pixels is 2 in the table of polygons, but 1 in the raster" \
    's/,3,1$/,3,2/'
faulty_polygon "foreign polygon" "label 4 has a row in the table of polygons, but no pixel" \
    '$a "POLYGON ((4 2,5 2,5 1,4 1,4 2))",4,1'

# More regions than the memory holds at a time: sorted outside of it, in any order of rows.
python3 - "$T/many.pgm" <<'PYTHON'
import sys
w = 300
with open(sys.argv[1], "wb") as f:
    f.write(b"P5 %d %d 255\n" % (w, w))
    f.write(bytes((x + y) % 2 for y in range(w) for x in range(w)))
PYTHON
accepted "many" "$qfz" label -q --regions "$T/many.csv" --columns label,pixels,px_x0,px_y0 \
    "$T/many.pgm" "$T/many.tif"
{ head -1 "$T/many.csv"; tail -n +2 "$T/many.csv" | sort -t, -k2,2 -k1,1r; } >"$T/sorted.csv"
checks=$((checks + 1))
sed -i '/^80000,/d' "$T/sorted.csv"
run "$qfz" check -q --memory 64MiB --table "$T/sorted.csv" "$T/many.tif"
if [ "$rc" -ne 3 ] || ! grep -q "column 199, row 266: label 80000 has no row" "$T/stderr"; then
    wrong "one of many rows is missing: exit status $rc"
elif grep -q "faults in all" "$T/stderr"; then
    wrong "many rows in another order"
fi

# Bad input.
printf 'name,pixels\na,1\n' >"$T/other.csv"
refused "another table" 'other.csv: .*no column "label"' "$qfz" check --table "$T/other.csv" \
    "$T/labels.tif"
refused "no table" "none.csv" "$qfz" check --table "$T/none.csv" "$T/labels.tif"
refused "a table of saliency" "belongs to labels" "$qfz" check --table "$T/table.csv" \
    "$T/whole.tif" "$T/in.tif"
refused "other polygons" 'other.csv: .*no column "label"' "$qfz" check --polygons "$T/other.csv" \
    "$T/labels.tif"
refused "painted" "painted regions" "$qfz" check "$T/p.tif" "$T/in.tif"
refused "saliency without a source" "name SRC" "$qfz" check "$T/whole.tif"
gdal_create -q -of GTiff -outsize 4 4 -bands 1 -burn 1 "$T/other.tif"
refused "another size" "4 x 4 pixels, but .* 5 x 4" "$qfz" check "$T/other.tif" "$T/in.tif"
gdal_create -q -of GTiff -outsize 5 4 -bands 3 -burn 1 "$T/rgb.tif"
refused "SRC first" "bands: 3; labels .*RASTER comes first" "$qfz" check "$T/rgb.tif" "$T/right.tif"
gdal_translate -q -mo QFZ_ALPHA=x "$T/right.tif" "$T/odd.tif"
refused "metadata" "QFZ_ALPHA=x" "$qfz" check "$T/odd.tif" "$T/in.tif"
refused "no raster" "none.tif" "$qfz" check "$T/none.tif" "$T/in.tif"
refused "no source" "none.tif" "$qfz" check "$T/right.tif" "$T/none.tif"
gdal_create -q -of GTiff -outsize 1000000 1 -bands 1 -burn 0 "$T/wide.tif"
accepted "wide" "$qfz" saliency -q "$T/wide.tif" "$T/wide_s.tif"
refused "too wide" "use --memory" "$qfz" check --memory 64MiB "$T/wide_s.tif" "$T/wide.tif"
finish

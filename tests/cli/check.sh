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

# Bad input.
refused "painted" "painted regions" "$qfz" check "$T/p.tif" "$T/in.tif"
refused "saliency without a source" "name SRC" "$qfz" check "$T/whole.tif"
gdal_create -q -of GTiff -outsize 4 4 -bands 1 -burn 1 "$T/other.tif"
refused "another size" "4 x 4 pixels, but .* 5 x 4" "$qfz" check "$T/other.tif" "$T/in.tif"
gdal_translate -q -mo QFZ_ALPHA=x "$T/right.tif" "$T/odd.tif"
refused "metadata" "QFZ_ALPHA=x" "$qfz" check "$T/odd.tif" "$T/in.tif"
refused "no raster" "none.tif" "$qfz" check "$T/none.tif" "$T/in.tif"
refused "no source" "none.tif" "$qfz" check "$T/right.tif" "$T/none.tif"
gdal_create -q -of GTiff -outsize 1000000 1 -bands 1 -burn 0 "$T/wide.tif"
accepted "wide" "$qfz" saliency -q "$T/wide.tif" "$T/wide_s.tif"
refused "too wide" "use --memory" "$qfz" check --memory 64MiB "$T/wide_s.tif" "$T/wide.tif"
finish

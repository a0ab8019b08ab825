#!/bin/sh
# SPDX-License-Identifier: MIT
# explore.sh QFZ - the data of the page of qfz explore: pixels, place, curve; texts of the source cannot
# be markup; bad input.  A build without the page refuses.
. "$(dirname "$0")/lib.sh"

grid "$T/in.tif" Int16 <<'ROWS'
1 1 2 300
3 -9 2 5
7 7 7 -300
ROWS
run "$qfz" explore -q --no-curve "$T/in.tif" "$T/out/page.html"
if grep -q 'built without Emscripten' "$T/stderr"; then
    refused "no page" 'QFZ_WEB' "$qfz" explore "$T/in.tif" "$T/out/page.html"
    [ $failures -eq 0 ] || finish
    skip "this build has no page"
fi
rm -f "$T/out/page.html"

# decode FILE: for each window a line of its place and pixels, and one of the validity; then the curve,
# and the texts.
cat >"$T/decode.py" <<'PYTHON'
import array, base64, json, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
facts = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
blocks = re.findall(r'<script type="text/plain" id="pixels-(\d+)">(.*?)</script>', page, re.S)
assert [int(number) for number, _ in blocks] == list(range(1, len(facts["windows"]) + 1))
code, size = {"UInt8": ("B", 1), "Int16": ("h", 2), "Float32": ("f", 4)}[facts["type"]]
for window, (_, packed) in zip(facts["windows"], blocks):
    raw = zlib.decompress(base64.b64decode(packed, validate=True))
    w, n = window["width"], window["width"] * window["height"]
    values = []
    for band in range(len(facts["bands"])):
        at = band * n * size
        words = [sum(raw[at + k * n + p] << 8 * k for k in range(size)) for p in range(n)]
        for p in range(n):
            if p % w:
                words[p] = (words[p] + words[p - 1]) % 256 ** size
        values += array.array(code, b"".join(x.to_bytes(size, "little") for x in words)).tolist()
    rest = raw[len(facts["bands"]) * n * size:]
    assert len(rest) == (0 if window["valid"] == n else n), len(rest)
    print(window["x"], window["y"], w, window["height"], window["valid"], *("%g" % v for v in values))
    print(*rest)
print(json.dumps(facts.get("curve")))
print(facts["src"], *(b["name"] for b in facts["bands"]), *facts["options"])
PYTHON

# shows NAME FILE LINE TEXT: line LINE of what is decoded.
shows() {
    checks=$((checks + 1))
    found=$(python3 "$T/decode.py" "$2" 2>&1 | sed -n "${3}p")
    [ "$found" = "$4" ] || wrong "$1: $found"
}

accepted "a page" "$qfz" explore -q "$T/in.tif" "$T/out/all.html"
shows "all pixels" "$T/out/all.html" 1 "0 0 4 3 12 1 1 2 300 3 -9 2 5 7 7 7 -300"
shows "the curve" "$T/out/all.html" 3 \
    '{"alpha": [0, 1, 2, 3, 4, 10, 295, 305], "regions": [8, 7, 6, 5, 4, 3, 2, 1], "exact_below": null}'
accepted "a window" "$qfz" explore -q --no-curve --window 1,1,3,2 --nodata 7 "$T/in.tif" \
    "$T/out/window.html"
shows "the window" "$T/out/window.html" 1 "1 1 3 2 4 -9 2 5 7 7 -300"
shows "validity" "$T/out/window.html" 2 "1 1 1 0 0 1"
shows "no curve" "$T/out/window.html" 3 "null"
shows "options" "$T/out/window.html" 4 "$T/in.tif  --nodata 7"
checks=$((checks + 1))
[ "$(ls -A "$T/out" | tr '\n' ' ')" = "all.html window.html " ] || wrong "left behind: $(ls -A "$T/out")"
accepted "two windows" "$qfz" explore -q --no-curve --nodata 7 --window 1,1,3,2 --window 0,0,2,1 "$T/in.tif" \
    "$T/out/windows.html"
shows "the first" "$T/out/windows.html" 1 "1 1 3 2 4 -9 2 5 7 7 -300"
shows "the second" "$T/out/windows.html" 3 "0 0 2 1 2 1 1"
shows "validity of the second" "$T/out/windows.html" 4 ""
# Pixels that cannot be compressed: 1024 x 1024 in four bands of 16 bits.
head -c 8388608 /dev/urandom >"$T/noise"
printf 'ENVI\nsamples = 1024\nlines = 1024\nbands = 4\ndata type = 12\ninterleave = bsq\nbyte order = 0\n' \
    >"$T/noise.hdr"
accepted "noise" "$qfz" explore -q --no-curve "$T/noise" "$T/out/noise.html"
checks=$((checks + 1))
[ "$(wc -c <"$T/out/noise.html")" -le 12000000 ] || wrong "noise: $(wc -c <"$T/out/noise.html") bytes"
rm -f "$T/out"/*

printf 'ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n0.25 -1e30\n' >"$T/f.asc"
gdal_translate -q -ot Float32 "$T/f.asc" "$T/f.tif"
accepted "floats" "$qfz" explore -q --no-curve "$T/f.tif" "$T/out/f.html"
shows "floats" "$T/out/f.html" 1 "0 0 2 1 2 0.25 -1e+30"

# --- texts of the source
evil='</script><script>alert(1)</script><!--'
mkdir "$T/evil"
markup="$T/evil/a<img src=x onerror=alert(2)>.vrt"
sed "s|@FILE@|$T/in.tif|" >"$markup" <<'VRT'
<VRTDataset rasterXSize="4" rasterYSize="3">
  <VRTRasterBand dataType="Int16" band="1">
    <Description>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--</Description>
    <SimpleSource><SourceFilename>@FILE@</SourceFilename><SourceBand>1</SourceBand></SimpleSource>
  </VRTRasterBand>
</VRTDataset>
VRT
accepted "a source of markup" "$qfz" explore -q --no-curve "$markup" "$T/out/evil.html"
shows "the texts" "$T/out/evil.html" 4 "$markup $evil"
checks=$((checks + 1))
[ "$(grep -oc '<script\|<img\|<!--' "$T/out/evil.html")" = \
    "$(grep -oc '<script\|<img\|<!--' "$T/out/f.html")" ] || wrong "markup of the source is in the page"
rm -f "$T/out"/*

# --- bad input
refused "a window outside" 'in\.tif: the window of 2 x 2 pixels from column 3, row 0 on' \
    "$qfz" explore -q --window 3,0,2,2 "$T/in.tif" "$T/out/p.html"
refused "a window far outside" 'not inside the raster of 4 x 3' \
    "$qfz" explore -q --window 9223372036854775807,0,2,2 "$T/in.tif" "$T/out/p.html"
gdal_create -q -of GTiff -outsize 5000 3000 -bands 1 -burn 1 -co SPARSE_OK=TRUE "$T/large.tif"
refused "too many pixels" '5000 x 3000 pixels; at most 4194304' \
    "$qfz" explore -q --window 0,0,5000,3000 "$T/large.tif" "$T/out/p.html"
refused "too many pixels of any product" 'at most 4194304' \
    "$qfz" explore -q --window 0,0,9223372036854775807,9223372036854775807 "$T/large.tif" "$T/out/p.html"
gdal_create -q -of GTiff -outsize 1100 1100 -bands 17 -ot Float32 -co SPARSE_OK=TRUE "$T/bands.tif"
refused "too many bytes" '71303168 bytes of pixels in 17 bands; .* -b' \
    "$qfz" explore -q "$T/bands.tif" "$T/out/p.html"
refused "no valid pixel" 'no valid pixel; name another --window' \
    "$qfz" explore -q --nodata 7 --window 0,2,3,1 "$T/in.tif" "$T/out/p.html"
refused "too many pixels in two" '2 windows have 4500000 pixels in all; at most 4194304' \
    "$qfz" explore -q --window 0,0,1500,1500 --window 9,0,1500,1500 "$T/large.tif" "$T/out/p.html"
refused "too many bytes in two" '2 windows have 68000000 bytes of pixels in 17 bands' "$qfz" explore -q \
    --window 0,0,1000,500 --window 0,500,1000,500 "$T/bands.tif" "$T/out/p.html"
refused "a second window outside" 'the window of 2 x 2 pixels from column 3, row 0 on' \
    "$qfz" explore -q --window 0,0,2,2 --window 3,0,2,2 "$T/in.tif" "$T/out/p.html"
refused "a second window without a pixel" 'of 3 x 1 pixels from column 0, row 2 on has no valid pixel' \
    "$qfz" explore -q --nodata 7 --window 0,0,2,2 --window 0,2,3,1 "$T/in.tif" "$T/out/p.html"
# shellcheck disable=SC2046
refused "17 windows" 'at most 16 windows' \
    "$qfz" explore -q $(printf -- '--window=%d,0,1,1 ' 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 0) "$T/in.tif" "$T/out/p.html"
for window in 1,2,3 1,2,3,4,5 a,0,1,1 0,0,0,1 -1,0,1,1 1,,2,2 0,0,1,1x; do
    refused "--window $window" '--window .*four whole numbers' \
        "$qfz" explore --window=$window "$T/in.tif" "$T/out/p.html"
done
refused "no such file" 'missing\.tif' "$qfz" explore "$T/missing.tif" "$T/out/p.html"
refused "no such band" 'no band 2' "$qfz" explore -b 2 "$T/in.tif" "$T/out/p.html"
refused "a file that exists" 'in\.tif: already exists; use --overwrite' \
    "$qfz" explore "$T/in.tif" "$T/in.tif"
refused "the source" 'in\.tif: the output would replace an input' \
    "$qfz" explore --overwrite "$T/in.tif" "$T/in.tif"
refused "a folder" 'evil: not a regular file' "$qfz" explore --overwrite "$T/in.tif" "$T/evil"
refused "a device" 'null: not a regular file' "$qfz" explore --overwrite "$T/in.tif" /dev/null
refused "a folder that is missing" 'nowhere' \
    "$qfz" explore "$T/missing.tif" "$T/nowhere/p.html"
refused "alpha" 'not an option of qfz explore' "$qfz" explore --alpha 3 "$T/in.tif" "$T/out/p.html"
refused "one operand" 'arguments are missing' "$qfz" explore "$T/in.tif"
ln -s "$T/target.html" "$T/link.html"
: >"$T/target.html"
accepted "--overwrite through a link" "$qfz" explore -q --no-curve --overwrite "$T/in.tif" "$T/link.html"
check "the link stays" test -L "$T/link.html"
check "its target is the page" grep -q 'id="data"' "$T/target.html"
finish

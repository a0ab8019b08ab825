#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh QFZ - sources: over the network only where allowed, nested VRTs, saliency rasters whose
# bands have different types; long texts of jobs; no internal names in messages.
. "$(dirname "$0")/lib.sh"

grid "$T/a.tif" <<'GRID'
1 1 2
1 3 2
GRID

# ---- The network.
web=http://127.0.0.1:9/x.tif
vrt() { # vrt FILE NAME: a VRT of 3 x 2 pixels that names NAME
    cat >"$1" <<VRT
<VRTDataset rasterXSize="3" rasterYSize="2"><VRTRasterBand dataType="Byte" band="1"><SimpleSource>
<SourceFilename relativeToVRT="0">$2</SourceFilename><SourceBand>1</SourceBand>
<SrcRect xOff="0" yOff="0" xSize="3" ySize="2"/><DstRect xOff="0" yOff="0" xSize="3" ySize="2"/>
</SimpleSource></VRTRasterBand></VRTDataset>
VRT
}
vrt "$T/web.vrt" "/vsicurl/$web"
vrt "$T/nested.txt" "$T/web.vrt"
vrt "$T/zip.vrt" "/vsizip//vsicurl/http://127.0.0.1:9/x.zip/x.tif"
echo '<GDAL_WMS><Service name="TMS"><ServerUrl>http://127.0.0.1:9/</ServerUrl></Service></GDAL_WMS>' >"$T/wms.xml"
for src in $web "/vsicurl/$web" "/vsis3/bucket/x.tif" "$T/web.vrt" "$T/nested.txt" "$T/zip.vrt" \
    "$T/wms.xml" "$(tr -d '\n' <"$T/web.vrt")" "WMS:http://127.0.0.1:9/"; do
    refused "a source over the network" 'over the network; use --allow-network' \
        "$qfz" label "$src" "$T/out/dst.tif"
    refused "a mask over the network" 'over the network; use --allow-network' \
        "$qfz" label --mask "$src" "$T/a.tif" "$T/out/dst.tif"
done
run "$qfz" label --allow-network --config GDAL_HTTP_TIMEOUT 2 "$T/web.vrt" "$T/out/dst.tif"
if [ "$rc" -ne 1 ] || grep -q -- '--allow-network' "$T/stderr"; then wrong "--allow-network: $rc"; fi

# ---- Nested VRTs: without end, and so that each doubles the number of the next.
vrt "$T/one.txt" "$T/two.dat.x"
vrt "$T/two.dat.x" "$T/one.txt"
refused "VRTs that name each other" 'names itself' "$qfz" label "$T/one.txt" "$T/out/dst.tif"
cp "$T/a.tif" "$T/v0.tif"
last=$T/v0.tif
for i in $(seq 1 30); do
    python3 - "$T/v$i.vrt" "$last" <<'PYTHON'
import sys
source = """<SimpleSource><SourceFilename relativeToVRT="0">%s</SourceFilename><SourceBand>1</SourceBand>
<SrcRect xOff="0" yOff="0" xSize="3" ySize="2"/><DstRect xOff="0" yOff="0" xSize="3" ySize="2"/>
</SimpleSource>""" % sys.argv[2]
open(sys.argv[1], "w").write('<VRTDataset rasterXSize="3" rasterYSize="2"><VRTRasterBand '
    'dataType="Byte" band="1">' + source + source + '</VRTRasterBand></VRTDataset>')
PYTHON
    last=$T/v$i.vrt
done
refused "VRTs that double" 'name each other more than' "$qfz" label "$last" "$T/out/dst.tif"
accepted "VRTs that double a few times" "$qfz" label -q "$T/v3.vrt" "$T/out/dst.tif"
rm -f "$T/out/"*

# ---- Each band of a saliency raster is read in its own type: at 300 the two regions of the first
# band's levels are apart.
printf '255 255\n255 255\n' | grid "$T/right.tif" Byte
printf '300 300\n65535 65535\n' | grid "$T/below.tif" UInt16
gdalbuildvrt -q -separate "$T/both.vrt" "$T/right.tif" "$T/below.tif" 2>/dev/null
sed 's/<VRTRasterBand dataType="[A-Za-z0-9]*" band="2"/<VRTRasterBand dataType="UInt16" band="2"/;
     s/<VRTRasterBand dataType="[A-Za-z0-9]*" band="1"/<VRTRasterBand dataType="Byte" band="1"/;
     s|<VRTRasterBand dataType="Byte" band="1">|<Metadata><MDI key="QFZ_CONTENT">saliency</MDI><MDI key="QFZ_LAYOUT">edges</MDI><MDI key="QFZ_CONNECTIVITY">4</MDI></Metadata>&|' \
    "$T/both.vrt" >"$T/saliency.vrt"
for alpha in 299 300; do
    accepted "a cut of bands of two types" "$qfz" cut -q --overwrite --alpha $alpha "$T/saliency.vrt" \
        "$T/out/dst.tif"
    labels=$(values "$T/out/dst.tif")
    case $alpha in
    299) check "a cut at 299: $labels" test "$labels" = "1 2 3 4 " ;;
    300) check "a cut at 300: $labels" test "$labels" = "1 2 1 2 " ;;
    esac
done
rm -f "$T/out/"*

# ---- A job whose text is longer than 64 KiB resumes.
note=$(python3 -c 'print("x" * 70000)')
for resume in "" --resume; do
    # shellcheck disable=SC2086
    accepted "a job with a long text $resume" "$qfz" label -q $resume --config "NOTE=$note" \
        --work "$T/work" "$T/a.tif" "$T/out/dst.tif"
    check "the text is long" test "$(wc -c <"$T/work/job")" -gt 65536
    rm -f "$T/out/"*
done
head -c 6144 /dev/urandom >"$T/noise"
{
    echo "P5 96 64 255"
    cat "$T/noise"
} >"$T/many.pgm"
gdal_translate -q "$T/many.pgm" "$T/many.tif"

# ---- Messages name outputs, not the names that GDAL sees.
(
    ulimit -f 1
    "$qfz" label -q "$T/many.tif" "$T/out/dst.tif"
) 2>"$T/stderr"
if grep -qE '/vsiqfz/|\.qfz-' "$T/stderr"; then wrong "an internal name in a message"; fi
nothing_left "a small limit of file sizes"
run "$qfz" label -q --of COG --co BLOCKSIZE=7 "$T/many.tif" "$T/out/dst.tif"
if [ "$rc" -ne 1 ] || grep -qE '/vsiqfz/|\.qfz-' "$T/stderr"; then wrong "an internal name in a message of COG"; fi
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# georef.sh QFZ - every output has the CRS, the (rotated) geotransform, the GCPs and the pixel
# convention of the source, and metadata with its content.
. "$(dirname "$0")/lib.sh"

grid "$T/in.tif" <<'ROWS'
1 1 2 9
3 1 2 9
3 4 4 9
ROWS
here=$(dirname "$0")

# georef SRC: runs all commands; every output must have the georeference of SRC.
georef() {
    src=$1
    name=$(basename "$src")
    rm -rf "$T/out"
    mkdir "$T/out"
    accepted "$name: label" "$qfz" label -q "$src" "$T/out/label.tif"
    accepted "$name: simplify" "$qfz" simplify -q --alpha 1 --omega 2 \
        --labels "$T/out/labels.tif" "$src" "$T/out/simplify.tif"
    accepted "$name: saliency" "$qfz" saliency -q "$src" "$T/out/saliency.tif"
    accepted "$name: cut" "$qfz" cut -q --alpha 1 "$T/out/saliency.tif" "$T/out/cut.tif"
    accepted "$name: pixel" "$qfz" saliency -q --layout pixel "$src" "$T/out/pixel.tif"
    accepted "$name: khalimsky" "$qfz" saliency -q --layout khalimsky "$src" "$T/out/khalimsky.tif"
    checks=$((checks + 2))
    python3 "$here/same_place.py" "$src" "$T/out/"*.tif 2>"$T/stderr" || wrong "$name: elsewhere"
    found=$(ls -A "$T/out" | LC_ALL=C sort | tr '\n' ' ')
    wanted="cut.tif khalimsky.tif label.tif labels.tif pixel.tif saliency.tif simplify.tif "
    if [ "$found" != "$wanted" ]; then wrong "$name: outputs: $found"; fi
}

gdal_translate -q -a_srs EPSG:32618 -a_ullr 100000 2700000 100040 2699970 "$T/in.tif" "$T/utm.tif"
georef "$T/utm.tif"

# says NAME ITEM...: the metadata QFZ_* of $T/out/NAME.tif must be the ITEMs, without QFZ_.
says() {
    name=$1
    shift
    checks=$((checks + 1))
    found=$(gdalinfo "$T/out/$name.tif" | sed -n 's/^ *QFZ_//p' | LC_ALL=C sort | tr '\n' ' ')
    if [ "$found" != "$* " ]; then wrong "$name says $found"; fi
}

says label ALPHA=0 CONNECTIVITY=4 CONTENT=labels DISTANCE=linf
says labels ALPHA=1 CONNECTIVITY=4 CONTENT=labels DISTANCE=l1 OMEGA=2
says simplify ALPHA=1 CONNECTIVITY=4 CONTENT=painted DISTANCE=l1 OMEGA=2
says saliency CONNECTIVITY=4 CONTENT=saliency DISTANCE=l1 LAYOUT=edges
says cut ALPHA=1 CONNECTIVITY=4 CONTENT=labels DISTANCE=l1
accepted "a least area" "$qfz" saliency -q --min-area 2 "$T/utm.tif" "$T/out/area.tif"
says area CONNECTIVITY=4 CONTENT=saliency DISTANCE=l1 LAYOUT=edges MIN_AREA=2
accepted "a least area" "$qfz" cut -q --alpha 0 "$T/out/area.tif" "$T/out/area_cut.tif"
says area_cut ALPHA=0 CONNECTIVITY=4 CONTENT=labels DISTANCE=l1 MIN_AREA=2
accepted "a least area" "$qfz" label -q --min-area 0.03ha "$T/utm.tif" "$T/out/ha.tif"
says ha ALPHA=0 CONNECTIVITY=4 CONTENT=labels DISTANCE=l1 MIN_AREA=300m2
# A pixel has 100 square metres.  The least step joins 2 to 1, and 3 to 4.
check "regions of 3 pixels" [ "$(values "$T/out/ha.tif")" = "1 1 1 2 3 1 1 2 3 3 3 2 " ]
gdal_translate -q -b 1 -b 1 "$T/in.tif" "$T/two.tif"
accepted "two bands" "$qfz" simplify -q --distance l2 --connectivity 8 --omega 0.1,3e-9 "$T/two.tif" \
    "$T/out/two.tif"
says two ALPHA=inf CONNECTIVITY=8 CONTENT=painted DISTANCE=l2 OMEGA=0.1,3e-09
accepted "a cut of l2" "$qfz" saliency -q --distance l2 "$T/two.tif" "$T/out/l2.tif"
accepted "a cut of l2" "$qfz" cut -q --alpha 1.5 "$T/out/l2.tif" "$T/out/l2_cut.tif"
says l2_cut ALPHA=1.5 CONNECTIVITY=4 CONTENT=labels DISTANCE=l2

gdal_translate -q -a_srs EPSG:4326 -a_ullr -10 50 -6 47 -mo AREA_OR_POINT=Point "$T/in.tif" "$T/point.tif"
georef "$T/point.tif"
gdal_translate -q -a_srs EPSG:32632+5773 -a_ullr 0 30 40 0 "$T/in.tif" "$T/compound.tif"
georef "$T/compound.tif"
gdal_translate -q -a_srs '+proj=laea +lat_0=33 +lon_0=11.5 +x_0=17 +datum=WGS84' -a_ullr 0 30 40 0 \
    "$T/in.tif" "$T/custom.tif"
georef "$T/custom.tif"
gdal_translate -q -a_srs EPSG:4326 -gcp 0 0 10 50 -gcp 4 0 11 50.5 -gcp 0 3 9.5 48 -gcp 4 3 10.5 48.25 \
    "$T/in.tif" "$T/gcps.tif"
georef "$T/gcps.tif"
cat >"$T/rotated.vrt" <<VRT
<VRTDataset rasterXSize="4" rasterYSize="3">
<SRS>EPSG:3857</SRS><GeoTransform>1000, 8, 3, 2000, 2.5, -7</GeoTransform>
<VRTRasterBand dataType="Byte" band="1"><SimpleSource>
<SourceFilename relativeToVRT="1">in.tif</SourceFilename><SourceBand>1</SourceBand>
</SimpleSource></VRTRasterBand></VRTDataset>
VRT
georef "$T/rotated.vrt"
gdal_create -q -of GTiff -outsize 4 3 -bands 1 -burn 5 "$T/nowhere.tif"
georef "$T/nowhere.tif"
finish

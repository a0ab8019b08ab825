#!/bin/sh
# SPDX-License-Identifier: MIT
# errors.sh QFZ - bad input: one line on stderr with the file and the reason, an exit status other
# than 0, no output file and no temporary file.
. "$(dirname "$0")/lib.sh"

out=$T/out/dst.tif
in=$T/in.tif
grid "$in" <<'ROWS'
1 1 2
3 1 2
ROWS
gdal_create -q -of GTiff -outsize 40 40 -bands 3 -burn 7 "$T/rgb.tif"
all="label simplify saliency cut"

# --- sources
echo "this is no raster" >"$T/text.tif"
: >"$T/empty.tif"
for task in $all; do
    refused "$task: no such file" 'missing\.tif' "$qfz" $task --alpha 1 "$T/missing.tif" "$out"
    refused "$task: not a raster" 'text\.tif' "$qfz" $task --alpha 1 "$T/text.tif" "$out"
    refused "$task: empty file" 'empty\.tif' "$qfz" $task --alpha 1 "$T/empty.tif" "$out"
    refused "$task: a folder" 'qfz_cli' "$qfz" $task --alpha 1 "$T" "$out"
done
refused "cut: an image is no hierarchy" 'in\.tif' "$qfz" cut --alpha 1 "$in" "$out"
refused "info: no such file" 'missing\.tif' "$qfz" info "$T/missing.tif"

# --- damage in the middle
python3 - "$T" <<'PYTHON'
import random, struct, sys
folder = sys.argv[1]
random.seed(3)
rows = [[random.randrange(256) for _ in range(600)] for _ in range(600)]
open(folder + "/noise.pgm", "wb").write(b"P5 600 600 255\n" + bytes(v for r in rows for v in r))
PYTHON
for co in DEFLATE LZW; do
    gdal_translate -q -co COMPRESS=$co -co TILED=YES -co BLOCKXSIZE=64 -co BLOCKYSIZE=64 \
        "$T/noise.pgm" "$T/whole_$co.tif"
    size=$(wc -c <"$T/whole_$co.tif")
    head -c $((size / 2)) "$T/whole_$co.tif" >"$T/truncated_$co.tif"
done
cp "$T/whole_DEFLATE.tif" "$T/corrupt_DEFLATE.tif"
dd if="$T/noise.pgm" of="$T/corrupt_DEFLATE.tif" bs=1 skip=99 count=9000 conv=notrunc \
    seek=$(($(wc -c <"$T/whole_DEFLATE.tif") / 2)) 2>/dev/null
for task in label simplify saliency; do
    for tile in 64 100 600; do
        refused "$task: truncated, tile $tile" 'truncated_DEFLATE\.tif' \
            "$qfz" $task --alpha 1 --tile $tile "$T/truncated_DEFLATE.tif" "$out"
        refused "$task: corrupt blocks, tile $tile" 'corrupt_DEFLATE\.tif' \
            "$qfz" $task --alpha 1 --tile $tile "$T/corrupt_DEFLATE.tif" "$out"
    done
    refused "$task: truncated LZW" 'truncated_LZW\.tif' \
        "$qfz" $task --alpha 1 "$T/truncated_LZW.tif" "$out"
done
refused "simplify: a corrupt source leaves no labels, no table" 'corrupt_DEFLATE\.tif' "$qfz" simplify \
    --alpha 1 --omega 2 --labels "$T/out/l.tif" --regions "$T/out/r.csv" "$T/corrupt_DEFLATE.tif" "$out"

# --- bands and types
refused "band 4 of 3" 'rgb\.tif|band' "$qfz" label -b 4 "$T/rgb.tif" "$out"
refused "band 0" 'band' "$qfz" label -b 0 "$T/rgb.tif" "$out"
refused "band -1" 'band' "$qfz" label -b -1 "$T/rgb.tif" "$out"
refused "a band that is no number" '-b red: must be' "$qfz" label -b red "$T/rgb.tif" "$out"
for type in Float64 CFloat32 CInt16 Int64 UInt64; do
    gdal_create -q -of GTiff -ot $type -outsize 3 3 -bands 1 -burn 1 "$T/$type.tif" 2>/dev/null || continue
    for task in label simplify saliency; do
        refused "$task: $type" "$type" "$qfz" $task --alpha 1 "$T/$type.tif" "$out"
    done
done
cat >"$T/none.vrt" <<'VRT'
<VRTDataset rasterXSize="5" rasterYSize="5"></VRTDataset>
VRT
refused "no bands" 'band' "$qfz" label "$T/none.vrt" "$out"
gdal_create -q -of GTiff -outsize 4 4 -bands 1 -burn 1 "$T/small.tif"
refused "a mask of another size" 'small\.tif' "$qfz" label --mask "$T/small.tif" "$in" "$out"
refused "a mask that is missing" 'nomask\.tif' "$qfz" label --mask "$T/nomask.tif" "$in" "$out"

# --- targets
refused "a folder that is missing" 'nowhere' "$qfz" label "$in" "$T/nowhere/dst.tif"
refused "the target is a folder" 'qfz_cli' "$qfz" label "$in" "$T"
refused "an unknown format" 'nonsense|NoSuch' "$qfz" label -of NoSuchFormat "$in" "$out"
refused "an unknown extension of a table" 'regions\.nonsense' \
    "$qfz" simplify --alpha 1 --regions "$T/out/regions.nonsense" "$in" "$out"
cp "$in" "$T/same.tif"
refused "SRC = DST" 'same\.tif' "$qfz" label --overwrite "$T/same.tif" "$T/same.tif"
ln -s same.tif "$T/link.tif"
refused "SRC = DST by a link" '(same|link)\.tif' "$qfz" label --overwrite "$T/same.tif" "$T/link.tif"
check "the source is whole" cmp "$in" "$T/same.tif"
cp "$in" "$T/there.tif"
refused "DST is there" 'there\.tif' "$qfz" label "$in" "$T/there.tif"
check "what was there is whole" cmp "$in" "$T/there.tif"
echo old >"$T/there.csv"
refused "the table is there" 'there\.csv' "$qfz" label --regions "$T/there.csv" "$in" "$out"
check "the table is whole" grep -q old "$T/there.csv"
refused "two outputs of one name" 'dst\.tif|same' \
    "$qfz" simplify --alpha 1 --labels "$out" "$in" "$out"
accepted "--overwrite replaces" "$qfz" label -q --overwrite "$in" "$T/there.tif"
if cmp -s "$in" "$T/there.tif"; then wrong "--overwrite did nothing"; fi
# A failed job does not harm what was there.
cp "$in" "$T/keep.tif"
refused "overwriting with a corrupt source" 'corrupt_DEFLATE\.tif' \
    "$qfz" label --overwrite "$T/corrupt_DEFLATE.tif" "$T/keep.tif"
check "what was to be overwritten is whole" cmp "$in" "$T/keep.tif"

# --- arguments
refused "more labels than Byte holds" 'Byte' "$qfz" label -ot Byte "$T/whole_LZW.tif" "$out"
accepted "few labels in Byte" "$qfz" label -q -ot Byte "$in" "$out"
rm -f "$out"
for bad in -1 -0.001 nan -inf one '' 1x; do
    for task in label simplify saliency cut; do
        if [ $task = saliency ]; then continue; fi
        refused "$task --alpha '$bad'" 'alpha' "$qfz" $task --alpha "$bad" "$in" "$out"
    done
    refused "--omega '$bad'" 'omega' "$qfz" simplify --alpha 1 --omega "$bad" "$in" "$out"
done
for bad in 0 -1 1.5 nan inf 5m 0ha -1ha infkm2 ha '5 m2' 0x5; do
    refused "--min-area '$bad'" 'min-area' "$qfz" label --min-area "$bad" "$in" "$out"
done
refused "cut --min-area" 'min-area' "$qfz" cut --alpha 1 --min-area 5 "$in" "$out"
refused "2 omegas for 3 bands" 'omega' "$qfz" simplify --alpha 1 --omega 1,2 "$T/rgb.tif" "$out"
refused "2 weights for 3 bands" '2 weights for 3 bands; give one per band' \
    "$qfz" label --alpha 1 --weights 1,2 "$T/rgb.tif" "$out"
refused "weights of 0" 'all weights are 0' "$qfz" saliency --weights 0,0,0 "$T/rgb.tif" "$out"
refused "an infinite weight" 'weight inf of band 2' "$qfz" saliency --weights 1,inf,1 "$T/rgb.tif" "$out"
refused "a weight below singles" 'too small' "$qfz" saliency --weights 1,1e-50,1 "$T/rgb.tif" "$out"
refused "weights of an angle" 'weights belong to' \
    "$qfz" saliency --distance sam --weights 1,1,1 "$T/rgb.tif" "$out"
refused "an angle of one band" 'two bands or more' "$qfz" saliency --distance sam "$in" "$out"
refused "connectivity 6" 'connectivity' "$qfz" label --connectivity 6 "$in" "$out"
refused "an unknown distance" 'distance' "$qfz" label --alpha 1 --distance l3 "$in" "$out"
refused "an unknown layout" 'layout' "$qfz" saliency --layout round "$in" "$out"
refused "an unknown engine" 'engine' "$qfz" label --engine steam "$in" "$out"
refused "an unknown rule" 'nodata' "$qfz" label --nodata-rule some "$in" "$out"
refused "tile -1" 'tile' "$qfz" label --tile -1 "$in" "$out"
refused "tile of words" 'tile' "$qfz" label --tile big "$in" "$out"
refused "memory of words" 'memory' "$qfz" label --memory much "$in" "$out"
refused "memory 0" 'memory' "$qfz" label --memory 0 "$in" "$out"
refused "memory 200%" 'memory' "$qfz" label --memory 200% "$in" "$out"
refused "-j -2" '-j -2: must be' "$qfz" label -j -2 "$in" "$out"
refused "a threshold and a background" 'alpha|background' \
    "$qfz" label --alpha 1 --background abc "$in" "$out"
refused "an unknown option" 'frobnicate' "$qfz" label --frobnicate "$in" "$out"
refused "an unknown subcommand" 'frobnicate' "$qfz" frobnicate "$in" "$out"
refused "no DST" 'usage: qfz label .options. SRC DST' "$qfz" label "$in"
refused "no SRC" 'usage: qfz label .options. SRC DST' "$qfz" label
refused "one argument too many" 'third: one argument too many' "$qfz" label "$in" "$out" "$T/out/third"
refused "an option without its value" 'alpha' "$qfz" label "$in" "$out" --alpha
refused "a creation option without =" '-co COMPRESS: must be KEY=VALUE' "$qfz" label -co COMPRESS "$in" "$out"
refused "cut without alpha" 'alpha' "$qfz" cut "$in" "$out"
gdal_create -q -of GTiff -ot UInt32 -outsize 3 3 -bands 2 -burn 1 "$T/u32.tif"
refused "levels beyond 32 bits" 'linf|l2' "$qfz" saliency --distance l1 "$T/u32.tif" "$out"

# --- levels of edges
gdal_create -q -of GTiff -outsize 40 40 -bands 4 -burn 9 "$T/photo.tif"
gdal_create -q -of GTiff -outsize 40 40 -bands 2 -burn 3 "$T/levels.tif"
gdal_create -q -of GTiff -ot Int16 -outsize 40 40 -bands 2 -burn -1 "$T/negative.tif"
gdal_create -q -of GTiff -ot Float64 -outsize 40 40 -bands 2 -burn 1 "$T/double.tif"
gdal_create -q -of GTiff -ot UInt32 -outsize 40 40 -bands 2 -burn 4294967295 "$T/top.tif"
gdal_create -q -of GTiff -outsize 40 41 -bands 2 -burn 3 "$T/taller.tif"
refused "cut: a photograph of four bands" 'photo\.tif: it is not from qfz saliency.*--edges' \
    "$qfz" cut --alpha 1 "$T/photo.tif" "$out"
refused "cut: three bands" 'rgb\.tif: bands: 3; levels of edges have 2' \
    "$qfz" cut --alpha 1 --edges "$T/rgb.tif" "$out"
refused "cut: --edges and SALIENCY" 'in\.tif: .*leave one out' \
    "$qfz" cut --alpha 1 --edges "$T/levels.tif" "$in" "$out"
refused "cut: negative levels" 'negative\.tif: band 1 has the value -1 in column 0, row 0' \
    "$qfz" cut --alpha 1 --edges "$T/negative.tif" "$out"
accepted "cut: levels from anywhere" "$qfz" cut -q --alpha 3 --edges "$T/photo.tif" "$out"
rm -f "$out"
for task in "label --alpha 1" "saliency" "simplify --alpha 1"; do
    edges() { # NAME FILE MESSAGE: $task refuses these levels
        refused "$task: $1" "$3" "$qfz" $task --edges "$2" "$T/rgb.tif" "$out"
    }
    edges "no such levels" "$T/nothing.tif" 'nothing\.tif'
    edges "levels of three bands" "$T/rgb.tif" 'rgb\.tif: bands: 3; levels of edges have 2'
    edges "levels of another size" "$T/taller.tif" 'taller\.tif: .* 40 x 41 pixels, but .*rgb\.tif has 40 x 40'
    edges "levels of 8-connected edges" "$T/photo.tif" 'photo\.tif: .*use --connectivity 8'
    edges "negative levels" "$T/negative.tif" 'negative\.tif: band 1 has the value -1 in column'
    edges "levels beyond 32 bits" "$T/top.tif" 'top\.tif: band 1 has the value 4294967295'
    edges "levels of Float64" "$T/double.tif" 'double\.tif: .*Float64.*gdal_translate'
    accepted "$task: levels of edges" "$qfz" $task -q --edges "$T/levels.tif" "$T/rgb.tif" "$out"
    rm -f "$out"
done
refused "--edges without alpha" 'edges needs --alpha' "$qfz" label --edges "$T/levels.tif" "$in" "$out"
refused "--edges and --weights" 'not of edges' \
    "$qfz" saliency --weights 2 --edges "$T/levels.tif" "$in" "$out"

# ---- Processes that a launcher started together, but that do not find each other.
refused "a step of two tasks" 'a launcher started this process together with others.*SLURM_STEP_NUM_TASKS=2' \
    env SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 "$qfz" label "$in" "$T/out/dst.tif"
refused "a step of two tasks, without their number" 'SLURM_NTASKS=2' \
    env SLURM_STEP_ID=0 SLURM_NTASKS=2 "$qfz" label "$in" "$T/out/dst.tif"
accepted "a step of one task in a job of four" \
    env SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=4 "$qfz" label -q "$in" "$T/out/dst.tif"
accepted "a batch script of four tasks" \
    env SLURM_NTASKS=4 "$qfz" label -q --overwrite "$in" "$T/out/dst.tif"
rm -f "$T/out/dst.tif"
# Symptom: with MPI, PMIX_RANK=1 was ignored.  Open MPI finds the process alone and then sets it to 0.
# Open MPI itself leaks memory, of which a sanitizer would complain.
for variable in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 PMIX_RANK=1; do
    refused "a launcher of another MPI, $variable" "a launcher started this process together with others .$variable" \
        env $variable ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" "$qfz" label "$in" "$T/out/dst.tif"
done
if "$qfz" --version | grep -q '^MPI none'; then
    for variable in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 PMIX_RANK=1 MPI_LOCALNRANKS=3; do
        refused "a launcher, $variable" 'this qfz has no MPI: build it with -DQFZ_MPI=ON' \
            env $variable "$qfz" label "$in" "$T/out/dst.tif"
    done
fi
finish

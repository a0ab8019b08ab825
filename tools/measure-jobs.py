#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure-jobs.py BUILD {commands,scale} [options]: what whole jobs take, on this machine.

commands  label, saliency and simplify from a DEFLATE GeoTIFF to a ZSTD one (level 1), beside
          gdal_translate of the result's size and type with the same options; by every engine asked
          for, whose outputs must have the same checksums.
scale     regions counted (label, simplify) by 1, 2, 4 ... units, a unit being a GPU or, by the CPU
          engine, a thread: a mosaic of --cells x --cells scenes by one process, as they are and as
          DEFLATE, and as many for each unit by a rank for each.  What comes before the first pass is
          told apart.

Times are medians of --runs, of two the shorter; scenes are generated; all files are in a folder of
their own that is deleted at the end.  On four H200, --runs 2 --engines cuda: each takes less than
100 s."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

OPTIONS = ["-co", "TILED=YES", "-co", "COMPRESS=ZSTD", "-co", "ZSTD_LEVEL=1",
           "-co", "NUM_THREADS=ALL_CPUS"]
COMMANDS = {8: [["label"], ["label", "--alpha", "2"], ["saliency"],
                ["simplify", "--alpha", "12", "--omega", "12"]],
            16: [["label"], ["label", "--alpha", "200"], ["saliency"],
                 ["simplify", "--alpha", "200", "--omega", "800"]]}
BLOCK = 512
COUNTED = [["label", "--alpha", "12"], ["simplify", "--alpha", "12", "--omega", "12"]]


def run(words, **more):
    found = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if found.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {found.returncode}: {found.stderr}")
    return found.stdout


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


def seconds(words, runs):
    took = []
    for _ in range(runs):
        began = time.monotonic()
        run(words)
        took.append(time.monotonic() - began)
    return median(took)


def info(path, *words):
    return json.loads(run(["gdalinfo", "-json", *words, path]))


def checksums(path):
    return [band["checksum"] for band in info(path, "-checksum")["bands"]]


def scene(args, name, bits, side, options):
    """A landscape of side x side pixels, as a GeoTIFF with these creation options."""
    made, path = os.path.join(args.folder, "made.tif"), os.path.join(args.folder, name)
    run([os.path.join(args.build, "data/make_scene"), made, "--size", f"{side}x{side}", "--bands",
         "1", "--bits", str(bits), "--seed", "7"])
    run(["gdal_translate", "-q", *options, made, path])
    os.remove(made)
    return path


def measure_command(args, bits, source, words):
    """One command by every engine, then the plain copy of a raster of the type it made."""
    name = f"{' '.join(words)}, {bits} bits"
    cells, sums = [], set()
    for engine in args.engines:
        out = os.path.join(args.folder, "out.tif")
        took = seconds([args.qfz, *words, "-q", "--overwrite", "--engine", engine, *args.threads,
                        *OPTIONS, source, out], args.runs)
        cells.append((engine, took))
        if len(args.engines) > 1:
            sums.add(tuple(checksums(out)))
    made = info(out)["bands"]
    bands = ["-b", "1"] * len(made)
    copied = seconds(["gdal_translate", "-q", "-ot", made[0]["type"], *bands, "-oo",
                      "NUM_THREADS=ALL_CPUS", *OPTIONS, source,
                      os.path.join(args.folder, "copy.tif")], args.runs)
    same = "" if len(sums) <= 1 else "; FAILED: the engines differ"
    text = ", ".join(f"{engine} {took:.2f} s ({took / copied:.2f})" for engine, took in cells)
    print(f"{name:44} {text}, gdal_translate to {len(made)} x {made[0]['type']} {copied:.2f} s{same}",
          flush=True)
    return len(sums) <= 1


def measure_commands(args):
    fine = True
    for bits, commands in COMMANDS.items():
        source = scene(args, f"in{bits}.tif", bits, args.size,
                       ["-co", "TILED=YES", "-co", "COMPRESS=DEFLATE", "-co",
                        "NUM_THREADS=ALL_CPUS"])
        for words in commands:
            fine &= measure_command(args, bits, source, words)
        os.remove(source)
    return fine


def mosaic(args, cell, rows):
    """Rows of --cells cells each, as a VRT like gdalbuildvrt's."""
    side, columns = args.size, args.cells
    path = os.path.join(args.folder, f"{cell}{rows}.vrt")
    sources = "".join(
        f'<SimpleSource><SourceFilename relativeToVRT="1">{cell}.tif</SourceFilename>'
        f'<SourceBand>1</SourceBand><SourceProperties RasterXSize="{side}" RasterYSize="{side}" '
        f'DataType="Byte" BlockXSize="{BLOCK}" BlockYSize="{BLOCK}"/>'
        f'<SrcRect xOff="0" yOff="0" xSize="{side}" ySize="{side}"/>'
        f'<DstRect xOff="{x * side}" yOff="{y * side}" xSize="{side}" ySize="{side}"/>'
        '</SimpleSource>' for y in range(rows) for x in range(columns))
    with open(path, "w", encoding="ascii") as out:
        out.write(f'<VRTDataset rasterXSize="{columns * side}" rasterYSize="{rows * side}">'
                  f'<VRTRasterBand dataType="Byte" band="1">{sources}</VRTRasterBand></VRTDataset>')
    return path


def count(args, what, words, environment):
    """The median job by what follows its start."""
    found = []
    for _ in range(args.runs):
        job = json.loads(run(words, env={**os.environ, **environment}))
        steps = [(step["name"], step["seconds"]) for step in job["steps"]]
        found.append((sum(took for name, took in steps if name != "start"), steps, job["regions"]))
    behind, steps, regions = median(found)
    text = ", ".join(f"{name} {took:.3f}" for name, took in steps)
    print(f"{what:52} {behind:8.3f} s  ({text}; {regions} regions)", flush=True)
    return behind


def by_one_process(args, cell, words, numbers, common):
    first, raster = None, mosaic(args, cell, args.cells)
    for n in numbers:
        gpus = ["--gpus", ",".join(map(str, range(n)))] if args.unit == "GPUs" else []
        took = count(args, f"{words[0]}, {args.cells} x {args.cells} {cell} cells, {n} {args.unit}",
                     [*common, *gpus, "-j", str(n * args.per_unit), raster], {})
        first = first or took
        print(f"{'':52} {first / took:8.2f} times one")


def by_ranks(args, words, numbers, common):
    first = None
    for n in numbers:
        took = count(args, f"{words[0]}, {n * args.cells} x {args.cells} plain cells, {n} ranks",
                     ["mpirun", "-n", str(n), "--bind-to", "none", "--oversubscribe", *common,
                      "-j", str(args.per_unit), mosaic(args, "plain", n * args.cells)],
                     {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(n))),
                      "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        first = first or took
        print(f"{'':52} {first / took:8.2f} efficiency")


def measure_scale(args):
    tiled = ["-co", "TILED=YES", "-co", f"BLOCKXSIZE={BLOCK}", "-co", f"BLOCKYSIZE={BLOCK}"]
    path = scene(args, "plain.tif", 8, args.size, tiled)
    run(["gdal_translate", "-q", *tiled, "-co", "COMPRESS=DEFLATE", "-co", "NUM_THREADS=ALL_CPUS",
         path, os.path.join(args.folder, "DEFLATE.tif")])
    args.per_unit = max(1, os.cpu_count() // args.units) if args.unit == "GPUs" else 1
    numbers = [n for n in (1, 2, 4, 8, 16) if n <= args.units]
    for words in COUNTED:
        common = [args.qfz, *words, "--count-only", "--engine", args.engines[0]]
        for cell in ("plain", "DEFLATE"):
            by_one_process(args, cell, words, numbers, common)
        if shutil.which("mpirun"):
            by_ranks(args, words, numbers, common)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="folder of a build of qfz")
    parser.add_argument("what", choices=["commands", "scale"])
    parser.add_argument("--engines", default="cpu", help="cpu, cuda or both: cuda,cpu")
    parser.add_argument("--size", type=int, default=16384, help="side of the scene, or of a cell")
    parser.add_argument("--cells", type=int, default=4, help="side of a unit's mosaic, in scenes")
    parser.add_argument("--units", type=int, default=os.cpu_count(), help="GPUs or threads")
    parser.add_argument("--threads", type=int, help="of qfz in commands; default: all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", default="/dev/shm", help="where files lie; default: /dev/shm")
    args = parser.parse_args()
    args.qfz = os.path.join(args.build, "apps/qfz")
    args.engines = args.engines.split(",")
    args.unit = "GPUs" if args.engines[0] == "cuda" else "threads"
    args.threads = ["-j", str(args.threads)] if args.threads else []
    with tempfile.TemporaryDirectory(dir=args.folder) as args.folder:
        fine = measure_commands(args) if args.what == "commands" else measure_scale(args)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()

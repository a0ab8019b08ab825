#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure-jobs.py BUILD {commands,scale} [options]: times whole jobs on this machine.

commands  label, saliency and simplify from a DEFLATE GeoTIFF to a ZSTD one (level 1), beside
          gdal_translate of the result's size and type with the same options; by every engine asked
          for, whose outputs must have the same checksums.
scale     regions counted (label, simplify) by 1, 2, 4 ... units, a unit being a GPU with its share of
          the processors or, by the CPU engine, a thread: a mosaic of 2 --cells x 2 --cells scenes by
          one process, as they are and as DEFLATE (simplify: DEFLATE half as many each way); and
          --cells x --cells (simplify: twice as wide) for each unit by a rank for each.  Compared are
          seconds from the first pass on.  The start is not in them, nor is what is read meanwhile:
          of label's mosaics, a sixth (one process) or a quarter (ranks), the same for any number of
          units, by --memory; of simplify's, all that there is time for, as memory keeps their tiles
          for the second pass anyway.  Beside it what the processors make of inflate alone, by which
          DEFLATE is decoded.

Times are medians of --runs, of two the shorter; scenes are generated; all files are in a folder of
their own that is deleted at the end.  On four H200, --runs 2 --engines cuda: each takes less than
two minutes."""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

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


def mosaic(args, cell, columns, rows):
    """Cells side by side, as a VRT like gdalbuildvrt's."""
    side = args.size
    path = os.path.join(args.folder, f"{cell}{columns}x{rows}.vrt")
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


def limits(args, words, memory):
    """What is read while devices start is a small part: simplify keeps its tiles."""
    return ["--memory", memory] if args.unit == "GPUs" and words[0] == "label" else []


def on_share(args, n):
    """On the processors of n units."""
    return ["taskset", "-c", f"0-{n * args.per_unit - 1}"]


def by_one_process(args, cell, words, numbers, common):
    first, side = None, args.cells * (1 if words[0] == "simplify" and cell == "DEFLATE" else 2)
    raster = mosaic(args, cell, side, side)
    for n in numbers:
        gpus = ["--gpus", ",".join(map(str, range(n)))] if args.unit == "GPUs" else []
        took = count(args, f"{words[0]}, {side} x {side} {cell} cells, {n} {args.unit}",
                     [*on_share(args, n), *common, *gpus, *limits(args, words, "10GB"),
                      "-j", str(n * args.per_unit), raster], {})
        first = first or took
        print(f"{'':52} {first / took:8.2f} times one")


def by_ranks(args, words, numbers, common):
    first, columns = None, args.cells * (2 if words[0] == "simplify" else 1)
    for n in numbers:
        raster = mosaic(args, "plain", columns, n * args.cells)
        took = count(args, f"{words[0]}, {columns} x {n * args.cells} plain cells, {n} ranks",
                     [*on_share(args, n), "mpirun", "-n", str(n), "--bind-to", "none",
                      "--oversubscribe", *common, *limits(args, words, "4GB"),
                      "-j", str(args.per_unit), raster],
                     {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(n))),
                      "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        first = first or took
        print(f"{'':52} {first / took:8.2f} efficiency")


def inflate(packed_and_seconds):
    """Bytes a second, of a block that stays in the processor's cache."""
    packed, took = packed_and_seconds
    n, began = 0, time.monotonic()
    while time.monotonic() - began < took:
        n += len(zlib.decompress(packed))
    return n / took


def measure_inflate(args, numbers):
    """A process for each thread of the units; a walk of small steps, as rows of scenes are."""
    chance, value, walk = random.Random(1), 0, bytearray()
    for _ in range(BLOCK * BLOCK):
        value = (value + chance.choice((-2, -1, 0, 0, 0, 1, 2))) % 256
        walk.append(value)
    first, packed = None, zlib.compress(bytes(walk))
    for n in [k * args.per_unit for k in numbers]:
        with multiprocessing.Pool(n, os.sched_setaffinity, (0, range(n))) as pool:
            rate = sum(pool.map(inflate, [(packed, 2)] * n, chunksize=1)) / 1e9
        first = first or rate
        print(f"{f'inflate, {n} processes':52} {rate:8.2f} GB/s\n{'':52} {rate / first:8.2f} times one")


def measure_scale(args):
    tiled = ["-co", "TILED=YES", "-co", f"BLOCKXSIZE={BLOCK}", "-co", f"BLOCKYSIZE={BLOCK}"]
    path = scene(args, "plain.tif", 8, args.size, tiled)
    run(["gdal_translate", "-q", *tiled, "-co", "COMPRESS=DEFLATE", "-co", "NUM_THREADS=ALL_CPUS",
         path, os.path.join(args.folder, "DEFLATE.tif")])
    args.per_unit = max(1, os.cpu_count() // args.units) if args.unit == "GPUs" else 1
    numbers = [n for n in (1, 2, 4, 8, 16) if n <= args.units]
    measure_inflate(args, numbers)
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
    for made in (args.qfz, os.path.join(args.build, "data/make_scene")):
        if not os.access(made, os.X_OK):
            parser.error(f"there is no {made}; the first argument is the folder of a build")
    args.engines = args.engines.split(",")
    args.unit = "GPUs" if args.engines[0] == "cuda" else "threads"
    args.threads = ["-j", str(args.threads)] if args.threads else []
    with tempfile.TemporaryDirectory(dir=args.folder) as args.folder:
        fine = measure_commands(args) if args.what == "commands" else measure_scale(args)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()

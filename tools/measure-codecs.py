#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure-codecs.py BUILD [options]: MB of decoded pixels per second of one core, for each codec.

A generated landscape of --size x --size pixels is written as GeoTIFF in blocks of 512 x 512 by each
codec that GDAL has, and read by `qfz label --count-only` with one thread, which decodes each block
once.  What decoding takes is the time of that command less its time for the file without
compression.  Time is user + system of the process, the least of --runs, all codecs in turn, so that
other work on the machine shows less.  The files are in a folder of their own that is deleted at the
end.  Prints a table in Markdown."""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

CODECS = {"none": [], "DEFLATE": ["COMPRESS=DEFLATE"],
          "DEFLATE, predictor": ["COMPRESS=DEFLATE", "PREDICTOR=2"],
          "ZSTD": ["COMPRESS=ZSTD", "ZSTD_LEVEL=1"],
          "ZSTD, predictor": ["COMPRESS=ZSTD", "ZSTD_LEVEL=1", "PREDICTOR=2"],
          "LZW": ["COMPRESS=LZW"], "LZW, predictor": ["COMPRESS=LZW", "PREDICTOR=2"],
          "LERC": ["COMPRESS=LERC", "MAX_Z_ERROR=0"], "LERC_ZSTD": ["COMPRESS=LERC_ZSTD"]}


def run(words):
    found = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if found.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {found.returncode}: {found.stderr}")
    return found.stdout


def processor_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def available(codec):
    formats = run(["gdalinfo", "--format", "GTiff"])
    return codec == "none" or f"<Value>{codec.split(',')[0]}</Value>" in formats


def write_all(args, bits):
    """{codec: path}, and the bytes of the pixels."""
    made = os.path.join(args.folder, "made.tif")
    run([os.path.join(args.build, "data/make_scene"), made, "--size", f"{args.size}x{args.size}",
         "--bands", "1", "--bits", str(bits), "--seed", "7"])
    paths = {}
    for codec in filter(available, CODECS):
        paths[codec] = os.path.join(args.folder, f"{len(paths)}.tif")
        options = [word for option in ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512",
                                       "NUM_THREADS=ALL_CPUS", *CODECS[codec]]
                   for word in ("-co", option)]
        run(["gdal_translate", "-q", *options, made, paths[codec]])
    os.remove(made)
    return paths


def measure(args, bits):
    """{codec: (bytes of the file, seconds of the command)}"""
    paths, took = write_all(args, bits), {}
    for _ in range(args.runs):
        for codec, path in paths.items():
            seconds = processor_seconds([os.path.join(args.build, "apps/qfz"), "label", "-q", "-j", "1",
                                         "--engine", "cpu", "--alpha", "2", "--count-only", path])
            took[codec] = min(seconds, took.get(codec, seconds))
    found = {codec: (os.path.getsize(path), took[codec]) for codec, path in paths.items()}
    for path in paths.values():
        os.remove(path)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", help="build folder")
    parser.add_argument("--size", type=int, default=8192, help="side of the raster in pixels")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command; the least counts")
    parser.add_argument("--folder", default="/dev/shm", help="where the files are; in memory")
    args = parser.parse_args()
    args.folder = tempfile.mkdtemp(prefix="qfz-codecs-", dir=args.folder)
    try:
        tables = {bits: measure(args, bits) for bits in (8, 16)}
    finally:
        shutil.rmtree(args.folder)
    print("| codec | 8 bits: file, % of the pixels | decoded, MB/s | 16 bits: file, % | decoded, MB/s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for codec in tables[8]:
        cells = []
        for bits, found in tables.items():
            n_bytes = args.size * args.size * bits // 8
            file_bytes, seconds = found[codec]
            more = seconds - found["none"][1]
            cells.append(f"{100 * file_bytes / n_bytes:.0f}")
            cells.append("" if codec == "none" else f"{n_bytes / more / 1e6:.0f}" if more > 0.005 else
                         "not measurable")
        print(f"| {codec} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

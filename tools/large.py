#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""large.py QFZ MEGAPIXELS [TASK...] [--folder DIR] [--break P] [--no-check] [-- OPTION...]: runs
tasks (label, saliency; both by default) on a raster of any size that takes no disk, and checks every
pixel of the result.

The source is a VRT: pixel (x, y) is a(x) + b(y), of two random profiles, which GDAL adds as it reads.
The levels are known for it: the edge between columns x and x + 1 has |a(x + 1) - a(x)| in every row, and
no way around is cheaper.  So the saliency of an edge is its level, and an alpha-component is a
rectangle, at a known place in the numbering.  The check reads the output by gdal_translate and
compares the bytes of each row with those of the formula.

P is the probability that a profile breaks between two pixels: 0.125 gives regions of 64 pixels on
average, 0.9 nearly as many regions as pixels.  Options after -- go to qfz (-j, --memory, --tile,
--work ...).  The folder must be new; it holds the outputs and is deleted at the end.  Needs NumPy
and GDAL's programs.

Prints three lines for each task: seconds, rate, peak memory, bytes of the output and whether every
pixel is right; the plan of qfz info; the report of qfz."""
import argparse
import array
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy

ALPHA, STRIP = 5, 512

VRT = """<VRTDataset rasterXSize="{w}" rasterYSize="{h}">
<VRTRasterBand dataType="UInt16" band="1" subClass="VRTDerivedRasterBand" blockXSize="1024" blockYSize="1024">
<PixelFunctionType>sum</PixelFunctionType><SourceTransferType>UInt16</SourceTransferType>
{sources}</VRTRasterBand></VRTDataset>
"""
SOURCE = """<ComplexSource><SourceFilename relativeToVRT="1">{name}</SourceFilename><SourceBand>1</SourceBand>
<SrcRect xOff="0" yOff="0" xSize="{from_w}" ySize="{from_h}"/><DstRect xOff="0" yOff="0" xSize="{w}" ySize="{h}"/>
</ComplexSource>
"""
RAW = """<VRTDataset rasterXSize="{w}" rasterYSize="{h}"><VRTRasterBand dataType="UInt16" band="1" subClass="VRTRawRasterBand">
<SourceFilename relativeToVRT="1">{name}</SourceFilename><PixelOffset>2</PixelOffset><LineOffset>{line}</LineOffset>
<ByteOrder>LSB</ByteOrder></VRTRasterBand></VRTDataset>
"""


def write_profile(name, values, across):
    """Numbers as a raster of one row, or of one column."""
    with open(name + ".bin", "wb") as out:
        array.array("H", values).tofile(out)
    w, h = (len(values), 1) if across else (1, len(values))
    pathlib.Path(name).write_text(RAW.format(w=w, h=h, name=name + ".bin", line=2 * w))
    return name, w, h


def write_sum(name, w, h, parts):
    """The sum of rasters, each stretched to the size of the whole."""
    sources = "".join(SOURCE.format(name=part, from_w=from_w, from_h=from_h, w=w, h=h)
                      for part, from_w, from_h in parts)
    pathlib.Path(name).write_text(VRT.format(w=w, h=h, sources=sources))


def profile(rng, n, chance):
    """Values 0..30000: steps of at most ALPHA, except where the profile breaks."""
    values = [rng.randrange(30001)]
    for _ in range(n - 1):
        if rng.random() < chance:
            step = rng.choice((-1, 1)) * rng.randrange(ALPHA + 1, 3000)
        else:
            step = rng.randrange(-ALPHA, ALPHA + 1)
        last = values[-1]
        values.append(last + step if 0 <= last + step <= 30000 else last - step)
    return values


def runs(values):
    """The number of the run of each value, from 0."""
    numbers = [0]
    for before, after in zip(values, values[1:]):
        numbers.append(numbers[-1] + (abs(after - before) > ALPHA))
    return numbers


def levels(values):
    return [abs(after - before) for before, after in zip(values, values[1:])]


def rows_of(output, band, w, h):
    """The bytes of each row of a band, from top to bottom."""
    for y in range(0, h, STRIP):
        n = min(STRIP, h - y)
        subprocess.run(["gdal_translate", "-q", "-of", "ENVI", "-b", str(band), "-srcwin", "0", str(y),
                        str(w), str(n), output, "strip.bin"], check=True)
        strip = pathlib.Path("strip.bin").read_bytes()
        for at in range(0, len(strip), len(strip) // n):
            yield strip[at:at + len(strip) // n]


def type_of(output):
    done = subprocess.run(["gdalinfo", "-json", output], capture_output=True, text=True, check=True)
    return numpy.dtype(json.loads(done.stdout)["bands"][0]["type"].lower().replace("byte", "uint8"))


def run(words):
    """Seconds, processor seconds, peak in MB and standard output of a command."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(words)}: status {status}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000 * 1.024, out


def wrong_labels(a, b, w, h, output):
    """The number of rows that are wrong."""
    kind, across, wrong = type_of(output), numpy.array(runs(a), "uint64") + 1, 0
    for number, row in zip(runs(b), rows_of(output, 1, w, h)):
        wrong += row != (across + number * int(across[-1])).astype(kind).tobytes()
    return wrong


def wrong_saliency(a, b, w, h, output):
    """The same of band 1, the edges to the right, and of band 2, those downwards; the last column, or
    the last row, has no such edges, which is nodata."""
    kind = type_of(output)
    none = numpy.iinfo(kind).max
    right = numpy.array([*levels(a), none], kind).tobytes()
    wrong = sum(row != right for row in rows_of(output, 1, w, h))
    for level, row in zip([*levels(b), none], rows_of(output, 2, w, h)):
        wrong += row != numpy.full(w, level, kind).tobytes()
    return wrong


def task_of(arguments, name, w, h, a, b):
    words = [name, "--distance", "linf"] + (["--alpha", str(ALPHA)] if name == "label" else [])
    output = name + ".tif"
    plan = json.loads(run([arguments.qfz, "info", "--task", *words, "--json", *arguments.options,
                           "source.vrt", output])[3])
    seconds, cpu, peak, said = run([arguments.qfz, *words, "--json", "--overwrite", *arguments.options,
                                    "source.vrt", output])
    report = json.loads(said)
    regions = (runs(a)[-1] + 1) * (runs(b)[-1] + 1)
    line = (f"{name}: {w} x {h} pixels, {seconds:.0f} s, {w * h / 1e6 / seconds:.1f} Mpixel/s, {cpu:.0f} s of processors, "
            f"peak {peak:.0f} MB, {os.path.getsize(output) / 1e6:.0f} MB written")
    wrong = []
    if name == "label":
        line += f", {report['regions']} regions"
        wrong += [] if report["regions"] == regions else [f"{regions} regions expected"]
    if not arguments.no_check:
        began = time.monotonic()
        n_wrong = (wrong_labels if name == "label" else wrong_saliency)(a, b, w, h, output)
        wrong += [f"{n_wrong} rows are wrong"] if n_wrong else []
        line += f"; every pixel compared in {time.monotonic() - began:.0f} s: {'WRONG' if wrong else 'equal'}"
    print(line, *wrong, sep="; ", flush=True)
    print("   plan:", json.dumps({key: plan[key] for key in plan if key not in ("source", "outputs")}))
    print("   report:", json.dumps(report))
    return not wrong


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("qfz", type=os.path.abspath)
    parser.add_argument("megapixels", type=float)
    parser.add_argument("tasks", nargs="*", default=["label", "saliency"])
    parser.add_argument("--folder", default="large")
    parser.add_argument("--break", dest="chance", type=float, default=0.125)
    parser.add_argument("--no-check", action="store_true")
    arguments = parser.parse_args(own)
    arguments.options = options
    os.makedirs(arguments.folder) # a new one: it is deleted at the end
    os.chdir(arguments.folder)
    side = math.isqrt(round(arguments.megapixels * 1e6))
    w, h = side, side + 1
    rng = random.Random(1)
    a, b = profile(rng, w, arguments.chance), profile(rng, h, arguments.chance)
    write_sum("source.vrt", w, h, [write_profile("a.vrt", a, True),
                                   write_profile("b.vrt", b, False)])
    good = all([task_of(arguments, name, w, h, a, b) for name in arguments.tasks])
    os.chdir("..")
    shutil.rmtree(arguments.folder)
    sys.exit(0 if good else 1)


main()

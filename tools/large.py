#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""large.py QFZ MEGAPIXELS [TASK...] [--pattern sum|diagonal] [--folder DIR] [--break P] [--no-check]
[-- OPTION...]: runs tasks (label, saliency, simplify; the first two by default) on a raster of any size
that takes no disk, and checks every pixel of the result.

The source is a VRT of 16 bits that is computed as it is read. By the pattern `sum`, pixel (x, y) is
a(x) + b(y), of two random profiles, which GDAL adds in double precision. The edge between columns x and
x + 1 has the level |a(x + 1) - a(x)| in every row, and no way around is cheaper. So the saliency of an edge
is its level, and an alpha-component is a rectangle, at a known place in the numbering. By the pattern
`diagonal`, pixel (x, y) is a(x + y), which GDAL reads from one line of a file, each row one value later: as
fast as memory. Every edge leads from one diagonal to the next, and an alpha-component is a
band of diagonals; each band has at least two, since pixels of one diagonal are not neighbours. The
check reads the output by gdal_translate, in one process for each processor, and compares the bytes of each
row with those of the formula.

P is the probability that a profile breaks between two pixels: 0.125 gives regions of 64 pixels on
average to the pattern `sum`, 0.9 nearly as many regions as pixels. Options after -- go to qfz (-j, --memory,
--tile, --work ...). The folder must be new; it holds the outputs and is deleted at the end. Needs
NumPy and GDAL's programs.

Prints three lines for each task: seconds, rate, peak memory, bytes of the output and whether every
pixel is right; the plan of qfz info; the report of qfz."""
import argparse
import array
import itertools
import json
import math
import multiprocessing
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


def write_raw(name, values, w, h, line):
    """Numbers as a raster; row y begins `line` values after row y - 1."""
    with open(name + ".bin", "wb") as out:
        array.array("H", values).tofile(out)
    pathlib.Path(name).write_text(RAW.format(w=w, h=h, name=name + ".bin", line=2 * line))


def profile(rng, n, chance, shortest):
    """Values 0..30000: steps of at most ALPHA, except where the profile breaks, `shortest` values after
    the last break at the earliest."""
    values, since = [rng.randrange(30001)], 1
    for _ in range(n - 1):
        if since >= shortest and rng.random() < chance:
            step, since = rng.choice((-1, 1)) * rng.randrange(ALPHA + 1, 3000), 1
        else:
            step, since = rng.randrange(-ALPHA, ALPHA + 1), since + 1
        last = values[-1]
        values.append(last + step if 0 <= last + step <= 30000 else last - step)
    return values


def runs(values):
    """The number of the run of each value, from 0."""
    breaks = numpy.abs(numpy.diff(values)) > ALPHA
    return numpy.concatenate(([0], numpy.cumsum(breaks)))


def sums(numbers, values):
    """The sum of the values of each run."""
    return numpy.add.reduceat(values, numpy.flatnonzero(numpy.diff(numbers, prepend=-1)))


def mean(sum_, count):
    """Rounded to nearest, halves up."""
    return (2 * sum_ + count) // (2 * count)


class Sum:
    """Pixel (x, y) is a(x) + b(y)."""

    def __init__(self, rng, w, h, chance):
        self.w, self.h = w, h
        self.a, self.b = (numpy.array(profile(rng, n, chance, 1)) for n in (w, h))
        self.a_runs, self.b_runs = runs(self.a), runs(self.b)
        self.regions = int((self.a_runs[-1] + 1) * (self.b_runs[-1] + 1))

    def write(self):
        write_raw("a.vrt", self.a, self.w, 1, self.w)
        write_raw("b.vrt", self.b, 1, self.h, 1)
        sources = [("a.vrt", self.w, 1), ("b.vrt", 1, self.h)]
        text = "".join(SOURCE.format(name=name, from_w=w, from_h=h, w=self.w, h=self.h)
                       for name, w, h in sources)
        pathlib.Path("source.vrt").write_text(VRT.format(w=self.w, h=self.h, sources=text))

    def label(self, y):
        return self.a_runs + 1 + self.b_runs[y] * (self.a_runs[-1] + 1)

    def right(self, _, none):
        return numpy.append(numpy.abs(numpy.diff(self.a)), none)

    def below(self, y, none):
        return numpy.full(self.w, none if y == self.h - 1 else abs(self.b[y + 1] - self.b[y]))

    def mean(self, y):
        run = self.b_runs == self.b_runs[y]
        w, h = numpy.bincount(self.a_runs), int(run.sum())
        return mean(sums(self.a_runs, self.a) * h + w * int(self.b[run].sum()), w * h)[self.a_runs]


class Diagonal:
    """Pixel (x, y) is a(x + y)."""

    def __init__(self, rng, w, h, chance):
        self.w, self.h = w, h
        n = w + h - 1
        self.a = numpy.array(profile(rng, n, chance, 2))
        self.a_runs = runs(self.a)
        self.regions = int(self.a_runs[-1]) + 1
        d = numpy.arange(n)
        pixels = numpy.minimum(numpy.minimum(d + 1, n - d), min(w, h))
        self.means = mean(sums(self.a_runs, self.a * pixels), sums(self.a_runs, pixels))[self.a_runs]
        self.levels = numpy.abs(numpy.diff(self.a))

    def write(self):
        write_raw("source.vrt", self.a, self.w, self.h, 1)

    def label(self, y):
        return self.a_runs[y:y + self.w] + 1

    def right(self, y, none):
        return numpy.append(self.levels[y:y + self.w - 1], none)

    def below(self, y, none):
        return numpy.full(self.w, none) if y == self.h - 1 else self.levels[y:y + self.w]

    def mean(self, y):
        return self.means[y:y + self.w]


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


def expected(pattern, task, band, y, none):
    if task == "label":
        return pattern.label(y)
    if task == "simplify":
        return pattern.mean(y)
    return pattern.right(y, none) if band == 1 else pattern.below(y, none)


def wrong_rows(job):
    """The number of wrong rows of a strip of a band."""
    pattern, task, output, kind, band, top = job
    n = min(STRIP, pattern.h - top)
    name = f"strip-{band}-{top}.bin"
    subprocess.run(["gdal_translate", "-q", "-of", "ENVI", "-b", str(band), "-srcwin", "0", str(top),
                    str(pattern.w), str(n), output, name], check=True)
    strip = numpy.memmap(name, kind, "r", shape=(n, pattern.w))
    wrong = 0
    for y, row in enumerate(strip, top):
        wanted = expected(pattern, task, band, y, numpy.iinfo(kind).max).astype(kind)
        wrong += not numpy.array_equal(row, wanted)
    del strip
    for left in (name, name[:-3] + "hdr", name + ".aux.xml"):
        pathlib.Path(left).unlink(missing_ok=True)
    return wrong


def all_wrong_rows(pattern, task, output):
    kind = type_of(output)
    bands = (1, 2) if task == "saliency" else (1,)
    jobs = [(pattern, task, output, kind, *place)
            for place in itertools.product(bands, range(0, pattern.h, STRIP))]
    with multiprocessing.Pool() as pool:
        return sum(pool.imap_unordered(wrong_rows, jobs))


def task_of(arguments, name, pattern):
    cuts = {"label": ["--alpha", str(ALPHA)], "saliency": [],
            "simplify": ["--alpha", str(ALPHA), "--omega", "65535"]}
    words = [name, "--distance", "linf", *cuts[name]]
    output = name + ".tif"
    plan = json.loads(run([arguments.qfz, "info", "--task", *words, "--json", *arguments.options,
                           "source.vrt", output])[3])
    seconds, cpu, peak, said = run([arguments.qfz, *words, "--json", "--overwrite", *arguments.options,
                                    "source.vrt", output])
    report = json.loads(said)
    pixels = pattern.w * pattern.h
    line = (f"{name}: {pattern.w} x {pattern.h} pixels, {seconds:.0f} s, {pixels / 1e6 / seconds:.1f} Mpixel/s, "
            f"{cpu:.0f} s of processors, peak {peak:.0f} MB, {os.path.getsize(output) / 1e6:.0f} MB written")
    wrong = []
    if name != "saliency":
        line += f", {report['regions']} regions"
        wrong += [] if report["regions"] == pattern.regions else [f"{pattern.regions} regions expected"]
    if not arguments.no_check:
        began = time.monotonic()
        n_wrong = all_wrong_rows(pattern, name, output)
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
    parser.add_argument("--pattern", choices=("sum", "diagonal"), default="sum")
    parser.add_argument("--folder", default="large")
    parser.add_argument("--break", dest="chance", type=float, default=0.125)
    parser.add_argument("--no-check", action="store_true")
    arguments = parser.parse_args(own)
    arguments.options = options
    os.makedirs(arguments.folder) # a new one: it is deleted at the end
    os.chdir(arguments.folder)
    side = math.isqrt(round(arguments.megapixels * 1e6))
    made = Diagonal if arguments.pattern == "diagonal" else Sum
    pattern = made(random.Random(1), side, side + 1, arguments.chance)
    pattern.write()
    good = all([task_of(arguments, name, pattern) for name in arguments.tasks])
    os.chdir("..")
    shutil.rmtree(arguments.folder)
    sys.exit(0 if good else 1)


main()

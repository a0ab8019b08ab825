# SPDX-License-Identifier: MIT
"""memory.py QFZ [PART PARTS]: --memory is the peak of the process, for 66 combinations of layouts of rasters and jobs, with the
least limit and one or two of three others, in turn.  A job within a limit never takes more; a job that is refused names the least limit, and keeps that one.
The parts of memory that info names add up to the peak or more; info did not name the tiles that stay in memory between
passes, and the plan counted neither large blocks of outputs, masks and --stats, nor codecs, nor GDAL's table of few rows of blocks, nor a large least area, nor components longer than wide, for the area filter and for omega,
nor the areas of many rows and the runs of many chains of polygons, nor the tables of the tiles of each alpha.  With PART of PARTS, every PARTS-th combination.  The last word `all`: all limits, and a table of peaks."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

QFZ = os.path.abspath(sys.argv[1])
SKIPPED = 77
LIMITS = (70, 85, 120, 250)  # MB
NAMED = ("program_bytes", "tile_bytes", "cache_bytes", "kept_bytes", "store_bytes")
PLAIN = ("label", "alpha", "50", "simplify", "area", "saliency")  # jobs of which info names all parts

TILED = ["TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256"]
LAYOUTS = {  # width, height, bands, type, options
    "rows": (2500, 2500, 1, "uint8", ["BLOCKYSIZE=1"]),
    "strips": (2500, 2500, 1, "uint8", ["BLOCKYSIZE=64", "COMPRESS=DEFLATE"]),
    "whole": (2500, 2500, 1, "uint8", ["BLOCKYSIZE=2500", "COMPRESS=LZW"]),
    "heavy": (2500, 2500, 1, "int32", ["BLOCKYSIZE=2500", "COMPRESS=DEFLATE"]),
    "tiles": (2500, 2500, 1, "uint8", TILED),
    "small": (2500, 2500, 1, "int16", ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"]),
    "rgb": (1800, 1800, 3, "uint16", [*TILED, "INTERLEAVE=PIXEL", "COMPRESS=DEFLATE"]),
    "planes": (1500, 1500, 8, "uint16", [*TILED, "INTERLEAVE=BAND"]),
    "floats": (1800, 1800, 2, "float32", TILED),
    "wide": (40000, 150, 1, "uint8", ["BLOCKYSIZE=8"]),
    "tall": (150, 40000, 1, "int32", ["BLOCKYSIZE=8"]),
    "column": (1, 4000000, 1, "uint8", ["BLOCKYSIZE=65536"]),
    "pair": (2, 500000, 1, "uint8", ["BLOCKYSIZE=65536"]),
    "line": (2000000, 1, 1, "uint8", []),
    "narrow": (4000000, 1, 1, "uint8", [*TILED, "COMPRESS=DEFLATE"]),
    "noise": (1800, 1800, 3, "uint16", [*TILED, "COMPRESS=DEFLATE"]),
    "slopes": (2500, 2500, 1, "float32", TILED),
    "bowl": (2500, 2500, 1, "float32", [*TILED, "COMPRESS=DEFLATE"]),
}
ALPHA = ["--alpha", 3, "--distance", "linf"]
JOBS = {
    "label": ["label", "--overwrite", "SRC", "out.tif"],
    "count": ["label", "--count-only", "SRC"],
    "strip": ["label", *ALPHA, "--overwrite", "--co", "TILED=NO", "--co", "BLOCKYSIZE=100000", "SRC", "out.tif"],
    "raw": ["label", *ALPHA, "--overwrite", "--co", "TILED=NO", "--co", "COMPRESS=NONE", "SRC", "out.tif"],
    "codec": ["label", *ALPHA, "--overwrite", "--co", "COMPRESS=ZSTD", "--co", "ZSTD_LEVEL=19", "SRC", "out.tif"],
    "mixed": ["simplify", *ALPHA, "--omega", 9, "--overwrite", "--co", "INTERLEAVE=PIXEL", "--co", "BLOCKXSIZE=1024", "--co",
              "BLOCKYSIZE=1024", "SRC", "out.tif"],
    "cog": ["simplify", *ALPHA, "--omega", 9, "--overwrite", "--of", "COG", "SRC", "out.tif"],
    "alpha": ["label", *ALPHA, "--overwrite", "--co", "COMPRESS=DEFLATE", "--co", "TILED=YES", "SRC", "out.tif"],
    "table": ["label", *ALPHA, "--overwrite", "--regions", "out.gpkg", "SRC", "out.tif"],
    "alphas": ["label", "--alpha", "1,3,5,10,20", "--tile", 50, "--overwrite", "--regions", "out{alpha}.csv", "SRC",
               "out{alpha}.tif"],
    "kept": ["label", "--alpha", "1,3,5,10,20", "--tile", 50, "--overwrite", "--work", "work", "--regions", "out{alpha}.csv",
             "SRC", "out{alpha}.tif"],
    "50": ["label", *ALPHA, "--tile", 50, "--overwrite", "SRC", "out.tif"],
    "1500": ["label", *ALPHA, "--tile", 1500, "--overwrite", "SRC", "out.tif"],
    "simplify": ["simplify", *ALPHA, "--omega", 9, "--overwrite", "SRC", "out.tif"],
    "area": ["simplify", *ALPHA, "--omega", 9, "--min-area", 20, "--overwrite", "SRC", "out.tif"],
    "large": ["label", *ALPHA, "--min-area", 1000000, "--overwrite", "SRC", "out.tif"],
    "rows": ["saliency", "--min-area", 1000, "--overwrite", "SRC", "out.tif"],
    "spans": ["simplify", "--alpha", 1000000, "--omega", 1000000, "--overwrite", "SRC", "out.tif"],
    "long": ["label", "--alpha", 1, "--min-area", 1000, "--overwrite", "SRC", "out.tif"],
    "saliency": ["saliency", "--distance", "linf", "--connectivity", 8, "--overwrite", "SRC", "out.tif"],
    "tree": ["tree", "--distance", "linf", "--overwrite", "SRC", "out.tif", "out.csv"],
    "branches": ["tree", "--distance", "linf", "--overwrite", "SRC", "out.tif", "out.fgb"],
    "curve": ["curve", "--distance", "linf", "SRC"],
    "least": ["curve", "--distance", "linf", "--min-area", 5, "SRC"],
    "cut": ["cut", "--alpha", 3, "--overwrite", "edges.tif", "out.tif"],
    "regions": ["regions", "--overwrite", "labels.tif", "--regions", "out.gpkg"],
    "near": ["regions", "--overwrite", "labels.tif", "--neighbours", "out.csv"],
    "columns": ["label", *ALPHA, "--overwrite", "--regions", "out.csv", "--columns",
                "label,perimeter,neighbours,majority", "SRC", "out.tif"],
    "overviews": ["label", *ALPHA, "--overwrite", "--overviews", "mode", "SRC", "out.tif"],
    "look": ["label", *ALPHA, "--overwrite", "--quicklook", "out.png", "--quicklook-style", "means", "SRC", "out.tif"],
    "contours": ["saliency", *ALPHA[2:], "--overwrite", "--quicklook", "out.png", "SRC", "out.tif"],
    "shapes": ["regions", "--overwrite", "labels.tif", "--regions", "out.csv", "--columns", "label,perimeter,neighbours"],
    "sheet": ["regions", "--overwrite", "labels.tif", "--regions", "out.csv"],  # labels in one strip
    "packed": ["regions", "--overwrite", "labels.tif", "--regions", "out.fgb"],
    "values": ["regions", "--overwrite", "--stats", "SRC", "labels.tif", "--regions", "out.csv"],
    "masked": ["label", *ALPHA, "--overwrite", "--mask", "SRC", "tiles.tif", "out.tif"],
    "means": ["label", *ALPHA, "--overwrite", "--stats", "SRC", "--regions", "out.csv", "tiles.tif", "out.tif"],
    "outlines": ["regions", "--overwrite", "labels.tif", "--polygons", "out.gpkg"],
    "borders": ["label", "--overwrite", "--polygons", "out.fgb", "SRC", "out.tif"],
}
CELLS = [(layout, job) for layout, jobs in {
    "rows": "label count saliency regions packed shapes overviews", "strips": "label simplify saliency curve cut", "whole": "label simplify strip sheet", "heavy": "values masked means",
    "tiles": "alpha area large tree table near columns overviews look cog", "small": "label saliency 50", "rgb": "alpha simplify 1500 outlines columns contours codec",
    "planes": "label simplify", "floats": "alpha area branches", "wide": "label saliency", "tall": "label simplify",
    "column": "count curve least borders", "line": "label strip raw", "narrow": "label least", "noise": "mixed cog large", "slopes": "large", "bowl": "rows long spans", "pair": "alphas kept",
}.items() for job in jobs.split()]


# Areas of slow steps, and noise.  In a process of its own: the peak of a child counts that of its parent, too.
MAKE = """
import sys
import numpy as np
from osgeo import gdal
name, width, height, n_bands, dtype, *options = sys.argv[1:]
width, height, n_bands = int(width), int(height), int(n_bands)
gdal.UseExceptions()
types = {"uint8": gdal.GDT_Byte, "int16": gdal.GDT_Int16, "uint16": gdal.GDT_UInt16, "int32": gdal.GDT_Int32,
         "float32": gdal.GDT_Float32}
made = gdal.GetDriverByName("GTiff").Create(name, width, height, n_bands, types[dtype], options)
rng = np.random.default_rng(1)
y, x = np.mgrid[0:height, 0:width]
for band in range(1, n_bands + 1):
    noise = rng.integers(0, 7, (height, width)) * ((x // 300 + y // 300) % 2)
    values = 100 + (x // 7 + y // 5) % 90 + noise
    if name == "slopes.tif":
        values = 100 * sum(np.sin(x / (60 + 13 * k) + y / (91 - 7 * k)) for k in range(6))
    if name == "bowl.tif":  # components are rows and columns of pixels
        values = ((x - width / 2) ** 2 + (y - height * 0.47) ** 2) / 1000
    if name == "noise.tif":  # cannot be compressed
        values = rng.integers(0, 60000, (height, width))
    made.GetRasterBand(band).WriteArray(values.astype(dtype))
"""


def find_python():
    for python in ("python3", "/usr/bin/python3"):
        there = subprocess.run([python, "-c", "import numpy; from osgeo import gdal"], capture_output=True, check=False)
        if there.returncode == 0:
            return python
    print("skipped: needs NumPy and GDAL's Python")
    sys.exit(SKIPPED)


def make(layout):
    width, height, n_bands, dtype, options = LAYOUTS[layout]
    name = layout + ".tif"
    if not os.path.exists(name):
        subprocess.run([PYTHON, "-c", MAKE, name, str(width), str(height), str(n_bands), dtype, *options], check=True)
    return name


def run(words, limit):
    """Exit status, peak in bytes, what it said."""
    shutil.rmtree("work", ignore_errors=True)
    command = [QFZ, *map(str, words), "-q", "-j", "2", "--memory", f"{limit}MB"]
    if words[0] != "regions":
        command += ["--engine", "cpu"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_maxrss * 1024 / 1e6, said


def named(words, limit):
    """The sum of the parts of memory that info names, in MB."""
    plan = subprocess.run([QFZ, "info", "--task", *map(str, words), "--json", "-j", "2", "--engine", "cpu", "--memory",
                           f"{limit}MB"], capture_output=True, text=True, check=True)
    return sum(json.loads(plan.stdout)[part] for part in NAMED) / 1e6


def prepare(layout, job):
    source = make(layout)
    if "tiles.tif" in JOBS[job]:
        make("tiles")
    if job == "cut":
        run(["saliency", "--distance", "linf", "--overwrite", source, "edges.tif"], 1000)
    if JOBS[job][0] == "regions":
        many = job == "packed" # regions, of equal values
        blocks = ["--co", "TILED=NO", "--co", "BLOCKYSIZE=100000"] if job == "sheet" else []
        run(["label", *([] if many else ALPHA), *blocks, "--overwrite", source, "labels.tif"], 1000)
    return [source if word == "SRC" else word for word in JOBS[job]]


def limits_of(number, job):
    """Of the combination of this number."""
    if sys.argv[-1] == "all":
        return LIMITS
    if job in PLAIN:
        return LIMITS[0], LIMITS[1 + number % 2], LIMITS[3]
    return LIMITS[0], LIMITS[1 + number % 3]


def check(number, table):
    layout, job = CELLS[number]
    words = prepare(layout, job)
    failed = []
    row = []
    held = {}  # by the least limit that a refused job named
    for limit in limits_of(number, job):
        status, peak, said = run(words, limit)
        least = re.search(r"(?:--memory |at least )(\d+) ?MB", said)
        if status and least:
            row.append(f"needs {least[1]}")
            limit = int(least[1])
            if limit not in held:
                held[limit] = run(words, limit)
            status, peak, said = held[limit]
        row.append(f"{peak:.0f}")
        if status or peak > limit:
            failed.append(f"{layout} {job}, --memory {limit}MB: status {status}, peak {peak:.1f} MB, {said.strip()}")
        parts = named(words, limit) if job in PLAIN and limit == LIMITS[-1] else peak
        if peak > parts:
            failed.append(f"{layout} {job}, --memory {limit}MB: peak {peak:.1f} MB, of which info names {parts:.1f} MB")
    if table:
        print(f"| {layout} | {job} | {' | '.join(row)} |", flush=True)
    return failed


PYTHON = find_python()
with tempfile.TemporaryDirectory(prefix="qfz_memory_") as folder:
    os.chdir(folder)
    parts = [int(word) for word in sys.argv[2:4]] if len(sys.argv) > 3 else [0, 1]
    numbers = range(len(CELLS))[parts[0]::parts[1]]
    faults = [fault for number in numbers for fault in check(number, sys.argv[-1] == "all")]
    print("\n".join(faults) if faults else f"the limits of {len(numbers)} combinations held")
    sys.exit(bool(faults))

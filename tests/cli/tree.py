# SPDX-License-Identifier: MIT
"""tree.py QFZ PAGE: runs the programs and commands of docs/user/tree.md as they stand, on a small raster in small tiles;
their cut and their filtered cut are the labels of qfz label; every format of the table has the same rows; rows of
a long table are in order; bad input."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

QFZ, PAGE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SKIPPED = 77

RASTER = """
import numpy
from osgeo import gdal_array
rng = numpy.random.default_rng(3)
y, x = numpy.mgrid[0:60, 0:70]
fields = ((y // 20) * 3 + x // 25) % 7
scene = numpy.stack([fields * 20 + rng.integers(0, 6, fields.shape) // 3 * 4 for b in range(3)])
scene[:, 10:14, 5:60] = 0
gdal_array.SaveArray(scene.astype("uint8"), "scene.tif", format="GTiff")
"""

NOISE = """
import numpy
from osgeo import gdal_array
noise = numpy.random.default_rng(4).integers(0, 256, (150, 200))
gdal_array.SaveArray(noise.astype("uint8"), "noise.tif", format="GTiff")
"""

SAME = """
import sys
from osgeo import gdal
one, other = (gdal.Open(name).ReadAsArray() for name in sys.argv[1:])
assert (one == other).all() and one.max() > 5, one.max()
"""


def find_python():
    for python in ("python3", "/usr/bin/python3"):
        try:
            subprocess.run([python, "-c", "from osgeo import gdal_array"], check=True, capture_output=True)
            return python
        except (OSError, subprocess.CalledProcessError):
            continue
    print("skipped: needs numpy and GDAL's Python")
    sys.exit(SKIPPED)


def run(command, text=""):
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{text}\n{done.stderr}")


def refuse(why, *command):
    done = subprocess.run(["qfz", "tree", *command], text=True, capture_output=True, check=False)
    lines = done.stderr.splitlines()
    if done.returncode == 0 or len(lines) != 1 or not re.search(why, lines[0]):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}, not refused with {why}:\n{done.stderr}")
    left = [name for name in os.listdir(".") if name.startswith("no_")]
    if left:
        sys.exit(f"{' '.join(command)}: left behind: {left}")


def rows(name):
    run(["ogr2ogr", "-f", "CSV", "rows.csv", name])
    with open("rows.csv", newline="", encoding="ascii") as file:
        found = [(int(r["a"]), int(r["b"]), float(r["level"]), float(r["x"]), float(r["y"])) for r in csv.DictReader(file)]
    os.remove("rows.csv")
    return found


def formats():
    """All formats that GDAL has here hold the same rows, in tiles or whole."""
    want = rows("tree.csv")
    assert len(want) > 100
    supported = subprocess.run(["ogrinfo", "--formats"], text=True, capture_output=True, check=True).stdout
    for extension, driver in (("gpkg", "GPKG"), ("fgb", "FlatGeobuf"), ("parquet", "Parquet"), ("geojson", "GeoJSON")):
        if f"{driver} -vector- (rw" in supported or f"{driver} -raster,vector- (rw" in supported:
            name = f"tree.{extension}"
            run([str(QFZ), "tree", "-q", "--distance", "linf", "scene.tif", "whole.tif", name, "--overwrite"])
            found = rows(name)
            assert sorted(found) == sorted(want), f"{name}: {len(found)} rows"


def place_in_order(level, x, y):
    """(level, position) of an edge of 4-connectivity whose middle is (x, y); the finaliser of splitmix64."""
    right = x == int(x)
    z = int(y - (0 if right else 1)) << 34 | int(x - (1 if right else 0)) << 2 | (0 if right else 2)
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return level, z ^ z >> 31


def many_rows():
    """Threads merge and format parts of a long table beside each other, and write them in order."""
    run([python, "-W", "ignore", "-"], NOISE)
    tables = set()
    for threads in (1, 4):
        run([str(QFZ), "tree", "-q", "-j", str(threads), "--tile", "64", "noise.tif", "noise_zones.tif", "noise.csv", "--overwrite"])
        tables.add(pathlib.Path("noise.csv").read_bytes())
    assert len(tables) == 1
    places = [place_in_order(level, x, y) for _, _, level, x, y in rows("noise.csv")]
    assert len(places) > 20000 and places == sorted(places), len(places)


def bad_input():
    refuse("arguments are missing", "scene.tif", "no_zones.tif")
    refuse("already exists", "scene.tif", "no_zones.tif", "tree.csv")
    refuse("two outputs have this name", "scene.tif", "no_1.tif", "no_1.tif")
    refuse("no_tree", "scene.tif", "no_zones.tif", "no_tree.unknown")
    refuse("no_folder", "scene.tif", "no_zones.tif", "no_folder/tree.csv")
    refuse("not an option of qfz tree", "--alpha", "3", "scene.tif", "no_zones.tif", "no_tree.csv")
    refuse("missing.tif", "missing.tif", "no_zones.tif", "no_tree.csv")


python = find_python()
with tempfile.TemporaryDirectory(prefix="qfz_tree_") as folder:
    os.chdir(folder)
    wrapper = pathlib.Path("qfz")
    wrapper.write_text(f'#!/bin/sh\nexec {QFZ} "$@" -q --tile 13\n')
    wrapper.chmod(0o755)
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    run([python, "-W", "ignore", "-"], RASTER)
    blocks = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for language, text in blocks:
        run(["bash", "-e"] if language == "bash" else [python, "-W", "ignore", "-"], text)
    run(["qfz", "label", "--distance", "linf", "--alpha", "12", "scene.tif", "label.tif"])
    run(["qfz", "label", "--distance", "linf", "--alpha", "12", "--min-area", "25", "scene.tif", "label_25.tif"])
    for pair in (("cut.tif", "label.tif"), ("filtered.tif", "label_25.tif")):
        run([python, "-W", "ignore", "-", *pair], SAME)
    formats()
    many_rows()
    bad_input()
    print(f"{len(blocks)} blocks of {PAGE.name}, formats, many rows, bad input")

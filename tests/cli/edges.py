# SPDX-License-Identifier: MIT
"""edges.py QFZ PAGE: runs the programs and commands of docs/user/edges.md as they stand, on small rasters and in
small tiles; levels that are differences of pixels give the regions of these differences; and no output replaces the raster of levels, which
label --overwrite did."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

QFZ, PAGE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SKIPPED = 77

RASTERS = """
import numpy
from osgeo import gdal, gdal_array
rng = numpy.random.default_rng(1)
y, x = numpy.mgrid[0:60, 0:70]
fields = ((y // 20) * 3 + x // 25) % 7
scene = numpy.stack([fields * 20 + rng.integers(0, 3, fields.shape) for b in range(3)])
gdal_array.SaveArray(scene.astype("uint8"), "scene.tif", format="GTiff")
boundary = numpy.where((y % 20 == 0) | (x % 25 == 0), 0.8, 0.1) + rng.random(y.shape) / 10
gdal_array.SaveArray(boundary.astype("float32"), "boundary.tif", format="GTiff")
gdal_array.SaveArray((1 - boundary).astype("float32"), "coherence.tif", format="GTiff")
far = numpy.full((2, 60, 70), 65535, "uint16")
band = scene[0].astype("int64")
far[0, :, :-1] = abs(band[:, 1:] - band[:, :-1])
far[1, :-1, :] = abs(band[1:] - band[:-1])
gdal_array.SaveArray(far, "far.tif", format="GTiff")
gdal_array.SaveArray((far / numpy.float32(64)).astype("float32"), "levels.tif", format="GTiff")
"""

SAME = """
from osgeo import gdal
one, other = (gdal.Open(name).ReadAsArray() for name in ("one.tif", "other.tif"))
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


def run(command, text):
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{text}\n{done.stderr}")


def refuse_to_replace(levels, *command):
    before = pathlib.Path("far.tif").read_bytes()
    done = subprocess.run(["qfz", *command, "--edges", levels, "scene.tif", "out.tif"], text=True, capture_output=True, check=False)
    if done.returncode == 0 or not re.search("far.tif: the output would replace an input", done.stderr):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}, not refused:\n{done.stderr}")
    assert pathlib.Path("far.tif").read_bytes() == before and not os.path.exists("out.tif")


python = find_python()
with tempfile.TemporaryDirectory(prefix="qfz_edges_") as folder:
    os.chdir(folder)
    wrapper = pathlib.Path("qfz")
    wrapper.write_text(f'#!/bin/sh\nexec {QFZ} "$@" -q --overwrite --tile 13\n')
    wrapper.chmod(0o755)
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    run([python, "-W", "ignore", "-"], RASTERS)
    blocks = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for language, text in blocks:
        run(["bash", "-e"] if language == "bash" else [python, "-W", "ignore", "-"], text)
    run(["bash", "-e"], """
        qfz label -b 1 --alpha 2 scene.tif one.tif
        qfz label -b 1 --alpha 2 --edges far.tif scene.tif other.tif
    """)
    run([python, "-W", "ignore", "-"], SAME)
    run(["gdal_translate", "-q", "-of", "VRT", "far.tif", "far.vrt"], "")
    for levels in "far.tif", "far.vrt":
        refuse_to_replace(levels, "simplify", "--alpha", "2", "--omega", "9", "--labels", "far.tif")
        refuse_to_replace(levels, "label", "--alpha", "2", "--colors", "far.tif")
        refuse_to_replace(levels, "label", "--alpha", "2", "--regions", "far.tif")
    print(f"{len(blocks)} blocks of {PAGE.name}, and levels of pixels")

# SPDX-License-Identifier: MIT
"""maps.py DATA QFZ PICTURES - draws the maps of docs/user/choosing.md, gallery.md and edges.md from the real rasters of the folder DATA, and prints
their tables: without a minimum mapping unit, with one, and gdal_sieve.py of the result without. Needs NumPy and GDAL's
Python."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
from osgeo import gdal, gdal_array

DATA, QFZ, PICTURES = (pathlib.Path(word).resolve() for word in sys.argv[1:])
gdal.UseExceptions()

# name, raster, window (x y w h), bands shown, options of every run, N
SCENES = [
    ("optical", "mosaic/s2_aber_overlap.vrt", (20, 250, 400, 400), (3, 2, 1),
     ["--distance", "linf", "--alpha", "80", "--omega", "500"], 25),
    ("aerial", "demo/naip_potholes_rgbn_u8.tif", (60, 60, 400, 400), (1, 2, 3),
     ["--distance", "linf", "--alpha", "10", "--omega", "60"], 100),
    ("radar", "medium/s1_spain_vv_vh_f32_nan.tif", (60, 60, 400, 400), (1,),
     ["--distance", "linf", "--alpha", "1.5", "--omega", "8"], 100),
    ("relief", "dem/etopo5_f32.tif", (900, 400, 400, 400), (1,),
     ["--alpha", "150", "--omega", "1000"], 25),
    ("classes", "demo/nlcd_zion_2013_palette_u8.tif", (300, 500, 400, 400), (1,),
     ["--alpha", "0", "--omega", "0"], 25),
]
CHOICES = [
    ("alpha_4", ["--alpha", "4"]),
    ("alpha_8", ["--alpha", "8"]),
    ("alpha_16", ["--alpha", "16"]),
    ("omega_30", ["--alpha", "16", "--omega", "30"]),
    ("omega_60", ["--alpha", "16", "--omega", "60"]),
    ("omega_120", ["--alpha", "16", "--omega", "120"]),
    ("area_25", ["--alpha", "16", "--omega", "60", "--min-area", "25"]),
    ("area_100", ["--alpha", "16", "--omega", "60", "--min-area", "100"]),
    ("area_400", ["--alpha", "16", "--omega", "60", "--min-area", "400"]),
]


def read(path):
    values = gdal.Open(str(path)).ReadAsArray().astype("float64")
    return values.reshape((-1,) + values.shape[-2:])


def simplify(source, options, labels):
    subprocess.run([QFZ, "simplify", "-q", "--overwrite", *options, "--labels", labels, source, "painted.tif"], check=True)
    return gdal.Open(labels).ReadAsArray()


def sieve(n, labels):
    """gdal_sieve.py knows numbers up to 2^31 - 1 as Int32."""
    gdal.Translate("small.tif", labels, outputType=gdal.GDT_Int32)
    subprocess.run(["gdal_sieve.py", "-q", "-4", "-st", str(n), "small.tif", "sieved.tif"], check=True, stdout=subprocess.DEVNULL)
    return gdal.Open("sieved.tif").ReadAsArray()


def means(bands, labels):
    pixels = numpy.maximum(numpy.bincount(labels.ravel()), 1)
    return numpy.stack([(numpy.bincount(labels.ravel(), numpy.nan_to_num(band).ravel()) / pixels)[labels] for band in bands])


def facts(bands, labels, n):
    """Regions, those below n pixels, and the error of the means, over valid pixels."""
    pixels = numpy.bincount(labels.ravel())
    pixels[0] = 0
    valid = labels > 0
    error = numpy.sqrt(numpy.mean((numpy.nan_to_num(bands) - means(bands, labels))[:, valid] ** 2))
    return (pixels > 0).sum(), ((pixels > 0) & (pixels < n)).sum(), error


class Look:
    """Colours of values: the same stretch for every picture of a scene, or the palette of its classes."""

    def __init__(self, source, shown):
        raster = gdal.Open(source) # a band lives as long as its raster
        table = raster.GetRasterBand(1).GetColorTable()
        self.shown = [number - 1 for number in shown]
        self.palette = table and numpy.array([table.GetColorEntry(i)[:3] for i in range(table.GetCount())], "uint8")
        bands = read(source)[self.shown]
        self.ends = [numpy.nanpercentile(values, (2, 98)) for values in bands]

    def draw(self, bands, name, border=None):
        if self.palette is not None:
            picture = self.palette[bands[0].round().astype(int)].transpose(2, 0, 1)
        else:
            picture = numpy.stack([255 * (bands[i] - lo) / (hi - lo) for i, (lo, hi) in zip(self.shown, self.ends)])
            picture = numpy.nan_to_num(picture).clip(0, 255).astype("uint8")
        if len(picture) == 1:
            picture = numpy.repeat(picture, 3, 0)
        if border is not None:
            picture = picture.copy()
            picture[:, border] = numpy.array([[230], [40], [40]], "uint8")
        gdal_array.SaveArray(picture, "look.tif", format="GTiff")
        gdal.Translate(str(PICTURES / f"{name}.jpg"), "look.tif", format="JPEG", width=320, height=0,
                       resampleAlg="average", creationOptions=["QUALITY=80"])
        (PICTURES / f"{name}.jpg.aux.xml").unlink(missing_ok=True)


def crop(raster, window):
    gdal.Translate("scene.tif", str(DATA / raster), srcWin=window)
    return "scene.tif"


def compare(name, raster, window, shown, options, n):
    source = crop(raster, window)
    bands, look = read(source), Look(source, shown)
    maps = {"none": simplify(source, options, "labels.tif"), "sieve": sieve(n, "labels.tif"),
            "unit": simplify(source, [*options, "--min-area", str(n)], "unit.tif")}
    look.draw(bands, f"{name}_input")
    for kind, labels in maps.items():
        painted = means(bands, labels)
        if look.palette is not None: # the class of most pixels, not a mean of codes
            painted = most_frequent(bands[0], labels)[None]
        look.draw(painted, f"{name}_{kind}")
    cells = [f"{regions:,} | {below:,} | {error:.3g}" for regions, below, error in
             (facts(bands, maps[kind], n) for kind in ("none", "unit", "sieve"))]
    print(f"| {name}, `{' '.join(options)}`, N = {n} | {' | '.join(cells)} |")


def most_frequent(classes, labels):
    counts = {}
    pairs, pixels = numpy.unique(labels.ravel() * 256 + classes.ravel().astype(int), return_counts=True)
    best = numpy.zeros(labels.max() + 1, int)
    for pair, n in zip(pairs, pixels):
        if n > counts.get(pair // 256, 0):
            counts[pair // 256], best[pair // 256] = n, pair % 256
    return best[labels]


def choose():
    source = crop(SCENES[1][1], (60, 60, 400, 400))
    bands, look = read(source), Look(source, SCENES[1][3])
    look.draw(bands, "choose_input")
    for name, options in CHOICES:
        labels = simplify(source, ["--distance", "linf", *options], "labels.tif")
        largest = labels == numpy.bincount(labels.ravel())[1:].argmax() + 1
        look.draw(means(bands, labels), f"choose_{name}", largest if name.startswith("alpha") else None)
        regions, _, error = facts(bands, labels, 1)
        print(f"| `{' '.join(options)}` | {regions:,} | {100 * largest.mean():.0f} % | {error:.3g} |")


def levels_of_gradient(source):
    """Levels of edges from the gradient of the first band, as docs/user/edges.md has them."""
    scene = gdal.Open(source)
    a = numpy.pad(scene.GetRasterBand(1).ReadAsArray().astype("float32"), 1, "edge")
    dx = a[:-2, 2:] - a[:-2, :-2] + 2 * (a[1:-1, 2:] - a[1:-1, :-2]) + a[2:, 2:] - a[2:, :-2]
    dy = a[2:, :-2] - a[:-2, :-2] + 2 * (a[2:, 1:-1] - a[:-2, 1:-1]) + a[2:, 2:] - a[:-2, 2:]
    g = numpy.hypot(dx, dy) / 8
    levels = numpy.full((2,) + g.shape, numpy.nan, "float32")
    levels[0, :, :-1] = numpy.maximum(g[:, :-1], g[:, 1:])
    levels[1, :-1, :] = numpy.maximum(g[:-1, :], g[1:, :])
    gdal_array.SaveArray(levels, "levels.tif", prototype=scene)


def gradient():
    """The hierarchy of a gradient: its saliency, light where a boundary lasts, and two cuts."""
    source = crop(SCENES[1][1], SCENES[1][2])
    levels_of_gradient(source)
    subprocess.run([QFZ, "saliency", "-q", "--edges", "levels.tif", "--min-area", "25", source, "hierarchy.tif"], check=True)
    saliency = numpy.nan_to_num(read("hierarchy.tif")).max(0)
    light = Look.__new__(Look)
    light.palette, light.shown, light.ends = None, [0], [(0, numpy.percentile(saliency[saliency > 0], 98))]
    light.draw(saliency[None], "gradient_saliency")
    bands, look = read(source), Look(source, SCENES[1][3]) # the scene itself is choose_input
    for alpha in ("4", "7"):
        subprocess.run([QFZ, "cut", "-q", "--overwrite", "--alpha", alpha, "hierarchy.tif", "basins.tif"], check=True)
        labels = gdal.Open("basins.tif").ReadAsArray()
        look.draw(means(bands, labels), f"gradient_{alpha}")
        print(f"gradient, alpha {alpha}: {labels.max():,} regions")


with tempfile.TemporaryDirectory(prefix="qfz_maps_") as folder:
    os.chdir(folder)
    print("| scene | regions | below N | error | with `--min-area`: regions | below N | error | sieved: regions | below N | error |")
    for scene in SCENES:
        compare(*scene)
    print("\n| options | regions | largest region | error |")
    choose()
    print()
    gradient()

# SPDX-License-Identifier: MIT
"""overviews.py QFZ: overviews of labels, saliency and means, by --overviews and in COG, against NumPy and against those that
GDAL makes of small values; for any tile size; and what is refused."""
import os
import sys
import tempfile

from rasters import gdal, numpy, qfz, save

rng = numpy.random.default_rng(3)


def same(what, found, expected):
    if not numpy.array_equal(found, expected):
        sys.exit(f"{what}: {found}, not {expected}")


def mode(labels, factor):
    """Of each square: the most frequent label other than 0, the least of several."""
    height, width = (-(-side // factor) for side in labels.shape)
    padded = numpy.zeros((height * factor, width * factor), "i8")
    padded[:labels.shape[0], :labels.shape[1]] = labels
    squares = padded.reshape(height, factor, width, factor).swapaxes(1, 2).reshape(height * width, -1)
    best = numpy.zeros((2, height * width), "i8")  # count, label
    for label in squares.T:
        counts = numpy.where(label > 0, (squares == label[:, None]).sum(1), 0)
        better = (counts > best[0]) | ((counts == best[0]) & (label < best[1]))
        best[:, better] = counts[better], label[better]
    return best[1].reshape(height, width)


def overviews(name, factors, by_mode=False):
    raster = gdal.Open(name)
    for number in range(1, raster.RasterCount + 1):
        band = raster.GetRasterBand(number)
        pixels = band.ReadAsArray()
        same(f"overviews of {name}", band.GetOverviewCount(), len(factors))
        for i, factor in enumerate(factors):
            wanted = mode(pixels, factor) if by_mode else pixels[::factor, ::factor]
            same(f"{name}, factor {factor}", band.GetOverview(i).ReadAsArray(), wanted)


def as_gdal(name):
    """GDAL's overviews by NEAREST are the same where sides are multiples of the factors, and values are small."""
    made = gdal.Open(name)
    found = [made.GetRasterBand(1).GetOverview(i).ReadAsArray() for i in (0, 1)]
    gdal.Translate("plain.tif", name, creationOptions=["TILED=YES"])
    raster = gdal.Open("plain.tif", gdal.GA_Update)
    raster.BuildOverviews("NEAREST", [2, 4])
    for i in (0, 1):
        same(f"GDAL's overviews of {name}", found[i], raster.GetRasterBand(1).GetOverview(i).ReadAsArray())


with tempfile.TemporaryDirectory(prefix="qfz_overviews_") as folder:
    os.chdir(folder)
    scene = rng.integers(0, 4, (2, 367, 402)).repeat(3, 1).repeat(3, 2)[:, :1100, :1204].astype("u1")
    scene[:, 300:500, 100:700] = 9
    save("scene.tif", scene, 9)
    for tile in ("300", "2048"):
        qfz("label", "--overviews", "nearest", "--tile", tile, "scene.tif", "l.tif")
        overviews("l.tif", [2, 4])
        as_gdal("l.tif")
        qfz("label", "--overviews", "mode", "--tile", tile, "scene.tif", "m.tif", "--regions", "m.csv", "--columns",
            "label,neighbours")
        overviews("m.tif", [2, 4], by_mode=True)
    qfz("label", "scene.tif", "plain.tif")
    overviews("plain.tif", [])
    qfz("label", "scene.tif", "--of", "COG", "c.tif")
    overviews("c.tif", [2, 4])
    qfz("saliency", "--overviews", "nearest", "scene.tif", "s.tif")
    overviews("s.tif", [2, 4])
    qfz("saliency", "--overviews", "nearest", "--layout", "pixel", "scene.tif", "p.tif")
    overviews("p.tif", [2, 4])
    qfz("cut", "--alpha", "1", "--overviews", "mode", "s.tif", "k.tif", "--work", "work")
    overviews("k.tif", [2, 4], by_mode=True)
    qfz("simplify", "--omega", "2", "--overviews", "nearest", "scene.tif", "d.tif", "--labels", "dl.tif")
    overviews("d.tif", [2, 4])
    overviews("dl.tif", [2, 4])
    qfz("label", "--overviews", "nearest", "scene.tif", "n.vrt", status=1, message="a VRT over parts gets no overviews")
    qfz("label", "--overviews", "nearest", "scene.tif", "n.img", status=1, message="for GTiff and COG, not for HFA")
    qfz("simplify", "--omega", "2", "--overviews", "mode", "scene.tif", "n.tif", status=1, message="use nearest")
    qfz("saliency", "--overviews", "mode", "scene.tif", "n.tif", status=1, message="use nearest")
    qfz("label", "--overviews", "cubic", "scene.tif", "n.tif", status=2, message="must be none, nearest or mode")
    same("files left", sorted(name for name in os.listdir() if name.startswith("n.") or ".qfz-" in name), [])

# SPDX-License-Identifier: MIT
"""quicklook.py QFZ: the pictures of regions in means and over their image, and the contours of saliency, against the same
pictures drawn pixel by pixel in NumPy, whatever the tiles; and what is refused."""
import math
import os
import pathlib
import shutil
import sys
import tempfile

from rasters import gdal, numpy, qfz, save

rng = numpy.random.default_rng(19)


def read(name):
    return gdal.Open(name).ReadAsArray()


def content(name):
    return numpy.array(read(name) if name.endswith((".tif", ".png")) else pathlib.Path(name).read_bytes())


def same(what, found, expected):
    if found.shape != expected.shape or not numpy.array_equal(found, expected):
        where = numpy.argwhere(found != expected)[:5].tolist() if found.shape == expected.shape else found.shape
        sys.exit(f"{what}: differs from {expected.shape} at {where}")


def grid(height, width):
    longest = max(height, width)
    return (longest - 1) // 2048 + 1, max(1, min(4, 2048 // longest))


def stretched(values):
    """Red, green and blue, from the 2 % to the 98 % quantile; NaN is white.  All samples, at most 65,536 of them."""
    valid = numpy.isfinite(values).all(0)
    shown = numpy.full((*valid.shape, 3), 255, "u1")
    every = (valid.size - 1) // 65536 + 1
    every = every | 1 if every > 1 else 1
    for c in range(3):
        flat = values[c].ravel()[::every]
        kept = numpy.sort(flat[valid.ravel()[::every]].astype("f4"))
        if not len(kept):
            continue
        low, high = kept[(len(kept) - 1) // 50], kept[len(kept) - 1 - (len(kept) - 1) // 50]
        if low == high:
            low, high = kept[0], kept[-1]
        gain = numpy.float32(255) / numpy.float32(high - low) if high > low else numpy.float32(0)
        shown[valid, c] = numpy.clip((values[c][valid].astype("f4") - low) * gain, 0, 255).astype("u1")
    return shown


def means_of(labels, values, shown):
    picture = numpy.full_like(shown, 255)
    valid = numpy.isfinite(values).all(0) & (labels > 0)
    n = numpy.bincount(labels[valid], minlength=labels.max() + 1).astype("i8")
    for c in range(3):
        total = numpy.bincount(labels[valid], shown[valid, c], minlength=len(n)).astype("i8")
        mean = numpy.where(n > 0, (total + n // 2) // numpy.maximum(n, 1), 255)
        picture[labels > 0, c] = mean[labels[labels > 0]]
    return picture


def expect(labels, values, style):
    step, zoom = grid(*labels.shape)
    labels, values = labels[::step, ::step], values[:, ::step, ::step]
    picture = stretched(values)
    if style == "means":
        picture = means_of(labels, values, picture)
    picture, labels = picture.repeat(zoom, 0).repeat(zoom, 1), labels.repeat(zoom, 0).repeat(zoom, 1)
    edge = numpy.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, 1:] != labels[:, :-1]
    edge[:-1] |= labels[1:] != labels[:-1]
    if 2 * edge.sum() <= edge.size:
        picture[edge] = (255, 225, 0) if style == "image" else picture[edge].astype("i8") * 2 // 5
    return picture.transpose(2, 0, 1)


def values_of(bands, order, nodata, of_stats=False):
    """As numbers, with NaN where the pixel is invalid: all bands are nodata, or any is, of statistics."""
    values, nothing = bands.astype("f8"), bands == nodata
    values[:, nothing.any(0) if of_stats else nothing.all(0)] = math.nan
    return values[order]


def smooth(n_bands, height, width, top):
    coarse = rng.integers(0, top, (n_bands, height // 6 + 1, width // 7 + 1))
    return coarse.repeat(6, 1).repeat(7, 2)[:, :height, :width]


def regions():
    red_last = [gdal.GCI_BlueBand, gdal.GCI_GreenBand, gdal.GCI_RedBand]
    scenes = [("u1", 3, [2, 1, 0], red_last, (60, 75)), ("u2", 5, [2, 1, 0], (), (80, 41)),
              ("i2", 2, [0, 0, 0], (), (33, 2100)), ("f4", 3, [0, 1, 2], (), (150, 500)), ("i4", 1, [0, 0, 0], (), (1, 1))]
    for kind, n_bands, order, colors, shape in scenes:
        bands = smooth(n_bands, *shape, 250).astype(kind)
        bands[:, rng.random(shape) < 0.02] = 7
        save("scene.tif", bands, 7, colors=colors)
        values = values_of(bands, order, 7)
        for style in ("means", "image"):
            for words in (["--tile", 1000], ["--tile", 37, "-j", 3]):
                qfz("label", "--distance", "linf", "--alpha", 20, "scene.tif", "l.tif", "--quicklook", "q.png",
                    "--quicklook-style", style, *words)
                same(f"label, {kind}, {style}", read("q.png"), expect(read("l.tif"), values, style))
            qfz("regions", "l.tif", "--stats", "scene.tif", "--quicklook", "q.png", "--quicklook-style", style,
                "--tile", 29, "--table", "t.csv", "--colors", "c.tif")
            same(f"regions, {kind}, {style}", read("q.png"),
                 expect(read("l.tif"), values_of(bands, order, 7, of_stats=True), style))
    save("other.tif", numpy.arange(1, 200001, dtype="i4").reshape(400, 500))
    bands = rng.integers(0, 1000, (1, 400, 500)).astype("i2")
    save("scene.tif", bands)
    qfz("regions", "other.tif", "--stats", "scene.tif", "--quicklook", "q.png", "--quicklook-style", "means")
    same("a region for each pixel", read("q.png"),
         expect(read("other.tif"), values_of(bands, [0, 0, 0], 5000), "means"))


def labels_are_hidden():
    """Without --labels, simplify writes the same other outputs, and nothing else."""
    outputs = ["q.png", "p.tif", "p.geojsonl", "n.csv", "c.tif", "t.csv"]
    words = ["--omega", 40, "scene.tif", "p.tif", "--quicklook", "q.png", "--polygons", "p.geojsonl", "--neighbours", "n.csv",
             "--colors", "c.tif", "--regions", "t.csv", "--columns", "label,pixels,perimeter,neighbours"]
    os.remove("l.tif")
    qfz("simplify", *words, "--labels", "l.tif")
    expected = {name: content(name) for name in outputs}
    os.remove("l.tif")
    before = sorted(os.listdir())
    for more in (["--tile", 9], ["--work", "hidden", "--tile", 16], ["--overviews", "nearest"]):
        qfz("simplify", *words, *more)
        for name in outputs:
            same(f"{name}, {more}", content(name), expected[name])
        shutil.rmtree("hidden", ignore_errors=True)
        if sorted(os.listdir()) != before:
            sys.exit(f"simplify, {more}, has left files: {sorted(set(os.listdir()) - set(before))}")
    qfz("simplify", *words, "--phase", "stitch", "--work", "phases", status=1, message="name one, --labels")


def regions_of_other_commands():
    bands = smooth(3, 50, 40, 90).astype("u1")
    save("scene.tif", bands)
    values = values_of(bands, [0, 1, 2], 255)
    qfz("simplify", "--omega", 40, "scene.tif", "p.tif", "--labels", "l.tif", "--quicklook", "q.png",
        "--quicklook-style", "means", "--work", "work", "--tile", 16)
    same("simplify", read("q.png"), expect(read("l.tif"), values, "means"))
    labels_are_hidden()
    qfz("saliency", "scene.tif", "s.tif")
    qfz("cut", "--alpha", 30, "s.tif", "l.tif", "--stats", "scene.tif", "--quicklook", "q.png", "--quicklook-style",
        "image")
    same("cut", read("q.png"), expect(read("l.tif"), values, "image"))
    qfz("tree", "scene.tif", "l.tif", "t.csv", "--quicklook", "q.png", "--quicklook-style", "means")
    same("tree", read("q.png"), expect(read("l.tif"), values, "means"))
    qfz("label", "--alpha", "5,30", "scene.tif", "l_{alpha}.tif", "--quicklook", "q_{alpha}.png", "--quicklook-style",
        "image")
    for alpha in (5, 30):
        same("of several alphas", read(f"q_{alpha}.png"), expect(read(f"l_{alpha}.tif"), values, "image"))


def contours_of(edges, height, width):
    """edges: {direction: levels, NaN for none} in the order right, below, below right, below left."""
    step, zoom = grid(height, width)
    n_y, n_x = (height - 1) // step + 1, (width - 1) // step + 1
    level = numpy.zeros((n_y * zoom, n_x * zoom), "f4")
    for direction, levels in enumerate(edges):
        for y, x in numpy.argwhere(levels > 0):
            top, left, end = y // step * zoom, x // step * zoom, zoom - 1
            area = [(slice(top, top + zoom), left + end), (top + end, slice(left, left + zoom)),
                    (top + end, left + end), (top + end, left - (zoom > 1))][direction]
            level[area] = numpy.maximum(level[area], numpy.float32(levels[y, x]))
    every = (level.size - 1) // 65536 + 1
    levels = numpy.sort(level.ravel()[::every | 1 if every > 1 else 1])
    n, first = len(levels), int((levels == 0).sum())
    gray = numpy.full(level.shape, 255, "u1")
    if first == n:
        return gray[None].repeat(3, 0)
    low = levels[max(first + (n - first) // 10, n - n // 3)]
    high = levels[n - 1 - (n - first) // 200]
    part = (level - low) * (numpy.float32(1) / (high - low)) if high > low else numpy.ones_like(level)
    ink = numpy.sqrt(numpy.where(level > 0, numpy.clip(part, 0, 1), 0).astype("f4"))
    shade = ((numpy.float32(1) - ink) * numpy.float32(255)).astype("u1")
    wide = numpy.where(ink > numpy.float32(0.9), 3, numpy.where(ink > numpy.float32(0.6), 2, 1))
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            least = {-1: 2, 0: 1, 1: 3}
            reaches = (ink > 0) & (wide >= max(least[dy], least[dx]))
            y, x = numpy.nonzero(reaches)
            inside = (y + dy >= 0) & (x + dx >= 0) & (y + dy < gray.shape[0]) & (x + dx < gray.shape[1])
            y, x = y[inside], x[inside]
            gray[y + dy, x + dx] = numpy.minimum(gray[y + dy, x + dx], shade[y, x])
    return gray[None].repeat(3, 0)


def levels_of(name):
    raster = gdal.Open(name)
    bands = [raster.GetRasterBand(i + 1) for i in range(raster.RasterCount)]
    out = []
    for band in bands:
        levels = band.ReadAsArray().astype("f8")
        levels[levels == band.GetNoDataValue()] = 0
        out.append(numpy.nan_to_num(levels))
    return out


def contours():
    kinds = [("u1", (31, 44), []), ("u2", (40, 37), ["--connectivity", 8]), ("f4", (20, 60), []), ("u1", (3, 2100), []),
             ("u1", (20, 20), ["--min-area", 30]), ("u1", (1, 1), []), ("u1", (20, 20), [])]
    for i, (kind, shape, words) in enumerate(kinds):
        bands = (smooth(2, *shape, 250) + rng.integers(0, 6, (2, *shape))).astype(kind)
        bands[:, rng.random(shape) < 0.05] = 7
        save("scene.tif", bands, 7)
        qfz("saliency", "--distance", "linf", *words, "scene.tif", "s.tif")
        expected = contours_of(levels_of("s.tif"), *shape)
        for more in (["--tile", 13], ["--layout", "khalimsky"], ["--work", f"work_{i}", "--tile", 100])[:3 if i < 2 else 1]:
            qfz("saliency", "--distance", "linf", *words, *more, "scene.tif", "o.tif", "--quicklook", "q.png")
            same(f"contours of {kind}, {more}", read("q.png"), expected)
    qfz("saliency", "--distance", "linf", *words, "scene.tif", "o.vrt", "--quicklook", "q.png")
    same("contours beside a VRT", read("q.png"), expected)
    for layout in ("edges", "khalimsky"):
        words = ["saliency", "--distance", "linf", "--layout", layout, "scene.tif", "p.vrt", "--quicklook", "p.png", "--work",
                 f"phases_{layout}", "--tile", 5, "--resume"]
        for phase in (["summarise", "--part", "1/2"], ["summarise", "--part", "2/2"], ["stitch"],
                      ["resolve", "--part", "1/2"], ["resolve", "--part", "2/2"]):
            qfz(*words, "--phase", *phase)
        same(f"contours of two parts, {layout}", read("p.png"), expected)
    save("flat.tif", numpy.full((9, 9), 3, "u1"))
    qfz("saliency", "flat.tif", "s.tif", "--quicklook", "q.png")
    same("contours of one region", read("q.png"), numpy.full((3, 36, 36), 255, "u1"))


def refused():
    save("ok.tif", numpy.arange(12, dtype="u1").reshape(3, 4))
    save("other.tif", numpy.arange(6, dtype="u1").reshape(3, 2))
    before = sorted(os.listdir())
    cases = [(["saliency", "ok.tif", "n.tif", "--quicklook", "n.jpg"], "use .png"),
             (["saliency", "ok.tif", "n.tif", "--quicklook", "none/n.png"], "none/n.png"),
             (["saliency", "ok.tif", "n.tif", "--layout", "pixel", "--quicklook", "none/n.png"], "none/n.png"),
             (["label", "ok.tif", "n.tif", "--quicklook-style", "means"], "no image is named"),
             (["regions", "ok.tif", "--quicklook", "n.png", "--quicklook-style", "means"], "--stats"),
             (["regions", "ok.tif", "--quicklook", "n.png", "--stats", "other.tif", "--quicklook-style", "image"],
              "2 x 3 pixels")]
    for words, message in cases:
        qfz(*words, status=1, message=message)
    qfz("label", "ok.tif", "n.tif", "--quicklook", "n.png", "--quicklook-style", "dots", status=2, message="colors")
    if sorted(os.listdir()) != before:
        sys.exit(f"refused jobs have left files: {sorted(set(os.listdir()) - set(before))}")
    pathlib.Path("there.png").write_text("mine", encoding="utf8")
    qfz("saliency", "ok.tif", "n.tif", "--quicklook", "there.png", status=1, message="already exists")
    if pathlib.Path("there.png").read_text(encoding="utf8") != "mine" or os.path.exists("n.tif"):
        sys.exit("a refused job has written an output")


with tempfile.TemporaryDirectory(prefix="qfz_quicklook_") as folder:
    os.chdir(folder)
    regions()
    regions_of_other_commands()
    contours()
    refused()

# SPDX-License-Identifier: MIT
"""regions.py QFZ: tables of qfz regions, and those that other commands make from their labels, against loops over all
pixels, with several tiles and threads; and what is refused."""
import csv
import fractions
import itertools
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from rasters import QFZ, gdal, numpy, qfz, same, save

rng = numpy.random.default_rng(5)


def rows_of(name):
    with open(name, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


def near(what, found, expected):
    if not math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12):
        sys.exit(f"{what}: {found}, not {expected}")


def level_of(values, p, q):
    """l1 of all bands, or None where a value is missing.  Levels of one band of singles are singles."""
    pairs = list(zip(values[(slice(None), *p)], values[(slice(None), *q)]))
    if any(v is None for pair in pairs for v in pair):
        return None
    if len(pairs) == 1:
        return fractions.Fraction(abs(numpy.float32(float(pairs[0][0])) - numpy.float32(float(pairs[0][1]))).item())
    return sum(abs(a - b) for a, b in pairs)


def find_pairs(labels, values):
    pairs = {}
    height, width = labels.shape
    for y, x in itertools.product(range(height), range(width)):
        for dy, dx in ((0, 1), (1, 0)):
            if y + dy == height or x + dx == width:
                continue
            a, b = sorted((int(labels[y, x]), int(labels[y + dy, x + dx])))
            if a in (0, b):
                continue
            pair = pairs.setdefault((a, b), [0, 0, []])
            pair[0] += 1
            pair[1] += 10 if dy else 20
            level = level_of(values, (y, x), (y + dy, x + dx)) if values is not None else None
            if level is not None:
                pair[2].append(level)
    return pairs


def check_pairs(name, labels, values):
    expected, rows = find_pairs(labels, values), rows_of(name)
    same(name, [(int(row["a"]), int(row["b"])) for row in rows], sorted(expected))
    for row in rows:
        edges, length, levels = expected[int(row["a"]), int(row["b"])]
        same("edges", int(row["edges"]), edges)
        same("length", float(row["length"]), length)
        if values is None:
            same("columns", list(row), ["a", "b", "edges", "length"])
        elif levels:
            near("mean level", float(row["mean_level"]), float(sum(levels)) / len(levels))
            same("least level", float(row["least_level"]), float(min(levels)))
        else:
            same("no level", (row["mean_level"], row["least_level"]), ("", ""))


def check_stats(row, pixels, values):
    inside = [[band[p] for band in values] for p in pixels if all(band[p] is not None for band in values)]
    same("pixels with values", int(row["stats_pixels"]), len(inside))
    for i in range(len(values)):
        numbers = [fractions.Fraction(value[i]) for value in inside]
        names = [f"stats_{what}_{i + 1}" for what in ("sum", "mean", "min", "max", "stddev")]
        if not numbers:
            same("no values", [row[name] for name in names], ["0", "", "", "", ""])
            continue
        mean = sum(numbers) / len(numbers)
        variance = sum((n - mean) ** 2 for n in numbers) / len(numbers)
        wanted = [float(sum(numbers)), float(mean), float(min(numbers)), float(max(numbers)), math.sqrt(variance)]
        for name, value in zip(names, wanted):
            near(name, float(row[name]), value)


def check_table(name, labels, values):
    pixels = {}
    for y, x in itertools.product(*map(range, labels.shape)):
        if labels[y, x]:
            pixels.setdefault(int(labels[y, x]), []).append((y, x))
    rows = rows_of(name)
    same(name, [int(row["label"]) for row in rows], sorted(pixels))
    for row in rows:
        own = pixels[int(row["label"])]
        ys, xs = [p[0] for p in own], [p[1] for p in own]
        same("pixels", int(row["pixels"]), len(own))
        same("area", float(row["area"]), 200.0 * len(own))
        same("box", [int(row[f"px_{side}"]) for side in ("x0", "y0", "x1", "y1")],
             [min(xs), min(ys), max(xs) + 1, max(ys) + 1])
        near("x", float(row["x"]), 500000 + 10 * (sum(xs) / len(own) + 0.5))
        near("y", float(row["y"]), 5000000 - 20 * (sum(ys) / len(own) + 0.5))
        if values is not None:
            check_stats(row, own, values)


def objects(bands, nodata):
    """Exact numbers, and None where a pixel of any band has no value."""
    out = numpy.full(bands.shape, None, object)
    for y, x in itertools.product(*map(range, bands.shape[1:])):
        if not any(math.isnan(v) or v == nodata for v in bands[:, y, x]):
            out[:, y, x] = [fractions.Fraction(v.item()) for v in bands[:, y, x]]
    return out


def blobs(height, width, ids):
    """A label for each 3 x 2 block, so that regions have pieces everywhere, and single pixels."""
    few = rng.choice(ids, (height // 3 + 1, width // 2 + 1))
    labels = few.repeat(3, 0).repeat(2, 1)[:height, :width].copy()
    noise = rng.random((height, width)) < 0.1
    labels[noise] = rng.choice(ids, noise.sum())
    return labels


def greedy(labels):
    """In ascending order of labels: the least colour that no neighbour of a lower label has."""
    touch = {int(label): set() for label in numpy.unique(labels) if label}
    height, width = labels.shape
    for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
        left = slice(max(0, -dx), width - max(0, dx)), slice(max(0, dx), width + min(0, dx))
        for a, b in zip(labels[:height - dy, left[0]].flat, labels[dy:, left[1]].flat):
            if a and b and a != b:
                touch[int(a)].add(int(b))
                touch[int(b)].add(int(a))
    colors = {}
    for label in sorted(touch):
        taken = {colors[other] for other in touch[label] if other < label}
        colors[label] = next(color for color in itertools.count(1) if color not in taken)
    return numpy.array([[colors[int(label)] if label else 0 for label in row] for row in labels])


def check_colors(raster, image, labels):
    expected, found = greedy(labels), gdal.Open(raster)
    band = found.GetRasterBand(1)
    same(raster, band.ReadAsArray().tolist(), expected.tolist())
    same("nodata", (band.GetNoDataValue(), gdal.GetDataTypeName(band.DataType)), (0.0, "Byte"))
    same("georeference", found.GetGeoTransform(), (500000, 10, 0, 5000000, 0, -20))
    longest = max(labels.shape)
    step, zoom = (longest - 1) // 2048 + 1, max(1, min(4, 2048 // longest))
    labels, expected = (image[::step, ::step].repeat(zoom, 0).repeat(zoom, 1) for image in (labels, expected))
    edge = numpy.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, 1:] != labels[:, :-1]
    edge[:-1] |= labels[1:] != labels[:-1]
    palette = numpy.array([band.GetColorTable().GetColorEntry(i)[:3] for i in range(256)])
    picture = palette[expected]
    picture[expected == 0] = 255
    if 2 * edge.sum() <= edge.size:
        picture[edge] = picture[edge] * 2 // 5
    same(image, gdal.Open(image).ReadAsArray().transpose(1, 2, 0).tolist(), picture.tolist())


def colors():
    wide = rng.integers(1, 4, (2, 4100)).astype("u1")
    far = blobs(20, 30, numpy.array([0, 5, 2**63 - 1, 2**62, 77, 2**50, 12, 13], "u8"))
    for labels in (blobs(20, 30, numpy.arange(40, dtype="i4")), wide, far, numpy.zeros((3, 3), "u1")):
        save("labels.tif", labels)
        for tile in (1000, 6) if labels is not wide else (700,):
            qfz("regions", "labels.tif", "--colors", "c.tif", "--quicklook", "q.png", "--tile", str(tile), "-j", "2")
            check_colors("c.tif", "q.png", labels)
    scene = rng.integers(0, 4, (30, 30)).astype("u1")
    save("scene.tif", scene)
    qfz("label", "scene.tif", "l.tif", "--colors", "c.tif", "--quicklook", "q.png", "--tile", "7")
    check_colors("c.tif", "q.png", gdal.Open("l.tif").ReadAsArray())
    qfz("simplify", "--alpha", "1", "scene.tif", "p.tif", "--labels", "l.tif", "--colors", "c.tif", "--quicklook", "q.png")
    check_colors("c.tif", "q.png", gdal.Open("l.tif").ReadAsArray())
    everyone = numpy.zeros((2 * 258, 3 * 127), "u2")
    for i, (a, b) in enumerate(itertools.combinations(range(1, 257), 2)):
        everyone[2 * (i // 127), 3 * (i % 127):3 * (i % 127) + 2] = a, b
    save("clique.tif", everyone)
    qfz("regions", "clique.tif", "--colors", "none.tif", status=1, message="region 256 touches regions of all 255")
    everyone[everyone == 256] = 0
    save("clique.tif", everyone)
    qfz("regions", "clique.tif", "--colors", "c.tif")
    same("colours of 255 regions that all touch", int(gdal.Open("c.tif").ReadAsArray().max()), 255)


def labels_of_any_origin():
    cases = [("u1", [0, 1, 2, 3, 250], None, None), ("i4", [0, 7, 100000, 2**31 - 1, -9999], -9999, -9999),
             ("u8", [0, 1, 2**63 - 1, 2**62, 2**62 + 1, 2**53 + 1], None, None), ("i2", [0, 5, 6, 32767], 6, 6),
             ("i8", [0, 2**63 - 1, 2**63 - 2, 2**40, 9], 9, 9)]
    for (kind, ids, nodata, none), (height, width) in zip(cases, [(14, 17), (1, 30), (21, 12), (30, 1), (12, 12)]):
        labels = blobs(height, width, numpy.array(ids, kind))
        save("labels.tif", labels, nodata)
        scene = rng.integers(-300, 300, (2, height, width)).astype("i2")
        real = rng.normal(0, 1e3, (1, height, width)).astype("f4")
        real[0][rng.random((height, width)) < 0.2] = math.nan
        scene[0][rng.random((height, width)) < 0.2] = -1
        save("scene.tif", scene, -1)
        save("real.tif", real)
        clean = numpy.where(labels == none, 0, labels) if none is not None else labels
        for stats, values, tile, threads in (("scene.tif", objects(scene, -1), 3, 3), (None, None, 64, 1),
                                             ("real.tif,1", objects(real, math.nan), 7, 2), (None, None, 1, 2)):
            words = ["regions", "labels.tif", "--table", "t.csv", "--neighbours", "n.csv", "--tile", str(tile), "-j",
                     str(threads), *(["--stats", stats] if stats else [])]
            qfz(*words)
            check_table("t.csv", clean, values)
            check_pairs("n.csv", clean, values)
        qfz("regions", "labels.tif", "--table", "alone.csv", "--tile", "5")
        qfz("regions", "labels.tif", "--neighbours", "alone_n.csv", "--tile", "5")
        same("a table alone", rows_of("alone.csv"), rows_of("t.csv"))
        same("pairs alone", rows_of("alone_n.csv"), rows_of("n.csv"))


def labels_of_a_job():
    scene = rng.integers(0, 4, (2, 20, 27)).astype("u1")
    scene[:, 4:9, 3:20] = 255
    save("scene.tif", scene, 255)
    save("other.tif", rng.integers(0, 1000, (20, 27)).astype("u2"), 7)
    other = objects(gdal.Open("other.tif").ReadAsArray()[None].astype("u2"), 7)
    values = objects(scene, 255)
    for tile, more in ((5, ["-j", "3"]), (64, []), (64, ["--work", "work"])):
        qfz("label", "--alpha", "1", "scene.tif", "l.tif", "--neighbours", "n.csv", "--regions", "t.csv", "--stats",
            "other.tif", "--tile", str(tile), *more)
        labels = gdal.Open("l.tif").ReadAsArray()
        check_pairs("n.csv", labels, values)
        check_table("t.csv", labels, other)
    qfz("label", "--alpha", "1", "scene.tif", "l.vrt", "--neighbours", "vrt.csv", "--tile", "9")
    same("labels in a VRT", rows_of("vrt.csv"), rows_of("n.csv"))
    qfz("saliency", "scene.tif", "s.tif")
    qfz("cut", "--alpha", "1", "s.tif", "c.tif", "--neighbours", "cn.csv", "--regions", "ct.csv", "--stats", "other.tif")
    check_pairs("cn.csv", labels, other)
    check_table("ct.csv", labels, other)
    qfz("simplify", "--omega", "2", "scene.tif", "p.tif", "--labels", "pl.tif", "--neighbours", "pn.csv", "--tile", "8")
    check_pairs("pn.csv", gdal.Open("pl.tif").ReadAsArray(), values)


def meridian(lo, hi, steps=2000):
    """Length along a meridian of WGS 84, by Simpson's rule."""
    a, e2 = 6378137.0, 0.0066943799901413165
    radius = [a * (1 - e2) / (1 - e2 * math.sin(lo + (hi - lo) * i / steps) ** 2) ** 1.5 for i in range(steps + 1)]
    weights = [1] + [4, 2] * (steps // 2 - 1) + [4, 1]
    return sum(w * r for w, r in zip(weights, radius)) * (hi - lo) / steps / 3


def lengths_on_the_ellipsoid():
    labels = numpy.array([[1, 2], [1, 2], [3, 3]], "u1").repeat(100, 0).repeat(50, 1)
    save("degrees.tif", labels, epsg=4326, transform=(10, 0.01, 0, 51, 0, -0.01))
    qfz("regions", "degrees.tif", "--neighbours", "n.csv", "--tile", "33")
    rows = {(row["a"], row["b"]): float(row["length"]) for row in rows_of("n.csv")}
    south = math.radians(49)
    parallel = 6378137 * math.cos(south) / math.sqrt(1 - 0.0066943799901413165 * math.sin(south) ** 2)
    for pair, length in ((("1", "2"), meridian(south, math.radians(51))), (("1", "3"), parallel * math.radians(0.5))):
        if abs(rows[pair] / length - 1) > 1e-9:
            sys.exit(f"length of {pair}: {rows[pair]}, not {length}")


def killed_and_resumed():
    save("kill.tif", rng.integers(0, 3, (90, 90)).astype("u1"))
    outputs = ["--regions", "k.csv", "--stats", "kill.tif", "--neighbours", "kn.csv", "--colors", "kc.tif", "--quicklook",
               "k.png"]
    words = ["label", "kill.tif", "kl.tif", *outputs, "--tile", "8", "-j", "1"]
    names = ["k.csv", "kn.csv", "k.png"]
    qfz(*words)
    whole = [pathlib.Path(name).read_bytes() for name in names]
    for name in [*names, "kl.tif", "kc.tif"]:
        os.remove(name)
    for moment in (0.02, 0.05, 0.1, 0.2):
        job = subprocess.Popen([QFZ, *words, "-q", "--work", "killed", "--resume"])
        try:
            job.wait(moment)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
    done = subprocess.run([QFZ, *words, "-q", "--work", "killed", "--resume"], capture_output=True, check=False)
    same("status of a resumed job", (done.returncode, done.stderr), (0, b""))
    same("bytes of a resumed job", [pathlib.Path(name).read_bytes() for name in names], whole)
    same("colours of a resumed job", gdal.Open("kc.tif").ReadAsArray().tolist(),
         greedy(gdal.Open("kl.tif").ReadAsArray()).tolist())
    same("temporary files", [name for name in os.listdir() if ".qfz-" in name], [])


def refused():
    save("float.tif", numpy.ones((4, 4), "f4"))
    save("complex.tif", numpy.ones((4, 4), "c8"))
    save("two.tif", numpy.ones((2, 4, 4), "u1"))
    save("small.tif", numpy.ones((3, 4), "u1"))
    save("negative.tif", numpy.full((4, 4), -3, "i2"))
    save("wide.tif", numpy.full((4, 4), 2**63, "u8"))
    save("ok.tif", numpy.ones((4, 4), "u1"))
    table = ["--table", "none.csv"]
    cases = [(["float.tif", *table], "labels are integers"), (["complex.tif", *table], "labels are integers"),
             (["two.tif", *table], "-b 1"), (["negative.tif", *table], "column 0, row 0 is -3"),
             (["wide.tif", *table], "2^63 - 1"), (["ok.tif", *table, "--stats", "small.tif"], "4 x 3 pixels"),
             (["ok.tif", *table, "--stats", "ok.tif,2"], "no band 2"), (["missing.tif", *table], "missing.tif"),
             (["ok.tif", "--table", "ok.tif"], "ok.tif"), (["ok.tif", *table, "--neighbours", "none.csv"], "none.csv"),
             (["ok.tif", *table, "--stats", "ok.tif", "--neighbours", "n.none"], "n.none")]
    for words, message in cases:
        qfz("regions", *words, status=1, message=message)
    qfz("regions", "ok.tif", status=2, message="no output is named")
    qfz("regions", "ok.tif", *table, "--stats", "ok.tif,0", status=2, message="counted from 1")
    qfz("simplify", "--omega", "2", "ok.tif", "q.tif", "--neighbours", "none.csv", "--phase", "stitch", "--work", "none",
        status=1, message="--labels")
    qfz("label", "ok.tif", "q.tif", "--stats", "ok.tif", status=1, message="--regions")
    qfz("regions", "ok.tif", "--quicklook", "none.jpg", status=1, message="use .png")
    qfz("regions", "ok.tif", "--colors", "none.vrt", status=1, message="one file")
    qfz("regions", "ok.tif", "--colors", "none.tif", "--quicklook", "none/q.png", status=1, message="none/q.png")
    qfz("regions", "two.tif", "-b", "2", "--table", "two.csv")
    same("files left", sorted(p for p in os.listdir() if p.startswith(("none", "q.tif", "n.none"))), [])


with tempfile.TemporaryDirectory(prefix="qfz_regions_") as folder:
    os.chdir(folder)
    labels_of_any_origin()
    labels_of_a_job()
    colors()
    lengths_on_the_ellipsoid()
    killed_and_resumed()
    refused()

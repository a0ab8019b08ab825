# SPDX-License-Identifier: MIT
"""columns.py QFZ: columns of tables of regions that are chosen by name (first pixel, perimeter, compactness, neighbours,
majority and minority) against NumPy, for label, simplify, cut and regions, with several tiles and threads; and what is
refused."""
import csv
import math
import os
import sys
import tempfile

from rasters import gdal, numpy, qfz, same, save

rng = numpy.random.default_rng(11)
WIDTH, HEIGHT = 10, 20  # of a pixel, in metres
SHAPE = "px_first_x,px_first_y,perimeter_edges,perimeter,compactness,neighbours"


def rows_of(name):
    with open(name, newline="", encoding="utf8") as file:
        return {int(row["label"]): row for row in csv.DictReader(file)}


def near(what, found, expected):
    if not math.isclose(float(found), expected, rel_tol=1e-12):
        sys.exit(f"{what}: {found}, not {expected}")


def check_shapes(rows, labels):
    """Each side of a pixel of the region is looked at from the region."""
    ring = numpy.pad(labels.astype("int64"), 1)
    beside = {(dy, dx): ring[1 + dy:ring.shape[0] - 1 + dy, 1 + dx:ring.shape[1] - 1 + dx]
              for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    same("labels", sorted(rows), sorted(set(labels[labels > 0].tolist())))
    for label, row in rows.items():
        own = labels == label
        ys, xs = numpy.nonzero(own)
        same("first pixel", (int(row["px_first_x"]), int(row["px_first_y"])), (xs[0], ys[0]))
        sides = {where: int((own & (other != label)).sum()) for where, other in beside.items()}
        length = sum(n * (WIDTH if where[0] else HEIGHT) for where, n in sides.items())
        same(f"edges of {label}", int(row["perimeter_edges"]), sum(sides.values()))
        near(f"perimeter of {label}", row["perimeter"], length)
        near("compactness", row["compactness"], 4 * math.pi * len(xs) * WIDTH * HEIGHT / length ** 2)
        others = set(numpy.concatenate([other[own] for other in beside.values()]).tolist()) - {label, 0}
        same(f"neighbours of {label}", int(row["neighbours"]), len(others))


def check_modes(rows, labels, band, valid, number, prefix=""):
    for label, row in rows.items():
        values, counts = numpy.unique(band[(labels == label) & valid], return_counts=True)
        found = [row[f"{prefix}{name}_{number}"] for name in ("majority", "majority_share", "minority",
                                                             "minority_share")]
        if not counts.size:
            same("no value", found, [""] * 4)
            continue
        wanted = [f(counts) for f in (numpy.argmax, numpy.argmin)]  # the first one, of the least value
        same("majority and minority", [int(found[0]), int(found[2])], [int(values[i]) for i in wanted])
        near("share", found[1], counts[wanted[0]] / counts.sum())
        near("share", found[3], counts[wanted[1]] / counts.sum())


def tables_of_jobs():
    scene = rng.integers(0, 4, (2, 31, 37)).astype("i2") * 3 - 5
    scene[:, 6:11, 4:25] = 255
    save("scene.tif", scene, 255)
    save("other.tif", rng.integers(-9, 9, (31, 37)).astype("i4"), 3)
    other = gdal.Open("other.tif").ReadAsArray()
    valid, names = scene[0] != 255, f"label,{SHAPE},majority,majority_share,minority,minority_share"
    modes = ",".join(f"stats_{name}" for name in ("majority", "majority_share", "minority", "minority_share"))
    for tile, connectivity, more in (("5", "4", ["-j", "3"]), ("64", "8", []), ("9", "8", ["--work", "work"])):
        words = ["--alpha", "3", "--connectivity", connectivity, "--tile", tile, "--regions", "t.csv"]
        qfz("label", *words, "--columns", f"{names},{modes}", "--stats", "other.tif", "scene.tif", "l.tif", *more)
        labels, rows = gdal.Open("l.tif").ReadAsArray(), rows_of("t.csv")
        check_shapes(rows, labels)
        for band in (0, 1):
            check_modes(rows, labels, scene[band], valid, band + 1)
        check_modes(rows, labels, other, other != 3, 1, "stats_")
    qfz("simplify", "--omega", "6", *words, "--columns", names, "--labels", "l.tif", "scene.tif", "p.tif")
    labels, rows = gdal.Open("l.tif").ReadAsArray(), rows_of("t.csv")
    check_shapes(rows, labels)
    check_modes(rows, labels, scene[1], valid, 2)
    qfz("saliency", "scene.tif", "s.tif")
    qfz("cut", "--alpha", "3", "--columns", f"label,{SHAPE}", "--regions", "t.csv", "s.tif", "l.tif", "--tile", "7")
    check_shapes(rows_of("t.csv"), gdal.Open("l.tif").ReadAsArray())


def tables_of_labels():
    labels = rng.choice([3, 8, 10 ** 12, 77], (40, 30)).astype("i8")
    labels[rng.random((40, 30)) < 0.2] = 0
    save("labels.tif", labels)
    kinds = {"u1": (0, 5), "u2": (65530, 65536), "i2": (-2, 2), "i4": (-2 ** 31, -2 ** 31 + 3), "u4": (2 ** 32 - 4, 2 ** 32)}
    for kind, (low, high) in kinds.items():
        save("values.tif", rng.integers(low, high, (40, 30)).astype(kind))
        values = gdal.Open("values.tif").ReadAsArray()
        for tile in ("7", "64"):
            qfz("regions", "labels.tif", "--stats", "values.tif", "--table", "t.csv", "--tile", tile, "-j", "2",
                "--columns", f"label,stats_majority,stats_majority_share,stats_minority,stats_minority_share,{SHAPE}")
            check_modes(rows_of("t.csv"), labels, values, labels > 0, 1, "stats_")
            check_shapes(rows_of("t.csv"), labels)


def defaults():
    qfz("regions", "labels.tif", "--table", "all.csv")
    qfz("regions", "labels.tif", "--table", "named.csv", "--columns", "default,neighbours")
    plain, more = rows_of("all.csv"), rows_of("named.csv")
    same("columns", [*plain[3], "neighbours"], list(more[3]))
    same("values", [plain[3][name] for name in plain[3]], [more[3][name] for name in plain[3]])
    qfz("regions", "labels.tif", "--table", "place.csv", "--columns", "lat,label")
    same("latitude", rows_of("place.csv")[8]["lat"], plain[8]["lat"])


def meridian(lo, hi, steps=2000):
    total = 0
    for i in range(steps):
        s = math.sin(lo + (hi - lo) * (i + 0.5) / steps)
        total += 6378137 * (1 - 0.0066943799901413165) / (1 - 0.0066943799901413165 * s * s) ** 1.5
    return total * (hi - lo) / steps


def parallel(latitude, angle):
    return 6378137 * math.cos(latitude) / math.sqrt(1 - 0.0066943799901413165 * math.sin(latitude) ** 2) * angle


def perimeter_on_the_ellipsoid():
    save("degrees.tif", numpy.ones((200, 100), "u1"), epsg=4326, transform=(10, 0.01, 0, 51, 0, -0.01))
    qfz("regions", "degrees.tif", "--table", "t.csv", "--columns", "label,perimeter", "--tile", "33")
    north, south, angle = math.radians(51), math.radians(49), math.radians(1)
    wanted = parallel(north, angle) + parallel(south, angle) + 2 * meridian(south, north)
    found = float(rows_of("t.csv")[1]["perimeter"])
    if abs(found / wanted - 1) > 1e-9:
        sys.exit(f"perimeter {found}, not {wanted}")


def refused():
    save("float.tif", rng.random((31, 37)).astype("f4"))
    table = ["--regions", "none.csv", "--columns"]
    cases = [(["label", "float.tif", "q.tif", *table, "majority"], "no column 'majority'"),
             (["cut", "s.tif", "q.tif", "--alpha", "3", *table, "majority"], "no column 'majority'"),
             (["label", "scene.tif", "q.tif", *table, "neighbours,neighbours"], "chosen twice"),
             (["label", "scene.tif", "q.tif", *table, "default,area"], "'area' is chosen twice"),
             (["label", "scene.tif", "q.tif", *table, "perimeter_1"], "no column 'perimeter_1'"),
             (["label", "scene.tif", "q.tif", *table, "stats_majority"], "no column 'stats_majority'"),
             (["label", "scene.tif", "q.tif", "--stats", "float.tif", *table, "stats_majority"], "no column"),
             (["label", "scene.tif", "q.tif", "--stats", "other.tif", *table, "stats_min_2"], "'stats_min_2'"),
             (["simplify", "--omega", "6", "scene.tif", "q.tif", "--phase", "stitch", "--work", "none", *table, "compactness"], "--labels"),
             (["regions", "labels.tif", *table, "majority"], "no column 'majority'")]
    for words, message in cases:
        qfz(*words, status=1, message=message)
    same("files left", sorted(p for p in os.listdir() if p.startswith(("none", "q.tif"))), [])


with tempfile.TemporaryDirectory(prefix="qfz_columns_") as folder:
    os.chdir(folder)
    tables_of_jobs()
    tables_of_labels()
    defaults()
    perimeter_on_the_ellipsoid()
    refused()

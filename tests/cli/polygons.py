# SPDX-License-Identifier: MIT
"""polygons.py QFZ [DATA]: the tables of --polygons: each label has one feature, valid by GEOS; all features are a valid
coverage, where Shapely has GEOS 3.12; rasterised back by GDAL they are the labels; areas are exact; files are the same with
any tiles, threads and memory; simplified polygons have the same total area and overlap nowhere.  With DATA, a folder of
real rasters, these in place of random ones."""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from rasters import PLACE, QFZ, SKIPPED, gdal, numpy, qfz, same, save
from osgeo import ogr

ogr.UseExceptions()
rng = numpy.random.default_rng(7)
HAS_GEOS = ogr.CreateGeometryFromWkt("POINT (0 0)").Buffer(1) is not None
try:
    import shapely
    HAS_COVERAGES = hasattr(shapely, "coverage_is_valid") and shapely.geos_version >= (3, 12, 0)
except ImportError:
    HAS_COVERAGES = False


def read(name):
    return gdal.Open(name).ReadAsArray()


def features_of(table):
    data = ogr.Open(table)
    layer = data.GetLayer()
    return [(f["label"], f["pixels"], f["area"], f.GetGeometryRef().Clone()) for f in layer]


def check(table, name, tolerance=0):
    """All features of a table against the raster of labels."""
    labels, raster = read(name), gdal.Open(name)
    wanted, counts = numpy.unique(labels[labels != 0], return_counts=True)
    rows = features_of(table)
    same(f"{table}: labels", sorted(row[0] for row in rows), wanted.tolist())
    pixels = {row[0]: row[1] for row in rows}
    same(f"{table}: pixels", [pixels[label] for label in wanted.tolist()], counts.tolist())
    t = raster.GetGeoTransform()
    px = abs(t[1] * t[5] - t[2] * t[4])
    for label, n, _, geometry in rows:
        if geometry.GetGeometryType() != ogr.wkbMultiPolygon or (HAS_GEOS and not geometry.IsValid()):
            sys.exit(f"{table}: the polygon of {label} is not valid")
        if tolerance == 0 and not math.isclose(geometry.GetArea(), n * px, rel_tol=1e-9):
            sys.exit(f"{table}: the polygon of {label} has {geometry.GetArea()}, not {n} pixels")
    total = sum(row[3].GetArea() for row in rows)
    if (labels != 0).all() and not math.isclose(total, labels.size * px, rel_tol=1e-9):
        sys.exit(f"{table}: {total} in all, not {labels.size * px}")
    if HAS_COVERAGES and not shapely.coverage_is_valid(shapely.from_wkb([bytes(row[3].ExportToWkb()) for row in rows])):
        sys.exit(f"{table}: it is no valid coverage")
    if tolerance == 0:
        same(f"{table}: rasterised back", rasterised(rows, wanted, raster, labels.shape), 0)
    return rows


def rasterised(rows, wanted, raster, shape):
    """The number of pixels that differ from the labels, these as numbers that rasterising keeps exact."""
    number = {label: i + 1 for i, label in enumerate(wanted.tolist())}
    memory = ogr.GetDriverByName("Memory").CreateDataSource("")
    layer = memory.CreateLayer("", raster.GetSpatialRef())
    layer.CreateField(ogr.FieldDefn("n", ogr.OFTInteger))
    for label, _, _, geometry in rows:
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["n"] = number[label]
        feature.SetGeometry(geometry)
        layer.CreateFeature(feature)
    back = gdal.GetDriverByName("MEM").Create("", shape[1], shape[0], 1, gdal.GDT_Int32)
    back.SetGeoTransform(raster.GetGeoTransform())
    back.SetProjection(raster.GetProjection())
    gdal.RasterizeLayer(back, [1], layer, options=["ATTRIBUTE=n"])
    labels = raster.ReadAsArray()
    numbers = numpy.where(labels == 0, 0, numpy.searchsorted(wanted, labels) + 1)
    return int((back.ReadAsArray() != numbers).sum())


def overlaps_nowhere(table):
    """By GEOS: the area of the union of all polygons is the sum of their areas."""
    rows = features_of(table)
    if not HAS_GEOS:
        return
    every = ogr.Geometry(ogr.wkbMultiPolygon)
    for row in rows:
        for i in range(row[3].GetGeometryCount()):
            every.AddGeometry(row[3].GetGeometryRef(i))
    total = sum(row[3].GetArea() for row in rows)
    union = every.UnionCascaded().GetArea()
    if not math.isclose(union, total, rel_tol=1e-9):
        sys.exit(f"{table}: the union has {union}, the sum is {total}")


def borders_are_shared(table, name):
    """No line of a polygon belongs to more than one other polygon, which has it in the other direction.  Where every
    pixel has a label, the lines of one polygon alone are the outline of the raster: there is no gap."""
    lines = {}
    for label, _, _, geometry in features_of(table):
        for part in geometry:
            for ring in part:
                points = ring.GetPoints()
                for a, b in zip(points, points[1:]):
                    lines.setdefault((min(a, b), max(a, b)), []).append((a < b, label))
    for (a, b), users in lines.items():
        if len(users) > 1 and (len(users) > 2 or users[0][0] == users[1][0] or users[0][1] == users[1][1]):
            sys.exit(f"{table}: the line from {a} to {b} is that of {users}")
    raster = gdal.Open(name)
    if (raster.ReadAsArray() == 0).any():
        return
    t = raster.GetGeoTransform()
    outline = 2 * (raster.RasterXSize * abs(t[1]) + raster.RasterYSize * abs(t[5]))
    alone = sum(math.dist(*line) for line, users in lines.items() if len(users) == 1)
    if not math.isclose(alone, outline, rel_tol=1e-9):
        sys.exit(f"{table}: lines of one polygon alone have the length {alone}, not {outline}")


def same_in_any_tiles(name, *options):
    qfz("regions", name, "--polygons", "a.geojsonl", *options)
    ways = (["--tile", "1"], ["--tile", "7", "-j", "3"], ["--tile", "32", "--memory", "130MB"])
    for way in ways if read(name).size < 10000 else ways[2:]:
        qfz("regions", name, "--polygons", "b.geojsonl", *options, *way)
        same(f"{name} {options} {way}", pathlib.Path("b.geojsonl").read_bytes(),
             pathlib.Path("a.geojsonl").read_bytes())


def blobs(h, w, names, smooth):
    band = rng.choice(names, (h, w))
    for _ in range(smooth):
        take = rng.random((h, w)) < 0.5
        band = numpy.where(take, numpy.roll(band, 1, 0), numpy.roll(band, 1, 1))
    return band


def random_labels():
    names = numpy.array([0, 3, 5, 2**40, 2**63 - 1, 17], "u8")
    for case, place in enumerate((PLACE, (0, 1, 0, 0, 0, 1), (100, 3, 4, 900, 4, -3), (10, -2, 0, 0, 0, 2))):
        save("l.tif", blobs(40, 57, names[case % 2:], case), transform=place)
        for table in ("p.fgb", "p.gpkg"):
            qfz("regions", "l.tif", "--polygons", table)
            check(table, "l.tif")
        for tolerance in ("0.75", "2"):
            qfz("regions", "l.tif", "--polygons", "s.gpkg", "--simplify-tolerance", tolerance)
            check("s.gpkg", "l.tif", tolerance=1)
            overlaps_nowhere("s.gpkg")
        if case < 2:
            same_in_any_tiles("l.tif")
            same_in_any_tiles("l.tif", "--simplify-tolerance", "1.5")


def rows_of_blocks():
    """A raster of several rows of blocks, which are several cells wide, and end with one row and one column of pixels:
    threads begin at any row of blocks.  Long borders of few labels, and short ones of many."""
    options = ["TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256"]
    scene = blobs(129, 257, numpy.arange(3, dtype="u1"), 3).repeat(8, 0).repeat(8, 1)[:1025, :2049]
    save("few.tif", scene.astype("u8") * 2**33, options=options)
    save("scene.tif", scene, options=options)
    qfz("label", "scene.tif", "many.tif")
    for name in "few.tif", "many.tif":
        qfz("regions", name, "--polygons", "p.fgb", "-j", "3")
        check("p.fgb", name)
        qfz("regions", name, "--polygons", "a.geojsonl", "--tile", "700", "-j", "1")
        for way in ["-j", "1"], ["-j", "2"], ["-j", "7"], ["-j", "3", "--memory", "300MB"]:
            qfz("regions", name, "--polygons", "b.geojsonl", *way)
            same(f"{name} {way}: the same bytes",
                 pathlib.Path("a.geojsonl").read_bytes() == pathlib.Path("b.geojsonl").read_bytes(), True)


def areas_on_the_ellipsoid():
    save("d.tif", numpy.array([[1, 2], [1, 3]], "u1").repeat(90, 0).repeat(90, 1), epsg=4326,
         transform=(10, 0.01, 0, 51, 0, -0.01))
    qfz("regions", "d.tif", "--polygons", "d.gpkg", "--table", "d.csv")
    table = [line.split(",") for line in pathlib.Path("d.csv").read_text(encoding="utf8").splitlines()]
    column = table[0].index("area")
    same("areas", [row[2] for row in features_of("d.gpkg")], [float(row[column]) for row in table[1:]])


def labels_of_a_job():
    values = blobs(50, 61, numpy.arange(6, dtype="u1"), 4)
    save("scene.tif", values)
    for connectivity in "4", "8":
        qfz("label", "--connectivity", connectivity, "--background", "0", "scene.tif", "l.tif", "--polygons", "p.gpkg",
            "--regions", "t.csv")
        check("p.gpkg", "l.tif")
        qfz("check", "l.tif", "scene.tif", "--background", "0", "--polygons", "p.gpkg", "--table", "t.csv")
        for background in [], ["--background", "0"]:
            qfz("label", "--connectivity", connectivity, *background, "scene.tif", "l.tif", "--polygons", "p.gpkg",
                "--simplify-tolerance", "1.5")
            check("p.gpkg", "l.tif", tolerance=1)
            overlaps_nowhere("p.gpkg")
            borders_are_shared("p.gpkg", "l.tif")
    qfz("label", "scene.tif", "l.tif", "--polygons", "p.fgb", "--work", "w", "--tile", "16")
    check("p.fgb", "l.tif")
    qfz("label", "scene.tif", "l.vrt", "--polygons", "p.gpkg", "--neighbours", "n.csv")
    check("p.gpkg", "l.vrt")
    qfz("simplify", "--omega", "2", "scene.tif", "s.tif", "--labels", "sl.tif", "--polygons", "p.gpkg")
    check("p.gpkg", "sl.tif")
    qfz("saliency", "scene.tif", "h.tif")
    qfz("cut", "--alpha", "1", "h.tif", "c.tif", "--polygons", "p.gpkg", "--simplify-tolerance", "1")
    check("p.gpkg", "c.tif", tolerance=1)


def resumes():
    """A job that is killed while it writes polygons writes them again, and leaves nothing else."""
    save("scene.tif", rng.integers(0, 200, (300, 300), "u1"))
    os.makedirs("whole", exist_ok=True)
    os.makedirs("killed", exist_ok=True)
    words = ["label", "scene.tif", "--tile", "64"]
    qfz(*words, "whole/l.tif", "--polygons", "whole/p.fgb", "--work", "whole_work")
    words += ["killed/l.tif", "--polygons", "killed/p.fgb", "--work", "killed_work", "--resume"]
    with subprocess.Popen([QFZ, *words, "-q"], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not any(".p-fgb" in name for name in os.listdir("killed")):
            time.sleep(0.001)
        process.kill()
    qfz(*words)
    same("polygons after a kill", pathlib.Path("killed/p.fgb").read_bytes() == pathlib.Path("whole/p.fgb").read_bytes(),
         True)
    same("files after a kill", sorted(os.listdir("killed")), ["l.tif", "p.fgb"])


def refused():
    save("ok.tif", numpy.ones((4, 4), "u1"))
    cases = [(["regions", "ok.tif", "--polygons", "none.csv"], 1, "none.csv"),
             (["regions", "ok.tif", "--polygons", "none.fgb", "--simplify-tolerance", "-1"], 2, "at least 0"),
             (["regions", "ok.tif", "--table", "none.csv", "--simplify-tolerance", "1"], 1, "--polygons"),
             (["regions", "ok.tif", "--polygons", "ok.tif"], 1, "ok.tif"),
             (["regions", "ok.tif", "--polygons", "none.fgb", "--table", "none.fgb"], 1, "none.fgb"),
             (["label", "ok.tif", "q.tif", "--polygons", "q.tif"], 1, "q.tif"),
             (["simplify", "--omega", "2", "ok.tif", "q.tif", "--polygons", "none.fgb", "--phase", "stitch", "--work", "none"], 1, "--labels"),
             (["label", "--count-only", "ok.tif", "--polygons", "none.fgb"], 2, "--count-only")]
    for words, status, message in cases:
        qfz(*words, status=status, message=message)
    same("files left", sorted(p for p in os.listdir() if p.startswith(("none", "q.tif"))), [])


def real_rasters(data):
    used = 0
    for name, window in (("landcover/cdl_2016_iowa_test_8000.tif", [3000, 3000, 800, 700]),
                         ("demo/nlcd_zion_2013_palette_u8.tif", [200, 300, 300, 350]),
                         ("landcover/GMW_N26W082_2020_v3.tif", [300, 2000, 1500, 900])):
        if not (data / name).exists():
            print(f"left out: no {name}")
            continue
        used += 1
        gdal.Translate("in.tif", str(data / name), srcWin=window)
        check_real("in.tif", "in.tif", "regions", "in.tif")
        for connectivity in "4", "8":
            check_real("in.tif", "l.tif", "label", "--connectivity", connectivity, "in.tif", "l.tif")
    if not used:
        print("skipped: no real rasters")
        sys.exit(SKIPPED)


def check_real(source, labels, *words):
    qfz(*words, "--polygons", "p.fgb")
    check("p.fgb", labels)
    qfz(*words, "--polygons", "s.fgb", "--simplify-tolerance", "1.5")
    check("s.fgb", labels, tolerance=1)
    overlaps_nowhere("s.fgb")


with tempfile.TemporaryDirectory(prefix="qfz_polygons_") as folder:
    os.environ["OGR_GEOJSON_MAX_OBJ_SIZE"] = "0"
    place = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    os.chdir(folder)
    if place:
        real_rasters(place)
    else:
        random_labels()
        rows_of_blocks()
        areas_on_the_ellipsoid()
        labels_of_a_job()
        resumes()
        refused()

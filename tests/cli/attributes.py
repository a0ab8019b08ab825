# SPDX-License-Identifier: MIT
"""attributes.py QFZ: the raster attribute table of --attribute-table, as GDAL reads it, against the rows of --regions;
where it is refused, no file is left."""
import csv
import math
import os
import sys
import tempfile

from rasters import gdal, numpy, qfz, same, save

rng = numpy.random.default_rng(4)


def check(raster, table):
    """Row after row; in HFA, row i is of value i, so that row 0 is of no region."""
    with open(table, newline="", encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    opened = gdal.Open(raster)
    rat = opened.GetRasterBand(1).GetDefaultRAT()
    first = 0 if raster.endswith(".tif") else 1
    same(f"rows of {raster}", rat.GetRowCount(), len(rows) + first)
    names = [rat.GetNameOfCol(c) for c in range(rat.GetColumnCount())]
    count = "Count" if "Count" in names else "Histogram"
    renamed = {"label": "Value", "pixels": count}
    same(f"columns of {raster}", sorted(names), sorted(renamed.get(name, name) for name in rows[0]))
    same("usage", (rat.GetColOfUsage(gdal.GFU_PixelCount), rat.GetTypeOfCol(names.index("Value"))),
         (names.index(count), gdal.GFT_Integer))
    for i, row in enumerate(rows):
        for name, text in row.items():
            column = names.index(renamed.get(name, name))
            found = rat.GetValueAsDouble(i + first, column)
            expected = float(text) if text else math.nan
            if not (math.isclose(found, expected, rel_tol=1e-12) or (math.isnan(found) and math.isnan(expected))):
                sys.exit(f"{raster}: row {i}, {name}: {found}, not {expected}")
    labels, pixels = numpy.unique(opened.ReadAsArray(), return_counts=True)
    counts = dict(zip(labels.tolist(), pixels.tolist()))
    same("values", {rat.GetValueAsInt(i + first, names.index("Value")): int(rat.GetValueAsDouble(i + first, names.index(count)))
                    for i in range(len(rows))}, {label: n for label, n in counts.items() if label})


def written():
    scene = rng.integers(0, 40, (30, 44)).astype("i4")
    save("scene.tif", scene)
    table = ["--regions", "r.csv", "--attribute-table"]
    for words in (["--tile", 1000], ["--tile", 9, "-j", 3], ["--work", "work"],
                  ["--columns", "neighbours,label,pixels,mean,majority,perimeter"], ["--overviews", "mode"]):
        qfz("label", "--alpha", 3, "scene.tif", "l.tif", *table, *words)
        check("l.tif", "r.csv")
        os.remove("l.tif.aux.xml")
    qfz("label", "--alpha", 3, "scene.tif", "l.img", *table)
    check("l.img", "r.csv")
    qfz("simplify", "--omega", 9, "scene.tif", "p.tif", "--labels", "l.tif", *table)
    check("l.tif", "r.csv")
    same("files beside the painted raster", os.path.exists("p.tif.aux.xml"), False)
    qfz("tree", "scene.tif", "z.tif", "f.csv", *table)
    check("z.tif", "r.csv")
    qfz("saliency", "scene.tif", "s.tif")
    qfz("cut", "--alpha", 5, "s.tif", "c.tif", *table)
    check("c.tif", "r.csv")
    qfz("label", "--alpha", "3,9", "scene.tif", "a_{alpha}.tif", "--regions", "a_{alpha}.csv", "--attribute-table")
    check("a_3.tif", "a_3.csv")
    check("a_9.tif", "a_9.csv")


def in_parts():
    """Of several processes, the last one gives the merged file its table."""
    for raster in ("m.tif", "m.img"):
        words = ["label", "--alpha", 3, "--tile", 9, "--merge", "--work", "work_" + raster, "--regions", "m.csv",
                 "--attribute-table", "scene.tif", raster]
        for phase in ("summarise", "stitch", "resolve"):
            for part in ("2/3", "1/3", "3/3") if phase != "stitch" else ("",):
                qfz("run", "--phase", phase, *(["--part", part] if part else []), *words)
        check(raster, "m.csv")


def refused():
    save("many.tif", numpy.arange(317 * 317, dtype="i4").reshape(317, 317))
    save("full.tif", numpy.arange(100000, dtype="i4").reshape(250, 400))
    save("blocked.tif", numpy.arange(12, dtype="i4").reshape(3, 4))
    before = sorted(os.listdir())
    table = ["--regions", "n.csv", "--attribute-table"]
    cases = [(["label", "many.tif", "n.tif", *table], "there are 100489 regions, and an attribute table holds 100000"),
             (["label", "blocked.tif", "n.tif", "--attribute-table"], "name one by --regions"),
             (["label", "blocked.tif", "n.vrt", *table], "use .tif or .img"),
             (["label", "blocked.tif", "n.tif", "-of", "COG", *table], "use .tif or .img"),
             (["label", "blocked.tif", "/vsis3/bucket/n.tif", *table, "--allow-network"], "an object gets"),
             (["simplify", "--omega", 3, "blocked.tif", "n.tif", *table], "--labels"),
             (["label", "blocked.tif", "n.tif", "--columns", "pixels", *table], "column label"),
             (["label", "blocked.tif", "n.tif", *table, "--config", "GDAL_PAM_ENABLED=NO"], "GDAL_PAM_ENABLED"),
             (["label", "full.tif", "n.tif", *table, "--memory", "120MB"], "name fewer columns"),
             (["label", "blocked.tif", "n.vrt", *table, "--work", "parts", "--phase", "summarise", "--part", "1/2"],
              "use .tif or .img")]
    for words, message in cases:
        qfz(*words, status=1, message=message)
    if sorted(os.listdir()) != before:
        sys.exit(f"refused jobs have left files: {sorted(set(os.listdir()) - set(before))}")


with tempfile.TemporaryDirectory(prefix="qfz_attributes_") as folder:
    os.chdir(folder)
    written()
    in_parts()
    refused()

# SPDX-License-Identifier: MIT
"""tables.py QFZ: tables of regions equal those that NumPy makes from the label raster: in several formats and tile
sizes, in a projected, a rotated, a geographic and no CRS; chosen columns; and what is refused."""
import os
import pathlib
import subprocess
import sys
import tempfile

QFZ = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77

ORACLE = """
import subprocess, sys
import numpy
from osgeo import gdal, ogr, osr
gdal.UseExceptions()
ogr.UseExceptions()
osr.UseExceptions()
qfz = sys.argv[1]
rng = numpy.random.default_rng(7)
SCENES = {  # EPSG code, geotransform
    "utm": (32632, (500000, 10, 0, 5000000, 0, -10)),
    "rotated": (32632, (500000, 9, 2, 5000000, 1.5, -8)),
    "geographic": (4326, (10, 1e-4, 0, 50, 0, -2e-4)),
    "plain": (0, (0, 1, 0, 0, 0, 1)),
}


def make(name, values, epsg, transform):
    kind = gdal.GDT_Float32 if values.dtype == numpy.float32 else gdal.GDT_Byte
    d = gdal.GetDriverByName("GTiff").Create(name, values.shape[2], values.shape[1], len(values), kind)
    d.SetGeoTransform(transform)
    if epsg:
        srs = osr.SpatialReference()
        srs.ImportFromEPSG(epsg)
        d.SetProjection(srs.ExportToWkt())
    for b, band in enumerate(values):
        d.GetRasterBand(b + 1).SetNoDataValue(200)
        d.GetRasterBand(b + 1).WriteArray(band)


def place(t, x, y):
    return t[0] + x * t[1] + y * t[2], t[3] + x * t[4] + y * t[5]


def expected(labels, values, epsg, t):
    if epsg:
        a, b = osr.SpatialReference(), osr.SpatialReference()
        a.ImportFromEPSG(epsg)
        b.ImportFromEPSG(4326)
        for srs in (a, b):
            srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        to_wgs84 = osr.CoordinateTransformation(a, b)
    for label in range(1, labels.max() + 1):
        ys, xs = numpy.nonzero(labels == label)
        x0, x1, y0, y1 = xs.min(), xs.max() + 1, ys.min(), ys.max() + 1
        x, y = place(t, xs.mean() + 0.5, ys.mean() + 0.5)
        corners = [place(t, cx, cy) for cx in (x0, x1) for cy in (y0, y1)]
        row = {"label": label, "pixels": len(xs), "x": x, "y": y,
               "xmin": min(c[0] for c in corners), "ymin": min(c[1] for c in corners),
               "xmax": max(c[0] for c in corners), "ymax": max(c[1] for c in corners),
               "px_x0": x0, "px_y0": y0, "px_x1": x1, "px_y1": y1}
        if epsg:
            row["lon"], row["lat"], _ = to_wgs84.TransformPoint(x, y)
        if epsg != 4326:
            row["area"] = len(xs) * abs(t[1] * t[5] - t[2] * t[4])
        for b, band in enumerate(values):
            of = band[ys, xs].astype("float64")
            row.update({f"mean_{b + 1}": of.mean(), f"min_{b + 1}": of.min(), f"max_{b + 1}": of.max(),
                        f"stddev_{b + 1}": of.std()})
        yield row


def read(name):
    d = gdal.OpenEx(name, gdal.OF_VECTOR)
    layer = d.GetLayer(0)
    columns = [f.GetName() for f in layer.schema]
    rows = {}
    for f in layer:
        row = {c: (float(f.GetField(c)) if f.IsFieldSetAndNotNull(c) else None) for c in columns}
        g = f.GetGeometryRef()
        rows[int(row["label"])] = row, (g.GetX(), g.GetY()) if g else None
    return columns, rows, layer.GetSpatialRef()


def run(*args):
    subprocess.run([qfz, "label", "-q", "--overwrite", *args], check=True)


def check(scene, kind):
    epsg, transform = SCENES[scene]
    if kind == "float":
        values = (rng.integers(0, 3, (1, 20, 26)) * 0.57).astype("float32")
    else:
        values = rng.integers(0, 3, (2, 20, 26)).astype("uint8")
    values[:, 11:14, 8:17] = 200
    make("in.tif", values, epsg, transform)
    first = None
    for tile, extension in [("5", "csv"), ("16", "gpkg"), ("9", "fgb"), ("13", "geojson"), ("64", "shp"),
                            ("20", "parquet")]:
        if extension in ("geojson", "shp") and scene != "utm":
            continue
        if extension == "parquet" and not gdal.GetDriverByName("Parquet"):
            continue
        run("--alpha", "0.4", "--tile", tile, "--regions", "t." + extension, "in.tif", "l.tif")
        columns, rows, srs = read("t." + extension)
        if first is None:
            wanted = list(expected(gdal.Open("l.tif").ReadAsArray(), values, epsg, transform))
            first = rows
        assert len(rows) == len(wanted) > 70, (extension, len(rows), len(wanted))
        assert columns[0] == "label" and ("lon" in columns) == (epsg > 0), columns
        assert srs is not None or epsg == 0 or extension == "csv", extension
        for row in wanted:
            got, point = rows[row["label"]]
            for c, value in row.items():
                near = abs(got[c] - value) <= 1e-9 * max(1, abs(value))
                assert near, (scene, extension, tile, row["label"], c, got[c], value)
            if extension not in ("shp", "geojson"):  # which round numbers
                assert got == first[row["label"]][0], (extension, row["label"])
                assert extension == "csv" or point == (got["x"], got["y"]), (extension, point)


for scene in SCENES:
    check(scene, "bytes")
check("utm", "float")

for extension in ("csv", "gpkg", "fgb"):
    run("--columns", "label,max,px_y1,area", "--regions", "c." + extension, "in.tif", "l.tif")
    columns, rows, _ = read("c." + extension)
    assert columns == ["label", "max_1", "px_y1", "area"], columns
    for label, (row, _) in read("t.fgb")[1].items():
        assert rows[label][0] == {c: row[c] for c in columns}, label


def refused(status, text, *args, command="label"):
    done = subprocess.run([qfz, command, "-q", "--overwrite", *args], capture_output=True, text=True)
    assert done.returncode == status and text in done.stderr, (args, done.returncode, done.stderr)


refused(1, "no column 'widht'; it has label, pixels", "--columns", "label,widht", "--regions", "c.csv", "in.tif", "l.tif")
refused(1, "no column ''", "--columns", "label,", "--regions", "c.csv", "in.tif", "l.tif")
refused(1, "no column 'mean_2'", "--columns", "mean_2", "--regions", "c.csv", "in.tif", "l.tif")
refused(1, "'mean_1' is chosen twice", "--columns", "mean,mean_1", "--regions", "c.csv", "in.tif", "l.tif")
refused(1, "no table of regions", "--columns", "mean", "in.tif", "l.tif")
make("many.tif", (numpy.arange(240 * 240).reshape(1, 240, 240) / 7).astype("float32"), 0, SCENES["plain"][1])
if gdal.GetDriverByName("XLSX"):
    refused(1, "in memory; 57599 rows take about", "--memory", "120MB", "--regions", "c.xlsx", "many.tif", "m.tif")
    import os
    assert not os.path.exists("m.tif") and not os.path.exists("c.xlsx")
    # GDAL kept these rows, whatever --memory was.
    refused(1, "in memory; 114716 rows take about", "--memory", "120MB", "--neighbours", "c.xlsx", "many.tif", "m.tif")
    refused(1, "in memory; 57598 rows take about", "--memory", "90MB", "many.tif", "m.tif", "c.xlsx", command="tree")
    assert not os.path.exists("m.tif") and not os.path.exists("c.xlsx")
# GDAL wrote a file without rows.
refused(1, "no rows without geometry; use .gpkg", "--neighbours", "c.fgb", "many.tif", "m.tif")
"""


def find_python():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy, osgeo.gdal_array"], capture_output=True).returncode == 0:
            return python
    return None


def main():
    python = find_python()
    if python is None:
        print("no Python with NumPy and GDAL: skipped")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        return subprocess.run([python, "-c", ORACLE, str(QFZ)], cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())

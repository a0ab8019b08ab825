# SPDX-License-Identifier: MIT
"""Shared by the tests of the command that compare with NumPy: rasters from arrays, and runs of qfz.  A test is skipped where
NumPy or GDAL's Python is missing; Debian's Python may have what the first one on the path lacks."""
import os
import subprocess
import sys

SKIPPED = 77
try:
    import numpy
    from osgeo import gdal, osr
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", "-W", "ignore", *sys.argv])
    print("skipped: needs numpy and GDAL's Python")
    sys.exit(SKIPPED)
gdal.UseExceptions()

QFZ = os.path.abspath(sys.argv[1])
PLACE = (500000, 10, 0, 5000000, 0, -20)  # geotransform: pixels of 10 m x 20 m
TYPES = {"u1": gdal.GDT_Byte, "i2": gdal.GDT_Int16, "u2": gdal.GDT_UInt16, "i4": gdal.GDT_Int32, "u4": gdal.GDT_UInt32,
         "i8": gdal.GDT_Int64, "u8": gdal.GDT_UInt64, "f4": gdal.GDT_Float32, "f8": gdal.GDT_Float64,
         "c8": gdal.GDT_CFloat32}


def save(name, bands, nodata=None, epsg=32633, transform=PLACE, colors=(), options=()):
    """A GeoTIFF of an array (h, w) or (bands, h, w)."""
    bands = bands if bands.ndim == 3 else bands[None]
    raster = gdal.GetDriverByName("GTiff").Create(name, bands.shape[2], bands.shape[1], len(bands),
                                                  TYPES[bands.dtype.str[1:]], list(options))
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(epsg)
    raster.SetProjection(srs.ExportToWkt())
    raster.SetGeoTransform(transform)
    for number, band in enumerate(bands, 1):
        if nodata is not None:
            raster.GetRasterBand(number).SetNoDataValue(nodata)
        if colors:
            raster.GetRasterBand(number).SetColorInterpretation(colors[number - 1])
        raster.GetRasterBand(number).WriteArray(band)


def qfz(*words, status=0, message=None):
    """Runs a command; other endings than with this status, and with this text on stderr, end the test."""
    overwrite = ["--overwrite"] if status == 0 and words[0] != "check" else []
    done = subprocess.run([QFZ, *map(str, words), "-q", *overwrite], text=True, capture_output=True, check=False)
    if done.returncode != status or (message and message not in done.stderr):
        sys.exit(f"qfz {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stderr


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, not {expected}")

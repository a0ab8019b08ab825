# SPDX-License-Identifier: MIT
"""extremes.py QFZ [pixels]: rasters at the ends of what there is: special values of floats, differences of 2^32 - 1,
one pixel wide, thousands of bands, blocks of one pixel and of the whole image.  NumPy computes the expected regions.

With `pixels`: 4.9 x 10^9 pixels, each a region; for a run by hand, in a folder with 2 GB (TMPDIR)."""
import os
import subprocess
import sys
import tempfile

QFZ = os.path.abspath(sys.argv[1])
SKIPPED = 77
try:
    import numpy as np
    from osgeo import gdal
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: needs NumPy and GDAL's Python")
    sys.exit(SKIPPED)
gdal.UseExceptions()
np.seterr(all="ignore")


def make(name, bands, *options):
    height, width = bands[0].shape
    types = {"uint8": gdal.GDT_Byte, "uint16": gdal.GDT_UInt16, "uint32": gdal.GDT_UInt32,
             "int32": gdal.GDT_Int32, "float32": gdal.GDT_Float32}
    made = gdal.GetDriverByName("GTiff").Create(name, width, height, len(bands), types[bands[0].dtype.name],
                                                list(options))
    for number, band in enumerate(bands, 1):
        made.GetRasterBand(number).WriteArray(band)
    return name


def qfz(*words, status=0):
    done = subprocess.run([QFZ, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


def result(task, source, *words):
    qfz(task, "-q", "--overwrite", *words, source, "out.tif")
    return gdal.Open("out.tif").ReadAsArray()


def numbers(joined):
    """Labels of a row of pixels, of which `joined` says whether each joins the one before."""
    return 1 + np.cumsum(~joined)


def in_a_row(values, words, joins):
    source = make("row.tif", [values[None, :]])
    same = np.concatenate([[True], joins(values[:-1], values[1:])])
    for tile in (1, 3, 1000):
        got = result("label", source, *words, "--tile", tile)
        np.testing.assert_array_equal(got[0], numbers(same), err_msg=f"{words} in tiles of {tile}")


def special_floats():
    tiny, most = np.float32(1e-45), np.finfo(np.float32).max
    values = np.array([0, -0.0, 0, tiny, -tiny, tiny, tiny, 1e-38, most, -most, -most, np.inf, np.inf, -np.inf, 1],
                      np.float32)
    for distance in ("l1", "l2", "linf"):
        in_a_row(values, ["--distance", distance], lambda a, b: a == b)
        in_a_row(values, ["--distance", distance, "--alpha", 0], lambda a, b: a == b)
        in_a_row(values, ["--distance", distance, "--alpha", 3e-45],
                 lambda a, b: (a == b) | (np.isfinite(a - b) & (np.abs(a.astype(float) - b) <= 3e-45)))
        in_a_row(values, ["--distance", distance, "--alpha", "inf"], lambda a, b: a == a)


def every_nan_is_no_data():
    bits = np.array([0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fa5a5a5, 0x3f800000],
                    np.uint32)
    got = result("label", make("nan.tif", [bits.view(np.float32)[None, :]]), "--alpha", "inf")
    assert got.tolist() == [[0, 0, 0, 0, 0, 0, 0, 1]], got


def largest_levels():
    most = 2**32 - 1
    for values in (np.array([0, most, most - 1, 0, 0, 1], np.uint32),
                   np.array([-2**31, 2**31 - 1, 2**31 - 2, -2**31, -2**31, 1 - 2**31], np.int32)):
        for distance in ("l1", "linf"):
            for alpha in (0, 1, most - 2, most - 1, most):
                in_a_row(values, ["--distance", distance, "--alpha", alpha],
                         lambda a, b, alpha=alpha: np.abs(a.astype(np.int64) - b) <= alpha)
        levels = result("saliency", make("row.tif", [values[None, :]]), "--distance", "l1")
        far = np.abs(np.diff(values.astype(np.int64)))
        assert levels.dtype == np.uint64 and levels[0, 0, :-1].tolist() == far.tolist(), levels


def one_pixel_wide():
    values = np.random.default_rng(1).integers(0, 4, 400_000).astype(np.uint8)
    want = numbers(np.concatenate([[True], values[1:] == values[:-1]]))
    for name, shape in (("wide.tif", (1, -1)), ("tall.tif", (-1, 1))):
        source = make(name, [values.reshape(shape)], "BLOCKYSIZE=4096")
        for words in ((), ("--tile", 5000, "-j", 2)):
            got = result("label", source, *words)
            assert np.array_equal(got.ravel(), want), (name, words)


def thousands_of_bands():
    rng = np.random.default_rng(2)
    bands = [rng.integers(0, 2, (1, 8)).astype(np.uint8) for _ in range(10_000)]
    source = make("bands.tif", bands)
    assert "10000" in qfz("label", "-q", source, "out.tif", status=1)
    chosen = (1, 5000, 10_000)
    part = np.concatenate([bands[b - 1] for b in chosen]).astype(int)
    far = np.abs(np.diff(part)).sum(0)
    got = result("label", source, "--alpha", 1, *(word for b in chosen for word in ("-b", b)))
    assert got[0].tolist() == numbers(np.concatenate([[True], far <= 1])).tolist()
    many = np.concatenate(bands[:1024]).astype(int)
    got = result("label", make("many.tif", bands[:1024]), "--alpha", 512)
    assert got[0].tolist() == numbers(np.concatenate([[True], np.abs(np.diff(many)).sum(0) <= 512])).tolist()


def blocks_of_any_size():
    values = np.random.default_rng(3).integers(0, 3, (60, 90)).astype(np.uint8)
    whole = make("whole.tif", [values], "BLOCKYSIZE=60")
    source = f"""<VRTDataset rasterXSize="90" rasterYSize="60">
        <VRTRasterBand dataType="Byte" band="1" blockXSize="1" blockYSize="1"><SimpleSource>
        <SourceFilename relativeToVRT="1">{whole}</SourceFilename><SourceBand>1</SourceBand>
        </SimpleSource></VRTRasterBand></VRTDataset>"""
    with open("ones.vrt", "w", encoding="utf-8") as made:
        made.write(source)
    want = result("label", make("tiled.tif", [values], "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"))
    assert want.max() > 500
    for name in ("whole.tif", "ones.vrt"):
        for words in ((), ("--tile", 7), ("--memory", "80MB", "-j", 2)):
            assert np.array_equal(result("label", name, *words), want), (name, words)


def more_than_2_to_the_32():
    """A chessboard: pixel (y, x) is region y * 70,000 + x + 1."""
    side, part = 70_000, 10_000
    board = (np.add.outer(np.arange(part), np.arange(part)) % 2).astype(np.uint8)
    make("board.tif", [board], "TILED=YES", "COMPRESS=DEFLATE")
    sources = "".join(
        f"""<SimpleSource><SourceFilename relativeToVRT="1">board.tif</SourceFilename><SourceBand>1</SourceBand>
        <SrcRect xOff="0" yOff="0" xSize="{part}" ySize="{part}"/><DstRect xOff="{x}" yOff="{y}" xSize="{part}" ySize="{part}"/></SimpleSource>"""
        for y in range(0, side, part) for x in range(0, side, part))
    with open("boards.vrt", "w", encoding="utf-8") as made:
        made.write(f"""<VRTDataset rasterXSize="{side}" rasterYSize="{side}">
            <VRTRasterBand dataType="Byte" band="1">{sources}</VRTRasterBand></VRTDataset>""")
    counted = qfz("label", "--count-only", "--memory", "1GB", "boards.vrt")
    assert f" {side * side} regions" in counted.replace(",", ""), counted
    print(counted, flush=True)
    qfz("label", "-q", "--memory", "1GB", "--co", "COMPRESS=ZSTD", "--co", "PREDICTOR=2", "--co", "BIGTIFF=YES",
        "boards.vrt", "out.tif")
    labels = gdal.Open("out.tif")
    assert labels.GetRasterBand(1).DataType == gdal.GDT_UInt64
    for y in [*range(0, side, 997), side - 1]:
        got = labels.ReadAsArray(0, y, side, 1)
        assert np.array_equal(got[0], np.arange(side, dtype=np.uint64) + np.uint64(y * side + 1)), y
    print(f"{side * side} pixels, the last region is {got[0, -1]}, {os.path.getsize('out.tif')} bytes", flush=True)
    del labels
    print(qfz("check", "--memory", "2GB", "out.tif", "boards.vrt"), flush=True)


with tempfile.TemporaryDirectory(prefix="qfz_extremes_") as folder:
    os.chdir(folder)
    if sys.argv[2:] == ["pixels"]:
        more_than_2_to_the_32()
    else:
        special_floats()
        every_nan_is_no_data()
        largest_levels()
        one_pixel_wide()
        thousands_of_bands()
        blocks_of_any_size()

# SPDX-License-Identifier: MIT
"""regions.py QFZ ranks|alone [SEED]: qfz regions on ranks, or in phases with parts in any order, gives the bytes of one
process, whatever the labels; killed, it resumes."""
import os
import shutil
import sys
import time

from batch import Test, content, in_phase, kill_job, need, on_ranks, ranks_of, run, start

need("gdal_translate", "gdalinfo", "ogr2ogr")
try:
    import numpy
    from osgeo import gdal, osr
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", "-W", "ignore", *sys.argv])
    print("skipped: needs numpy and GDAL's Python")
    sys.exit(77)
gdal.UseExceptions()
RANKS = on_ranks(sys.argv)
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
test = Test(sys.argv[1], SEED)
rng = numpy.random.default_rng(SEED)
WIDTH, HEIGHT, BLOCK = 210, 190, 16
TABLE = ["--table", "{}.csv", "--columns", "default,perimeter,compactness,neighbours,stats_majority,px_first_x",
         "--stats", "stats.tif"]
# Words and outputs of jobs.
JOBS = {
    "all": ([*TABLE, "--neighbours", "{}_pairs.csv", "--colors", "{}_colors.tif", "--quicklook", "{}.png", "--polygons",
             "{}.fgb"], ["{}.csv", "{}_pairs.csv", "{}_colors.tif", "{}.png", "{}.fgb"]),
    "simplified": (["--polygons", "{}.fgb", "--simplify-tolerance", "1.5"], ["{}.fgb"]),
    "levels": (["--neighbours", "{}_pairs.csv", "--stats", "stats.tif", "--quicklook", "{}.png", "--quicklook-style",
                "means"], ["{}_pairs.csv", "{}.png"]),
}


def save(name, values):
    types = {"u1": gdal.GDT_Byte, "u2": gdal.GDT_UInt16, "u8": gdal.GDT_UInt64}
    options = ["TILED=YES", f"BLOCKXSIZE={BLOCK}", f"BLOCKYSIZE={BLOCK}"]
    raster = gdal.GetDriverByName("GTiff").Create(name, WIDTH, HEIGHT, 1, types[values.dtype.str[1:]], options)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    raster.SetProjection(srs.ExportToWkt())
    raster.SetGeoTransform((7, 0.01, 0, 50, 0, -0.01))
    raster.GetRasterBand(1).WriteArray(values)


def make_rasters():
    """dense.tif: small numbers, a region on both sides of every border.  wide.tif: numbers of 64 bits with gaps,
    whose pixels lie anywhere."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    dense = 1 + (x // 9 * 37 + (y + x // 5) // 7 * 11) % 900
    dense[(x % 61 == 5) | (rng.random(dense.shape) < 0.03)] = 0
    save("dense.tif", dense.astype("u2"))
    wide = dense.astype("u8") << numpy.uint64(40)
    anywhere = rng.random(dense.shape) < 0.1
    few = numpy.array([0, 3, 2**33 + 5, 2**62 + 9, 2**40], "u8")
    wide[anywhere] = few[rng.integers(0, len(few), anywhere.sum())]
    save("wide.tif", wide)
    save("stats.tif", rng.integers(0, 5, dense.shape).astype("u1"))


def words_of(job, labels, stem, *more):
    words, outputs = JOBS[job]
    own = [test.qfz, "regions", "-q", "-j", "2", *more, *(word.format(stem) for word in words), labels]
    return own, [name.format(stem) for name in outputs]


def references():
    found = {}
    for job in JOBS:
        for labels in ("dense.tif", "wide.tif"):
            words, outputs = words_of(job, labels, "whole", "--overwrite")
            status, _, err = run(words)
            test.check(status == 0, f"{job} of {labels}: {err}")
            found[job, labels] = [content(path) for path in outputs]
            test.check(all(len(part) > 100 for part in found[job, labels][:1]), f"{job} of {labels}: no rows")
    return found


def left_over(what):
    found = [name for name in os.listdir(".") if name.startswith(".")]
    test.check(not found, f"{what}: left behind: {found}")


def clean():
    shutil.rmtree("work", ignore_errors=True)
    for name in os.listdir("."):
        if name.startswith(("out", ".out")):
            os.remove(name)


def by_ranks():
    for n in (2, 3, 5, 14):  # more than there are rows of blocks
        for (job, labels), want in wanted.items():
            clean()
            more = ["--work", "work"] if n == 3 else ["--tile", "30"] if n == 5 else []
            words, outputs = words_of(job, labels, "out", *more)
            what = f"{job} of {labels} on {n} ranks"
            status, _, err = run(ranks_of(n) + words)
            if test.check(status == 0, f"{what}: status {status}: {err}"):
                test.compare(outputs, want, what)
            left_over(what)
            if n == 3:
                test.check(sorted(os.listdir("work")) == ["done", "job"], f"{what}: {os.listdir('work')}")


def failing_ranks():
    """A damaged block, which one rank alone reads: no output, nothing left."""
    clean()
    shutil.copy("dense.tif", "damaged.tif")
    with open("damaged.tif", "r+b") as file:
        file.truncate(os.path.getsize("damaged.tif") - 3 * BLOCK * BLOCK)
    words, outputs = words_of("all", "damaged.tif", "out")
    status, _, err = run(ranks_of(3) + words)
    test.check(status == 1 and "damaged.tif" in err, f"damaged: status {status}: {err}")
    test.check(not any(os.path.exists(path) for path in outputs), "damaged: there are outputs")
    left_over("damaged")


def phase(words, name, part=0, n=0):
    status, _, err = run(in_phase(words, name, "work", part, n))
    return status, err


def in_phases(job, labels, n, times):
    """Parts in a random order; each process several times, as one that is killed as it ends."""
    clean()
    what = f"{job} of {labels} in {n} parts"
    words, outputs = words_of(job, labels, "out")
    parts = list(range(1, n + 1))
    test.random.shuffle(parts)
    for i, part in enumerate(parts):
        for _ in range(times):
            status, err = phase(words, "summarise", part, n)
            test.check(status == 0, f"{what}: {part}: {err}")
        if i == 0 and n > 1:
            status, err = phase(words, "stitch")
            test.check(status == 1 and f"of {n} is not complete" in err, f"{what}: stitch too early: {err}")
    for _ in range(times):
        status, err = phase(words, "stitch")
        test.check(status == 0, f"{what}: stitch: {err}")
    test.compare(outputs, wanted[job, labels], what)
    test.check(sorted(os.listdir("work")) == ["done", "job"], f"{what}: {os.listdir('work')}")
    left_over(what)


def refusals():
    clean()
    words, _ = words_of("all", "dense.tif", "out")
    status, err = phase(words, "resolve", 1, 2)
    test.check(status == 1 and "no phase resolve" in err, f"resolve: {status}: {err}")
    status, err = phase(words, "stitch")
    test.check(status == 1 and "phase summarise comes first" in err, f"no summaries: {status}: {err}")
    phase(words, "summarise", 1, 2)
    others, _ = words_of("levels", "dense.tif", "out")
    status, err = phase(others, "summarise", 2, 2)
    test.check(status == 1 and "holds another job" in err, f"other outputs: {status}: {err}")
    others, _ = words_of("all", "wide.tif", "out")
    status, err = phase(others, "summarise", 2, 2)
    test.check(status == 1 and "holds another job" in err, f"other labels: {status}: {err}")
    os.utime("stats.tif", (1, 1))
    status, err = phase(words, "summarise", 2, 2)
    test.check(status == 1 and "stats" in err, f"changed statistics: {status}: {err}")


def damaged_parts():
    """Files of parts that are not what a process has written."""
    words, outputs = words_of("all", "dense.tif", "out")
    for kind in ("chains", "gathered"):
        for damage in ("cut", "other"):
            clean()
            for part in (1, 2):
                phase(words, "summarise", part, 2)
            path = f"work/.regions.qfz-{kind}-002-of-002"
            with open(path, "r+b") as file:
                if damage == "cut":
                    file.truncate(os.path.getsize(path) // 2)
                else:
                    file.write(bytes(range(100, 164)))
            status, err = phase(words, "stitch")
            test.check(status == 1 and path in err, f"{kind}, {damage}: {status}: {err}")
            test.check(not any(os.path.exists(output) for output in outputs), f"{kind}, {damage}: outputs")


def killed(n_ranks, seconds):
    clean()
    words, outputs = words_of("all", "wide.tif", "out", "--work", "work", "--resume")
    kills = test.lived(ranks_of(n_ranks) + words, 3, seconds)
    what = f"{n_ranks} ranks after {kills} kills"
    test.compare(outputs, wanted["all", "wide.tif"], what)
    left = os.listdir("work") + [name for name in os.listdir(".") if name.startswith(".")]
    test.check(sorted(left) == ["done", "job"], f"{what}: left behind: {left}")
    return kills


def other_numbers():
    """Each start has another number of ranks than the one before."""
    clean()
    words, outputs = words_of("all", "dense.tif", "out", "--work", "work", "--resume")
    for n in (3, 2):
        process = start(ranks_of(n) + words)
        for _ in range(500):
            found = os.listdir("work") if os.path.isdir("work") else []
            if process.poll() is not None or any(name.startswith(".regions.qfz-gathered-0") for name in found):
                break
            time.sleep(0.01)
        if process.poll() is None:
            kill_job(process, test.random)
    n = 4
    if os.path.exists("work/finishing"):  # complete but for the names: as many ranks as then
        with open("work/finishing", encoding="ascii") as text:
            n = int(text.read().split()[1])
    status, _, err = run(ranks_of(n) + words)
    test.check(status == 0, f"other numbers: status {status}: {err}")
    test.compare(outputs, wanted["all", "dense.tif"], "other numbers")
    test.check(sorted(os.listdir("work")) == ["done", "job"], f"other numbers: {os.listdir('work')}")


make_rasters()
wanted = references()
n_kills = 0
if RANKS:
    by_ranks()
    failing_ranks()
    for _ in range(4):
        n_kills += killed(3, 0.9)
    other_numbers()
else:
    for name, raster in wanted:
        in_phases(name, raster, 3, 1)
    in_phases("all", "wide.tif", 1, 2)
    in_phases("simplified", "dense.tif", 15, 1)
    for _ in range(4):
        n_kills += killed(1, 0.25)
    damaged_parts()
    refusals()
print(n_kills, "kills")
test.finish()

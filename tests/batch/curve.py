# SPDX-License-Identifier: MIT
"""curve.py QFZ ranks|alone [SEED]: the curve of one process is that of 2, 3 and 7 ranks, of phases in
parts, and of a job that is killed and resumed; a complete job that is resumed prints it again."""
import os
import shutil
import sys
import time

from batch import (Test, in_phase, kill_job, need, on_ranks, patches, ranks_of, run, start,
                   write_raster)

need("gdal_translate")
RANKS = on_ranks(sys.argv)
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
write_raster("src.tif", patches(test.random, 330, 270), 330, ["-a_nodata", "0"])
write_raster("float.tif", patches(test.random, 130, 170), 130,
             ["-ot", "Float32", "-scale", "0", "255", "-1e30", "1.7e30"])


def words_of(src, *options):
    return [test.qfz, "curve", "-q", "--format", "csv", "-j", "2", "--connectivity", "8", *options,
            src]


def printed(words, what):
    status, out, err = run(words)
    test.check(status == 0, f"{what}: status {status}: {err}")
    return out


def by_ranks(src, want):
    for n in (2, 3, 7):
        what = f"{src} on {n} ranks"
        out = printed(ranks_of(n) + words_of(src, "--tile", "40"), what)
        test.check(out == want, f"{what}: another curve")


def in_phases(src, want, n):
    work = f"work_{n}_{src}"
    words = words_of(src, "--tile", "50")
    status, _, err = run(in_phase(words, "stitch", work))
    test.check(status == 1 and work in err, f"stitch first: {err}")
    parts = list(range(1, n + 1))
    test.random.shuffle(parts)
    for part in parts * 2:
        out = printed(in_phase(words, "summarise", work, part, n), f"part {part}/{n}")
        test.check(out == "", f"phase summarise prints {out}")
    for _ in range(2):
        out = printed(in_phase(words, "stitch", work), "stitch")
        test.check(out == want, f"{src} in {n} parts: another curve")


def killed(src, want, before):
    shutil.rmtree("work", ignore_errors=True)
    words = before + words_of(src, "--tile", "16", "--work", "work", "--resume")
    kills = 0
    for _ in range(4):
        process = start(words)
        time.sleep(test.random.random() * (0.9 if before else 0.3))
        if process.poll() is not None:
            break
        kill_job(process, test.random)
        kills += 1
    for _ in range(2):  # the second time the job is complete
        test.check(printed(words, f"after {kills} kills") == want, f"{src}: {kills} kills")
    if src == "src.tif":
        not_read_again(words, want)
    status, _, err = run([word for word in words if word != "--resume"])
    test.check(status == 1 and "--resume" in err, f"a journal is overwritten: {err}")
    return kills


def not_read_again(words, want):
    """A complete job reads no pixels, which may have changed if the file's time is the same."""
    stat = os.stat("src.tif")
    with open("src.tif", "rb") as file:
        data = file.read()
    with open("src.tif", "r+b") as file:
        file.seek(len(data) // 2)
        file.write(bytes(10000))
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    test.check(printed(words, "other pixels") == want, "a complete job reads pixels")
    with open("src.tif", "r+b") as file:
        file.write(data)
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))


n_kills = 0
for name in ("src.tif", "float.tif"):
    whole = printed(words_of(name, "--tile", "1000"), name)
    test.check(whole.startswith("alpha,regions\n0,") and len(whole.splitlines()) > 10, whole)
    if RANKS:
        by_ranks(name, whole)
    else:
        for n_parts in (1, 3, 11):
            in_phases(name, whole, n_parts)
    for _ in range(4):
        n_kills += killed(name, whole, ranks_of(3) if RANKS else [])
print("kills:", n_kills)
test.check(n_kills > 0, "no job was killed")
test.finish()

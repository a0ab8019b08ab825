# SPDX-License-Identifier: MIT
"""peak.py QFZ ranks: --memory is the peak of each rank, however long the pieces between ranks are, and the result is that of
one process.  The summary of a group travelled as a whole: in a bowl, whose components are rows and columns of pixels, it
has an event for nearly each pixel, and a rank took 182 MB of 110.  The merge of the parts took 32 MB beside all else."""
import array
import os
import resource
import subprocess
import sys

from batch import Test, need, on_ranks, ranks_of, run

HERE = os.path.abspath(__file__)
SIDE, LIMIT = 2000, 110
JOBS = {
    "simplify": ["simplify", "--alpha", "1e9", "--omega", "1e9"],
    "saliency": ["saliency", "--min-area", "1000"],
}


def measure(words):
    """Runs a command, and adds its peak in bytes to the file peaks."""
    status = subprocess.run(words, check=False).returncode
    with open("peaks", "a", encoding="ascii") as peaks:
        peaks.write(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024}\n")
    sys.exit(status)


def write_bowl(path):
    with open("bowl.bin", "wb") as out:
        for y in range(SIDE):
            down = (y - SIDE * 47 // 100) ** 2
            array.array("i", [(x - SIDE // 2) ** 2 + down for x in range(SIDE)]).tofile(out)
    with open("bowl.hdr", "w", encoding="ascii") as out:
        out.write(f"ENVI\nsamples = {SIDE}\nlines = {SIDE}\nbands = 1\ndata type = 3\ninterleave = bsq\nbyte order = 0\n")
    subprocess.run(["gdal_translate", "-q", "-co", "TILED=YES", "bowl.bin", path], check=True)


def checksums(path):
    said = subprocess.run(["gdalinfo", "-checksum", path], capture_output=True, text=True, check=True).stdout
    return [line.strip() for line in said.split("\n") if "Checksum" in line]


def check(name, n_ranks, *output):
    words = [test.qfz, *JOBS[name], "--memory", f"{LIMIT}MB", "-q", "-j", "1", "--engine", "cpu", "--overwrite", "src.tif", *output]
    if os.path.exists("peaks"):
        os.remove("peaks")
    status, _, err = run([*ranks_of(n_ranks), sys.executable, HERE, "measure", *words])
    test.check(status == 0, f"{name}: {status}: {err}")
    with open("peaks", encoding="ascii") as lines:
        peaks = [int(line) / 1e6 for line in lines]
    test.check(len(peaks) == n_ranks and max(peaks) <= LIMIT, f"{name} on {n_ranks} ranks, {LIMIT} MB: peaks {peaks}")
    test.check(checksums(output[-1]) == wanted[name], f"{name} on {n_ranks} ranks: another result")


def of_one_process(name):
    run([test.qfz, *JOBS[name], "-q", "-j", "2", "--engine", "cpu", "--overwrite", "src.tif", "whole.tif"])
    return checksums("whole.tif")


if sys.argv[1] == "measure":
    measure(sys.argv[2:])
need("gdal_translate", "gdalinfo")
on_ranks(sys.argv)
test = Test(sys.argv[1], 1)
write_bowl("src.tif")
wanted = {name: of_one_process(name) for name in JOBS}
for job in JOBS:
    for ranks in (2, 3):
        check(job, ranks, "out.vrt")
check("saliency", 2, "--merge", "out.tif")
test.finish()

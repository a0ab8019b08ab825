# SPDX-License-Identifier: MIT
"""altered.py QFZ SHIM ranks [SEED [MOST]]: a message that a rank receives is altered.  The job ends with the right
result, or with status 1 and a message.  If the checksums fit an altered record, as those of a rank that lies, the job may
have another result, but it ends, without a signal.  MOST: messages for each job and way; 0: every one.

A rank used the bytes of other ranks without a checksum: altered values gave wrong labels at status 0."""
import os
import signal
import subprocess
import sys

from batch import SKIP, Test, content, need, on_ranks, patches, ranks_of, write_raster

SHIM = sys.argv[2]
if not os.path.exists(SHIM):
    print("skipped: no", SHIM)
    sys.exit(SKIP)
need("gdal_translate", "gdalinfo")
on_ranks([sys.argv[0], sys.argv[1], sys.argv[3]])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
MOST = int(sys.argv[5]) if len(sys.argv) > 5 else 4
test = Test(sys.argv[1], SEED)
ENGINE = ["-q", "--tile", "24", "--engine", "cpu", "-j", "1", "--merge", "--overwrite"]
LEAST = ["--alpha", "1", "--min-area", "5"]
JOBS = {
    "label": (["label", *ENGINE, "--regions", "t.csv", "src.tif", "o.tif"], ["o.tif", "t.csv"]),
    "least": (["label", *ENGINE, *LEAST, "src.tif", "o.tif"], ["o.tif"]),
    "simplify": (["simplify", *ENGINE, "--alpha", "1", "--omega", "2", "--labels", "l.tif", "src.tif", "o.tif"],
                 ["o.tif", "l.tif"]),
    "saliency": (["saliency", *ENGINE, "src.tif", "o.tif"], ["o.tif"]),
    "curve": (["curve", *ENGINE[:-2], "src.tif", "-o", "c.txt"], ["c.txt"]),
}
RANKS, LIMIT_S = 2, 120


def result(path):
    if path.endswith(".tif"):
        return content(path)
    with open(path, "rb") as whole:
        return whole.read()


def start(name, at, rank, forges):
    """Status, message."""
    for path in (*JOBS[name][1], "count"):
        if os.path.exists(path):
            os.remove(path)
    environment = {**os.environ, "QFZ_ALTER_AT": str(at), "QFZ_ALTER_RANK": str(rank),
                   "QFZ_ALTER_SEED": str(test.random.randrange(1 << 30)), "QFZ_ALTER_COUNT": os.path.abspath("count")}
    if forges:
        environment["QFZ_ALTER_FORGES"] = "1"
    preload = os.environ.get("QFZ_TEST_PRELOAD", "") + " " + SHIM
    words = [*ranks_of(RANKS), "env", "LD_PRELOAD=" + preload.strip(), test.qfz, *JOBS[name][0]]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment, start_new_session=True) as process:
        try:
            _, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, f"no end after {LIMIT_S} s"
    return process.returncode, err


def check(name, wanted, at, rank, forges):
    status, err = start(name, at, rank, forges)
    what = f"{name}, message {at} of rank {rank}, {'forged' if forges else 'damaged'}, status {status}: {err}"
    good = test.check(status in (0, 1) and "Sanitizer" not in err and "runtime error" not in err, what)
    if good and status == 1:
        test.check("qfz" in err, "no message: " + what)
    elif good and not forges:
        test.check([result(path) for path in JOBS[name][1]] == wanted, "another result: " + what)
    return status


write_raster("src.tif", patches(test.random, 130, 110), 130, ["-a_nodata", "0"])
ends = {0: 0, 1: 0, None: 0}
for job in JOBS:
    for receiver in range(RANKS):
        for lies in (False, True):
            code, said = start(job, 0, receiver, lies)
            if not test.check(code == 0 and os.path.exists("count"), f"{job}: status {code}, {said}"):
                continue
            right = [result(path) for path in JOBS[job][1]]
            with open("count", encoding="ascii") as text:
                n = int(text.read())
            numbers = range(1, n + 1) if MOST == 0 or MOST >= n else sorted(test.random.sample(range(1, n + 1), MOST))
            for number in numbers:
                code = check(job, right, number, receiver, lies)
                ends[code] = ends.get(code, 0) + 1
print("messages altered, by status:", ends)
test.finish()

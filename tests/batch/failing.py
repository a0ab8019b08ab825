# SPDX-License-Identifier: MIT
"""failing.py QFZ SHIM ranks|alone [SEED [MOST [JOBS [KINDS]]]]: the n-th call of a kind fails, once or for ever: an
allocation, a read, a write, a rename, a thread, a message to another rank.  The command ends
with its usual result, or with status 1, one message, no output and no temporary file.

MOST: values of n for each command and kind, at random, one in each of MOST parts of all; 0: every n (DROPPED:
always).  With 1, in one of two ranks.  JOBS, KINDS: some of them, with commas between; "all".  In place of KINDS, "network": errors of network file systems and of quotas."""
import os
import re
import shutil
import signal
import subprocess
import sys

from batch import SKIP, Test, content, need, on_ranks, patches, ranks_of, write_raster

SHIM = sys.argv[2]
if not os.path.exists(SHIM):
    print("skipped: no", SHIM, "(a sanitizer has allocators of its own)")
    sys.exit(SKIP)
need("gdal_translate", "gdalinfo")
RANKS = on_ranks([sys.argv[0], sys.argv[1], sys.argv[3]])
test = Test(sys.argv[1], int(sys.argv[4]) if len(sys.argv) > 4 else 1)
MOST = int(sys.argv[5]) if len(sys.argv) > 5 else 1
ENOMEM, EIO, ENOSPC, EACCES, EAGAIN = 12, 5, 28, 13, 11
EXDEV, ESTALE, EPERM, EDQUOT = 18, 116, 1, 122
COMMON = ["-q", "--tile", "32", "--retries", "1", "--config", "GDAL_NUM_THREADS", "1"]
ENGINE = [*COMMON, "--engine", "cpu", "-j", "2"]

# Kind of call, error.
KINDS = [("malloc", ENOMEM), ("open", EACCES), ("read", EIO), ("write", EIO), ("write", ENOSPC),
         ("rename", EACCES), ("link", EACCES), ("unlink", EACCES), ("mkdir", EACCES), ("fsync", EIO),
         ("ftruncate", EIO), ("close", EIO), ("thread", EAGAIN)]
NETWORK = [("rename", EXDEV), ("rename", ESTALE), ("rename", EIO), ("link", EXDEV), ("link", ESTALE),
           ("link", EPERM), ("open", ESTALE), ("read", ESTALE), ("close", ESTALE),
           *((call, EDQUOT) for call in ("write", "close", "fsync", "mkdir", "ftruncate"))]
if RANKS:
    KINDS = [("mpi", EIO), ("malloc", ENOMEM), ("write", ENOSPC), ("rename", EACCES)]

# A VRT that has its name is taken back by renames: those that follow must not fail.
TAKEN_BACK = ("vrts", "again")

# GDAL drops failures of some writes, as those of a header: every n, always.
DROPPED = ("saliency", "write", ENOSPC)

# Blocks as large as tiles are encoded and written without GDAL, by all threads.
BLOCKS = ["--co", "BLOCKXSIZE=32", "--co", "BLOCKYSIZE=32"]
SIMPLIFY = ["simplify", "--alpha", "1", "--omega", "2", *ENGINE]
ALONE = {
    "label": (["label", *ENGINE, "--regions", "t.csv", "../src.tif", "o.tif"], ["o.tif", "t.csv"]),
    "simplify": ([*SIMPLIFY, "--labels", "l.tif", "../src.tif", "o.tif"], ["o.tif", "l.tif"]),
    "vrts": ([*SIMPLIFY, "--labels", "l.vrt", "../src.tif", "o.vrt"], ["o.vrt", "l.vrt"]),
    "again": ([*SIMPLIFY, "--overwrite", "--labels", "l.vrt", "../src.tif", "o.vrt"],
              ["o.vrt", "l.vrt"]),
    "blocks": (["label", *ENGINE, *BLOCKS, "../src.tif", "o.tif"], ["o.tif"]),
    "levels": (["saliency", *ENGINE, *BLOCKS, "../src.tif", "o.tif"], ["o.tif"]),
    "least": (["label", *ENGINE, "--alpha", "1", "--min-area", "5", "../src.tif", "o.tif"],
              ["o.tif"]),
    "saliency": (["saliency", *ENGINE, "--work", "w", "../src.tif", "o.tif"], ["o.tif"]),
    "target": (["label", *ENGINE, "--regions-target", "100", "--work", "w", "../src.tif", "o.tif"], ["o.tif"]),
    "list": (["label", *ENGINE, "--alpha", "1,3", "--work", "w", "../src.tif", "o{alpha}.tif"], ["o1.tif", "o3.tif"]),
    "cut": (["cut", *ENGINE, "--alpha", "1", "../saliency.tif", "o.tif"], ["o.tif"]),
    "regions": (["regions", *COMMON, "--stats", "../src.tif", "--table", "t.csv", "--neighbours",
                 "n.csv", "../labels.tif"], ["t.csv", "n.csv"]),
    "polygons": (["regions", *COMMON, "--polygons", "p.fgb", "../labels.tif"], ["p.fgb"]),
    "parts": (["regions", *COMMON, "--work", "w", "--table", "t.csv", "--polygons", "p.fgb", "../labels.tif"],
              ["t.csv", "p.fgb"]),
    "tree": (["tree", *ENGINE, "../src.tif", "o.tif", "t.csv"], ["o.tif", "t.csv"]),
    "curve": (["curve", *ENGINE, "-o", "c.txt", "--plot", "c.png", "../src.tif"],
              ["c.txt", "c.png"]),
    "run": (["run", "--phase", "stitch", "--work", "w", *SIMPLIFY, "../src.tif", "o.vrt"], []),
    "check": (["check", "-q", "--retries", "1", "-j", "2", "../labels.tif", "../src.tif"], []),
}
ON_RANKS = {
    "label": (["label", *ENGINE, "--merge", "../src.tif", "o.tif"], ["o.tif"]),
    "simplify": ([*SIMPLIFY, "--merge", "--labels", "l.tif", "../src.tif", "o.tif"],
                 ["o.tif", "l.tif"]),
    "vrts": ALONE["vrts"],
    "again": ALONE["again"],
    "saliency": (["saliency", *ENGINE, "--merge", "--work", "w", "../src.tif", "o.tif"],
                 ["o.tif"]),
    "layout": (["saliency", *ENGINE, "--layout", "pixel", "../src.tif", "o.tif"], ["o.tif"]),
    "regions": (["regions", *COMMON, "--table", "t.csv", "--polygons", "p.fgb", "../labels.tif"],
                ["t.csv", "p.fgb"]),
}
JOBS = ON_RANKS if RANKS else ALONE
BEFORE = ranks_of(2) if RANKS else []


def result(path):
    """None: a raster that cannot be read, as a VRT without its parts."""
    if path.endswith((".tif", ".vrt")):
        try:
            return content(path)
        except subprocess.CalledProcessError:
            return None
    with open(path, "rb") as whole:
        return whole.read()


def prepare(name):
    shutil.rmtree("run", ignore_errors=True)
    os.mkdir("run")
    if name == "run":
        shutil.copytree("summarised", "run/w")
    if name == "again":
        shutil.copytree("older", "run", dirs_exist_ok=True)


def run_failing(name, extra):
    """Status, message, whether a call failed, and the number of calls."""
    prepare(name)
    for left in ("mark", "count"):
        if os.path.exists(left):
            os.remove(left)
    here = os.getcwd()
    environment = {**os.environ, "QFZ_FAIL_FOLDER": here, "QFZ_FAIL_MARK": here + "/mark",
                   "QFZ_FAIL_COUNT": here + "/count", **extra}
    words = [*BEFORE, "env", "LD_PRELOAD=" + SHIM, test.qfz, *JOBS[name][0]]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, cwd="run", env=environment,
                               start_new_session=True)
    try:
        _, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "no end after 120 s", True, 0
    calls = 0
    if os.path.exists("count"):
        with open("count", encoding="ascii") as text:
            calls = int(text.read() or 0)
    return process.returncode, err, os.path.exists("mark"), calls


def messages(err):
    """The lines of the command; a launcher has words of its own."""
    return [line for line in err.splitlines() if not RANKS or line.startswith(("qfz ", "qfz: "))]


def check_end(name, what, status, err, kind):
    """After a failed call: everything as without it, or nothing.  Where MPI fails, it ends the processes at
    once: temporary files may stay, and outputs that are complete."""
    may_stay = kind in ("unlink", "mpi")
    outputs = JOBS[name][1]
    there = [path for path in outputs if os.path.exists("run/" + path)]
    parts = [path[:-4] + ".parts" for path in there if path.endswith(".vrt")]
    left = [path for path in os.listdir("run") if path not in (*outputs, *parts, "w")]
    if status == 0:
        for path in outputs:
            good = path in there and result("run/" + path) == wanted[name][path]
            test.check(good, f"{what}: status 0, but {path} differs")
    else:
        early = "out of memory" in err or "ended before the job began" in err # a launcher may drop the first
        test.check(status == 1 or (status == 2 and early),
                   f"{what}: status {status}: {err}")
        several = RANKS and len(messages(err)) > 1 # a rank that aborts has a message of its own
        test.check(len(messages(err)) == 1 or several, f"{what}: not one message: {err}")
        # The last file of a work folder says that the outputs are complete.
        whole = (kind == "mpi" or re.search(r"w/\.?done", err)) and all(
            result("run/" + path) == wanted[name][path] for path in there)
        if name == "again":
            whole = whole or all(result("run/" + path) == older[path] for path in outputs)
            test.check(whole, f"{what}: failed, but {there} are not what they were: {err}")
        else:
            test.check(whole or not there, f"{what}: failed, but there is {there}: {err}")
    test.check(may_stay or not left, f"{what}: left behind: {left}: {err}")


def spread(n_calls):
    """MOST of the numbers from 1 on, one in each part of the same length."""
    return {1 + int((i + test.random.random()) * n_calls / MOST) for i in range(MOST)}


def failing(name, kind, error, place):
    """Every n-th call, or MOST of them, once and for ever, in every process or in that of a rank."""
    base = {"QFZ_FAIL_CALL": kind, "QFZ_FAIL_ERRNO": str(error), **place}
    status, err, _, n_calls = run_failing(name, base)
    if not test.check(status == 0, f"{name}, no {kind} fails: status {status}: {err}"):
        return
    steps = range(1, n_calls + 1)
    if MOST and n_calls > MOST and (RANKS or (name, kind, error) != DROPPED):
        # The last one may come when outputs have their names.
        steps = sorted({*spread(n_calls), n_calls})
        if RANKS and kind == "malloc":
            steps = [2, *steps] # before the job begins, when the other rank waits already
    for n in steps:
        once_only = n == n_calls or (kind == "rename" and name in TAKEN_BACK and n > 1)
        for always in (False,) if once_only else (False, True):
            extra = {**base, "QFZ_FAIL_AT": str(n), **({"QFZ_FAIL_ALWAYS": "1"} if always else {})}
            status, err, failed, _ = run_failing(name, extra)
            ways[kind] = ways.get(kind, 0) + failed
            what = f"{name}, {' '.join(place.values())} {kind} {n} of {n_calls} {'and later ' if always else ''}({error})"
            if failed:
                check_end(name, what, status, err, kind)


def places():
    """Where calls fail.  Rank 0 joins the parts."""
    if not RANKS:
        return [{}]
    return [{"QFZ_FAIL_RANK": rank} for rank in (test.random.choice("01") if MOST == 1 else "01")]


def without_failure(name):
    prepare(name)
    done = subprocess.run([*BEFORE, test.qfz, *JOBS[name][0]], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, cwd="run", timeout=60)
    test.check(done.returncode == 0, f"{name}: status {done.returncode}: {done.stderr}")
    return {path: result("run/" + path) for path in JOBS[name][1]}


def make_inputs():
    write_raster("src.tif", patches(test.random, 90, 70), 90, ["-a_nodata", "0"])
    os.mkdir("run")
    for words in (["saliency", "-q", "../src.tif", "../saliency.tif"],
                  ["label", "-q", "../src.tif", "../labels.tif"],
                  ["run", "--phase", "summarise", "--part", "1/1", "--work", "../summarised",
                   *SIMPLIFY, "../src.tif", "o.vrt"]):
        subprocess.run([test.qfz, *words], check=True, cwd="run")


def make_older():
    """Outputs that a job replaces, of one part."""
    shutil.rmtree("run")
    os.mkdir("run")
    words = ["simplify", "--alpha", "0", *ENGINE, "--labels", "l.vrt", "../src.tif", "o.vrt"]
    subprocess.run([test.qfz, *words], check=True, cwd="run")
    os.rename("run", "older")
    return {path: result("older/" + path) for path in ("o.vrt", "l.vrt")}


def chosen(place, names):
    """Those of the names that an argument selects."""
    words = sys.argv[place] if len(sys.argv) > place else "all"
    return [name for name in names if words == "all" or name in words.split(",")]


ways = {}
make_inputs()
older = make_older()
wanted = {name: without_failure(name) for name in JOBS}
kinds = NETWORK if sys.argv[7:8] == ["network"] else KINDS
for job in chosen(6, JOBS):
    for call, number in kinds:
        if kinds is NETWORK or call in chosen(7, {kind for kind, _ in KINDS}):
            for where in places():
                failing(job, call, number, where)
print("calls that failed:", ways)
test.check(any(ways.values()), "no call failed: is the library loaded?")
test.finish()

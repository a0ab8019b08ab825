# SPDX-License-Identifier: MIT
"""altered.py QFZ SHIM ranks [SEED [MOST [WORDS [JOBS]]]]: a message that a rank receives is altered.  The job ends with the right
result, or with status 1 and a message.  If the checksums fit an altered record, as those of a rank that lies, the job may
have another result, but it ends, without a signal.  MOST: messages for each job and way; 0: every one.

Then a rank lies in control data: a word of the head of a message, of a broadcast, of a sum or of an agreement gets one
of a few values, with checksums that fit.  WORDS: such lies for each job and rank, at random; 0: every word, with each
value, and LONG_WORDS of each message of more words.  JOBS: some of them, with commas between.

A rank used the bytes of other ranks without a checksum: altered values gave wrong labels at status 0.  A rank that lied
in control data kept others waiting without end: a false length, a failure that no rank had, another number of ranks
that had failed; or ended them by a signal: the key of a piece that does not exist."""
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
WORDS = int(sys.argv[6]) if len(sys.argv) > 6 else 10
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
if len(sys.argv) > 7:
    JOBS = {name: JOBS[name] for name in sys.argv[7].split(",")}
RANKS, LIMIT_S = 2, 120
VALUES = (0, 1, 0x7fffffff, 0x80000000, 0xffffffff)
LONG_WORDS = 8


def result(path):
    if path.endswith(".tif"):
        return content(path)
    with open(path, "rb") as whole:
        return whole.read()


def listed():
    """The messages that the rank has received: kind, bytes."""
    if not os.path.exists("list"):
        return []
    with open("list", encoding="ascii") as lines:
        return [(line.split()[0], int(line.split()[1])) for line in lines]


def start(name, at, rank, how):
    """Status, message, and the messages that the rank has received."""
    for path in (*JOBS[name][1], "list"):
        if os.path.exists(path):
            os.remove(path)
    environment = {**os.environ, "QFZ_ALTER_AT": str(at), "QFZ_ALTER_RANK": str(rank),
                   "QFZ_ALTER_LIST": os.path.abspath("list"), **how}
    preload = os.environ.get("QFZ_TEST_PRELOAD", "") + " " + SHIM
    words = [*ranks_of(RANKS), "env", "LD_PRELOAD=" + preload.strip(), test.qfz, *JOBS[name][0]]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment, start_new_session=True) as process:
        try:
            _, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, f"no end after {LIMIT_S} s", []
    return process.returncode, err, listed()


def check(name, wanted, at, rank, how, is_free):
    """is_free: the job may have another result."""
    status, err, _ = start(name, at, rank, how)
    what = f"{name}, message {at} of rank {rank}, {how}, status {status}: {err}"
    good = test.check(status in (0, 1) and "Sanitizer" not in err and "runtime error" not in err, what)
    if good and status == 1:
        test.check("qfz" in err, "no message: " + what)
    elif good and not is_free:
        test.check([result(path) for path in JOBS[name][1]] == wanted, "another result: " + what)
    ends[status] = ends.get(status, 0) + 1


def some(numbers, most):
    return list(numbers) if most == 0 or most >= len(numbers) else sorted(test.random.sample(numbers, most))


def unaltered(name, rank, how):
    """The result, and the messages."""
    status, err, messages = start(name, 0, rank, how)
    test.check(status == 0 and (messages or "QFZ_ALTER_FORGES" in how), f"{name}: status {status}, {err}")
    return [result(path) for path in JOBS[name][1]], messages


def alter(name, rank):
    for how in ({}, {"QFZ_ALTER_FORGES": "1"}):
        right, messages = unaltered(name, rank, how)
        for at in some(range(1, len(messages) + 1), MOST):
            seed = str(test.random.randrange(1 << 30))
            check(name, right, at, rank, {**how, "QFZ_ALTER_SEED": seed}, bool(how))


def lie(name, rank):
    right, messages = unaltered(name, rank, {"QFZ_ALTER_WORD": "0", "QFZ_ALTER_VALUE": "0"})
    words = [(at, word, value) for at, (kind, n_bytes) in enumerate(messages, 1) if kind != "record"
             for word in some(range((n_bytes + 3) // 4), LONG_WORDS if n_bytes > 64 else 0) for value in VALUES]
    print(name, rank, len(words), "lies", flush=True) if WORDS == 0 else None
    for at, word, value in some(words, WORDS):
        how = {"QFZ_ALTER_WORD": str(word), "QFZ_ALTER_VALUE": str(value)}
        check(name, right, at, rank, how, False)


write_raster("src.tif", patches(test.random, 130, 110), 130, ["-a_nodata", "0"])
ends = {0: 0, 1: 0, None: 0}
for job in JOBS:
    for receiver in range(RANKS):
        alter(job, receiver)
print("messages altered, by status:", ends)
ends = {0: 0, 1: 0, None: 0}
for job in JOBS:
    for receiver in range(RANKS):
        lie(job, receiver)
print("lies, by status:", ends)
test.finish()

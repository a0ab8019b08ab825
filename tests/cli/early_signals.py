# SPDX-License-Identifier: MIT
"""early_signals.py QFZ [TIMES]: a job with --work gets SIGTERM in the first 30 ms.  It ends with status 75 and one message or,
if the system had not come to the first instruction of qfz, by the signal; nothing but its journal is left, and it resumes."""
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

QFZ = os.path.abspath(sys.argv[1])
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 20
LABEL = [QFZ, "label", "-q", "--work", "work", "src.pgm", "out.tif"]


def stopped(after_s):
    """Status of a job that gets SIGTERM so many seconds after its start."""
    process = subprocess.Popen(LABEL, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(after_s)
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
    lines = 1 if process.returncode == 75 else 0
    assert process.returncode in (75, 0, -signal.SIGTERM) and said.count("\n") == lines, (process.returncode, said)
    return process.returncode


def one(after_s):
    status = stopped(after_s)
    left = sorted(os.listdir("."))
    beside = [name for name in left if name not in ("src.pgm", "work") and (status or name != "out.tif")]
    assert not beside, (status, beside)
    subprocess.run([*LABEL, "--resume"], check=True, capture_output=True)
    os.remove("out.tif")
    for name in os.listdir("work"):
        os.remove(os.path.join("work", name))
    os.rmdir("work")
    return status


with tempfile.TemporaryDirectory(prefix="qfz_early_") as folder:
    os.chdir(folder)
    rng = random.Random(1)
    with open("src.pgm", "wb") as out:
        out.write(b"P5 500 500 255\n" + rng.randbytes(500 * 500))
    ends = collections.Counter(one(rng.uniform(0, 0.03)) for _ in range(TIMES))
    print(f"{TIMES} jobs: {ends[75]} with status 75, {ends[-signal.SIGTERM]} by the signal, {ends[0]} complete")

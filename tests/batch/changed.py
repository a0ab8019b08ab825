# SPDX-License-Identifier: MIT
"""changed.py QFZ alone [SEED [CASES]]: pixels that change between the phases of a job, with the size and the
time of the file kept, end the job with one clear message; so do records of a journal that do not
fit, with the right checksum; without checksums (--trust-source) a job may end either way, but never
crashes, and a message names the tile."""
import os
import random
import re
import shutil
import struct
import sys
import zlib

from batch import TASKS, Test, command, in_phase, need, patches, run, write_raster

need("gdal_translate")
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
WIDTH, HEIGHT, TILE = 90, 80, 16
ALL = len(sys.argv) > 4  # CASES: more of everything


def write_pixels(values):
    """Overwrites the pixels of src.bin; size, inode and time stay."""
    before = os.stat("src.bin")
    with open("src.bin", "r+b") as out:
        out.write(values)
    os.utime("src.bin", ns=(before.st_atime_ns, before.st_mtime_ns))


def make_source(values):
    with open("src.bin", "wb") as out:
        out.write(values)
    with open("src.hdr", "w", encoding="ascii") as out:
        out.write(f"ENVI\nsamples = {WIDTH}\nlines = {HEIGHT}\nbands = 1\nheader offset = 0\n"
                  "data type = 1\ninterleave = bsq\nbyte order = 0\ndata ignore value = 0\n")


def smooth():
    return patches(test.random, WIDTH, HEIGHT)


def noisy():
    return bytes(test.random.randrange(256) for _ in range(WIDTH * HEIGHT))


def phases(words, trust, change_before):
    """Runs the phases of a job in one part; the pixels change before one of them."""
    shutil.rmtree("work", ignore_errors=True)
    steps = ["summarise", "stitch", "summarise", "stitch", "resolve"]
    for number, phase in enumerate(steps):
        if number == change_before:
            write_pixels(noisy())
        part = () if phase == "stitch" else (1, 1)
        status, _, err = run(in_phase(words, phase, "work", *part) + trust)
        if status != 0:
            return status, err
    return 0, ""


def changed(task):
    words, outputs = command(test.qfz, task, "src.bin", "out_" + task, ".tif", "--tile", str(TILE),
                             "-j", "1", "--overwrite")
    for change_before in range(1, 5):
        for trust in ([], ["--trust-source"]):
            if not ALL and change_before != (4 if trust else 2):
                continue
            what = f"{task}, changed before step {change_before} {trust}"
            make_source(smooth())
            status, err = phases(words, trust, change_before)
            if trust:
                named = re.search(r": (src\.bin: )?rows \d+ to \d+, columns \d+ to \d+: .* has changed", err)
                test.check(status == 0 or status == 1 and err.count("\n") == 1 and named,
                           f"{what}: {status}: {err}")
            else:
                test.check(status == 1 and "the source has changed since the first pass" in err,
                           f"{what}: status {status}: {err}")
                test.check(not any(map(os.path.exists, outputs)), f"{what}: there is an output")
            for name in outputs:
                if os.path.exists(name):
                    os.remove(name)


HEAD = struct.Struct("<8sqqII")


def records(data):
    """(key, payload) of each record of a journal."""
    found, at = [], 0
    while at + HEAD.size <= len(data):
        _, key, size, _, _ = HEAD.unpack_from(data, at)
        at += HEAD.size
        found.append((key, data[at:at + size]))
        at += size
    return found


def record(key, payload):
    head = struct.pack("<8sqqI", b"qfz\x1brec\n", key, len(payload), zlib.crc32(payload))
    return head + struct.pack("<I", zlib.crc32(head)) + payload


def forge(path):
    """Changes one record: its length, its key, or words of its payload; the checksums fit."""
    with open(path, "rb") as journal:
        found = records(journal.read())
    if not found:
        return
    rng = test.random
    i = rng.randrange(len(found))
    key, payload = found[i]
    way = rng.randrange(4)
    if way == 0:
        payload = payload[:rng.randrange(len(payload) + 1)]
    elif way == 1:
        payload = found[rng.randrange(len(found))][1]
    else:
        changed_payload = bytearray(payload)
        for _ in range(rng.choice((1, 1, 8))):
            if len(payload) >= 4:
                at = rng.randrange(len(payload) // 4) * 4
                word = rng.choice((0, 1, 7, 0x7fffffff, 0xfffffffe, 0xffffffff, rng.getrandbits(32)))
                struct.pack_into("<I", changed_payload, at, word)
        payload = bytes(changed_payload)
    found[i] = (key, payload)
    with open(path, "wb") as journal:
        journal.write(b"".join(record(*one) for one in found))


def forged(task, times):
    """A forged journal gives a message or a result, never a crash."""
    words, outputs = command(test.qfz, task, "src.bin", "out_" + task, ".tif", "--tile", str(TILE),
                             "-j", "1", "--overwrite")
    make_source(smooth())
    for number in range(times):
        shutil.rmtree("work", ignore_errors=True)
        stop = number % 4
        for at, phase in enumerate(("summarise", "stitch", "summarise", "stitch", "resolve")):
            if at == stop + 1:
                journals = sorted(name for name in os.listdir("work") if name.endswith("journal"))
                forge(os.path.join("work", test.random.choice(journals)))
            part = () if phase == "stitch" else (1, 1)
            status, _, err = run(in_phase(words, phase, "work", *part))
            test.check(status in (0, 1) and err.count("\n") <= 1,
                       f"{task}, forged {number}: status {status}: {err}")
            if status != 0:
                break
        for name in outputs:
            if os.path.exists(name):
                os.remove(name)


for TASK in TASKS:
    changed(TASK)
    forged(TASK, int(sys.argv[4]) if ALL else 3)
test.finish()

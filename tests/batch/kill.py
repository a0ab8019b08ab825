# SPDX-License-Identifier: MIT
"""kill.py QFZ ranks|alone [SEED [MOMENTS]]: jobs that are killed at random moments (on ranks, or of one
process and in phases) resume, and end with the bytes of a job that was not killed.  The work folder of another version is
refused by that name: one of a version with other records was taken, and its summaries were called damaged."""
import os
import shutil
import sys
import time

from batch import (FILTERED, LISTS, MAPS, TARGETS, TASKS, TREES, Test, command, content, kill_job, need, on_ranks, patches, ranks_of, run,
                   start, write_raster)

need("gdal_translate", "gdalinfo", "ogr2ogr")
RANKS = on_ranks(sys.argv)
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MOMENTS = int(sys.argv[4]) if len(sys.argv) > 4 else 17 if RANKS else 33
PARTS = 3
test = Test(sys.argv[1], SEED)
write_raster("src.tif", patches(test.random, 330, 270), 330, ["-a_nodata", "0"])
TILE = ["--tile", "24", "-j", "2"]


def reference(task):
    words, outputs = command(test.qfz, task, "src.tif", "whole_" + task.replace(" ", "_"), ".tif", *TILE)
    status, _, err = run(words)
    test.check(status == 0, f"{task}: {err}")
    return [content(path) for path in outputs]


def clean():
    shutil.rmtree("work", ignore_errors=True)
    for name in os.listdir("."):
        if name.startswith(("out", ".out")):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)


def single(task):
    words, outputs = command(test.qfz, task, "src.tif", "out", ".tif", "--work", "work", "--resume",
                             *TILE)
    return test.lived(words, 3, 0.4 if task == "simplify" else 0.2), outputs


def by_ranks(task):
    words, outputs = command(test.qfz, task, "src.tif", "out", ".tif", "--work", "work", "--resume",
                             "--merge", *TILE)
    return test.lived(ranks_of(PARTS) + words, 3, 0.9), outputs


def by_other_ranks(task):
    """Each start has another number of ranks than the one before."""
    words, outputs = command(test.qfz, task, "src.tif", "out", ".tif", "--work", "work", "--resume",
                             "--merge", *TILE)
    kills, n_ranks = 0, 0
    while kills < 3:
        n_ranks = test.random.choice([n for n in (1, 2, 3, 4) if n != n_ranks])
        process = start(ranks_of(n_ranks) + words)
        time.sleep(0.3 + 0.6 * test.random.random())
        if process.poll() is not None:
            break
        kill_job(process, test.random)
        kills += 1
        if os.path.exists("work/finishing"):  # the names are given by the same number
            break
    if not os.path.exists("work/finishing"):
        n_ranks = n_ranks % 4 + 1
    status, _, err = run(ranks_of(n_ranks) + words)
    test.check(status == 0, f"status {status} after {kills} kills: {err} {' '.join(words)}")
    return kills, outputs


def in_phases(task):
    words, outputs = command(test.qfz, task, "src.tif", "out", ".vrt", *TILE)
    kills = 0
    n_rounds = 1 + ("simplify" in task) + (task in FILTERED) + (task in TREES)
    rounds = ["summarise", "stitch"] * n_rounds + ["resolve"]
    for phase in rounds:
        parts = [0] if phase == "stitch" else list(range(1, PARTS + 1))
        test.random.shuffle(parts)
        for part in parts:
            own = ["--work", "work", "--phase", phase]
            own += ["--part", f"{part}/{PARTS}"] if part else []
            kills += test.lived([words[0], "run", *own, *words[1:]], 1, 0.1)
    return kills, outputs


def killed(name, way, want):
    clean()
    n_kills, results = way(name)
    what = f"{name}, {way.__name__}"
    for path, expected in zip(results, want):
        test.check(os.path.exists(path) and content(path) == expected,
                   f"{what}: {path} differs after {n_kills} kills")
    left = os.listdir("work") + [found for found in os.listdir(".") if found.startswith(".out")]
    test.check(sorted(left) == ["done", "job"], f"{what}: left behind: {left}")
    return n_kills


def files_of(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}


def other_version():
    """Journals of version 10 have mass and range events in another form."""
    clean()
    words = [test.qfz, "label", "--min-area", "5", *TILE, "--work", "work", "src.tif", "out.tif"]
    status, _, err = run([*words, "--phase", "summarise", "--part", "1/1"])
    test.check(status == 0, f"other version: {err}")
    now = files_of("work")["job"]
    for version in ("1.0.0, journal 10", "0.9.0, journal 11"):
        with open("work/job", "wb") as file:
            file.write(f"version\t{version}\n".encode() + now.split(b"\n", 1)[1])
        before = files_of("work")
        test.check(before["job"] != now, f"{version} is this one")
        status, _, err = run([*words, "--resume"])
        test.check(status == 1 and f"written by another version of qfz, {version}; this is" in err and "remove the folder" in err,
                   f"other version: {status}: {err}")
        test.check(files_of("work") == before and not os.path.exists("out.tif"), f"{version}: files are altered")


WAYS = (by_ranks, by_other_ranks) if RANKS else (single, in_phases)
kinds = [(name, way) for name in (*TASKS, *FILTERED, *MAPS, *TREES, *TARGETS, *LISTS) for way in WAYS
         if name not in (*TARGETS, *LISTS) or way != in_phases]
wanted = {task: reference(task) for task in dict(kinds)}
done = dict.fromkeys((way.__name__ for _, way in kinds), 0)
for turn in range(100):
    task_name, how = kinds[turn % len(kinds)]
    done[how.__name__] += killed(task_name, how, wanted[task_name])
    if sum(done.values()) >= MOMENTS:
        break
print("kills:", done)
test.check(min(done.values()) > 0, f"some jobs were never killed: {done}")
if not RANKS:
    other_version()
test.finish()

# SPDX-License-Identifier: MIT
"""kill.py QFZ [SEED [MOMENTS]]: runs that are killed at random moments go on, and end with the
bytes of one that was not."""
import os
import shutil
import sys
import time

from batch import TASKS, Test, command, content, kill_all, need, patches, run, start, write_raster

need("gdal_translate", "gdalinfo")
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
MOMENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 30
test = Test(sys.argv[1], SEED)
write_raster("src.tif", patches(test.random, 400, 300), 400, ["-a_nodata", "0"])
TILE = ["--tile", "24", "-j", "2"]


def reference(task):
    words, outputs = command(test.qfz, task, "src.tif", "whole_" + task, ".tif", *TILE)
    began = time.time()
    status, _, err = run(words)
    test.check(status == 0, f"{task}: {err}")
    return [content(path) for path in outputs], time.time() - began


def clean():
    shutil.rmtree("work", ignore_errors=True)
    for name in os.listdir("."):
        if name.startswith(("out", ".out")):
            os.remove(name)


def killed_run(task, want, seconds):
    """Killed as often as it takes to get a few, then left to end."""
    clean()
    words, outputs = command(test.qfz, task, "src.tif", "out", ".tif", "--work", "work", "--resume",
                             *TILE)
    kills = 0
    while kills < 3:
        process = start(words)
        time.sleep(test.random.random() * seconds * 1.3)
        over = process.poll() is not None
        kill_all(process)
        kills += 1
        if over:
            break
    status, _, err = run(words)
    test.check(status == 0, f"{task}: status {status} after {kills} kills: {err}")
    for path, expected in zip(outputs, want):
        test.check(os.path.exists(path) and content(path) == expected,
                   f"{task}: {path} differs after {kills} kills")
    left = os.listdir("work") + [name for name in os.listdir(".") if name.startswith(".out")]
    test.check(sorted(left) == ["done", "job"], f"{task}: left behind: {left}")
    return kills


wanted = {task: reference(task) for task in TASKS}
done = 0
while done < MOMENTS:
    for task, (want, seconds) in wanted.items():
        done += killed_run(task, want, seconds)
print(done, "kills")
test.finish()

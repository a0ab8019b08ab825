# SPDX-License-Identifier: MIT
"""targets.py QFZ ranks|alone [SEED]: a job with a largest number of regions that was stopped in its
curve, or after it, is refused as another job, or without --resume; it resumes, and ends as one that was not stopped."""
import json
import os
import shutil
import sys
import time

from batch import Test, content, kill_job, need, on_ranks, patches, ranks_of, run, start, write_raster

need("gdal_translate", "gdalinfo")
RANKS = on_ranks(sys.argv)
BEFORE = ranks_of(3) if RANKS else []
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
write_raster("src.tif", patches(test.random, 330, 270), 330, ["-a_nodata", "0"])
run([test.qfz, "saliency", "-q", "src.tif", "levels.tif"])
KINDS = {
    "label": ["label", "-q", "--json", "--regions-target", "900", "--min-area", "9", "SRC"],
    "cut": ["cut", "-q", "--json", "--regions-target", "2500", "levels.tif"],
}
OUTPUTS = ["out.tif", "out.csv"]


def words_of(kind, stem, *options):
    words = [word.replace("SRC", "src.tif") for word in KINDS[kind]]
    merge = ["--merge"] if RANKS else []
    return [*BEFORE, test.qfz, *words[:-1], *merge, *options, "--tile", "16", "-j", "1", "--regions",
            stem + ".csv", words[-1], stem + ".tif"]


def facts(out):
    found = json.loads(out)
    return found["alpha"], found["regions"], found["pixels"]


def clean():
    shutil.rmtree("work", ignore_errors=True)
    for name in OUTPUTS:
        if os.path.exists(name):
            os.remove(name)


def bytes_of(name):
    try:
        return os.path.getsize(name)
    except OSError: # not there yet, or no longer
        return 0


def stopped(words, journal):
    """False if the job was over before it was killed at work on this journal."""
    while True:
        clean()
        process = start(words)
        least = 2000 + test.random.randrange(10000)
        while bytes_of(journal) < least and process.poll() is None:
            time.sleep(0.001)
        kill_job(process, test.random)
        if os.path.exists("work/job") and not os.path.exists("work/done"):
            return


def refused(words, *parts):
    status, _, err = run(words)
    test.check(status == 1 and all(part in err for part in parts), f"{parts}: {status}: {err}")


def other_jobs(kind, words):
    again = [*words, "--resume"]
    number = words[words.index("--regions-target") + 1]
    other = list(again)
    other[other.index(number)] = "901"
    refused(words, "continue it with --resume")
    refused(other, f'holds another job, with largest number of regions "{number}" where this one has "901"')
    other[other.index("--regions-target"):other.index("901") + 1] = ["--alpha", "3"]
    refused(other, f'holds another job, with largest number of regions "{number}" where this one has ""')
    if kind == "label":
        other = list(again)
        other[other.index("9")] = "10"
        refused(other, "holds another job, with least area")
    test.check(not os.path.exists("out.tif"), f"{kind}: a refused job has an output")


def ends_well(kind, words, want, what):
    for turn in range(2): # the second time the job is complete
        made = [bytes_of(name) and os.stat(name).st_ino for name in OUTPUTS]
        status, out, err = run([*words, "--resume"])
        if test.check(status == 0, f"{what}: {status}: {err}"):
            test.check(facts(out) == want[0], f"{what}: {facts(out)} instead of {want[0]}")
        test.compare(OUTPUTS, want[1], what)
        test.check(sorted(os.listdir("work")) == ["done", "job"], f"{what}: left: {os.listdir('work')}")
        if turn == 1:
            test.check(made == [os.stat(name).st_ino for name in OUTPUTS], f"{what}: made twice")


def refused_before(kind):
    """An output that exists is seen before the curve begins."""
    clean()
    open("out.csv", "w", encoding="ascii").close()
    refused(words_of(kind, "out", "--work", "work"), "out.csv", "overwrite")
    test.check(not os.path.exists("work"), f"{kind}: a refused job has a work folder")


for name in KINDS:
    code, text, errors = run(words_of(name, "whole_" + name))
    if not test.check(code == 0, f"{name}: {errors}"):
        continue
    wanted = facts(text), [content(f"whole_{name}{path[3:]}") for path in OUTPUTS]
    line = words_of(name, "out", "--work", "work")
    first = "part-1-of-3.journal" if RANKS else "part-1-of-1.journal"
    for where in ("work/curve/" + first, "work/" + first, "work/pixels" + first[4:]):
        stopped(line, where)
        other_jobs(name, line)
        ends_well(name, line, wanted, f"{name}, stopped at {where}")
    refused_before(name)
clean()
refused([word for word in words_of("label", "out", "--work", "work", "--phase", "summarise", "--part", "1/2") if word not in BEFORE],
        "no phases", "phases of curve")
test.check(not os.path.exists("work"), "a refused phase has a work folder")
test.finish()

# SPDX-License-Identifier: MIT
"""alphas.py QFZ ranks|alone [SEED]: a job with a largest number of regions, stopped in its curve or after it, and
a job of several alphas are refused as other jobs, or without --resume; they resume, and end as jobs that were not stopped."""
import json
import os
import shutil
import sys
import time

from batch import Test, content, kill_job, need, on_ranks, patches, ranks_of, run, start, write_raster

need("gdal_translate", "gdalinfo")
RANKS = on_ranks(sys.argv)
BEFORE = ranks_of(3) if RANKS else []
PART = "1-of-3.journal" if RANKS else "1-of-1.journal"
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
VALUES = patches(test.random, 330, 270)
write_raster("src.tif", VALUES, 330, ["-a_nodata", "0"])
run([test.qfz, "saliency", "-q", "src.tif", "levels.tif"])


class Kind:
    """change: of the job into another one, with the words of the refusal."""

    def __init__(self, words, place, journals, changes):
        self.words = words
        self.names = [f"{place.replace('{alpha}', alpha)}{end}" for alpha in ("2", "5", "9") for end in (".tif", ".csv")]
        self.names = sorted(set(self.names))
        self.place, self.journals, self.changes = place, journals, changes

    def command(self, stem, *options):
        merge = ["--merge"] if RANKS else []
        return [*BEFORE, test.qfz, *self.words[:-1], "-q", "--json", *merge, *options, "--tile", "16", "-j", "1",
                "--regions", stem + self.place + ".csv", self.words[-1], stem + self.place + ".tif"]

    def outputs(self, stem):
        return [stem + name for name in self.names]


OF_TARGET = ["work/curve/part-" + PART, "work/part-" + PART, "work/pixels-" + PART]
NUMBER = 'with largest number of regions "{}" where this one has "{}"'
KINDS = {
    "label": Kind(["label", "--regions-target", "900", "--min-area", "9", "src.tif"], "", OF_TARGET,
                  [(("--regions-target", "901"), NUMBER.format(900, 901)),
                   (("--alpha", "3"), NUMBER.format(900, "")), (("--min-area", "10"), "with least area")]),
    "cut": Kind(["cut", "--regions-target", "2500", "levels.tif"], "", OF_TARGET,
                [(("--regions-target", "2501"), NUMBER.format(2500, 2501))]),
    "list": Kind(["label", "--alpha", "2,5,9", "--min-area", "9", "src.tif"], "_{alpha}",
                 ["work/filter-part-" + PART, "work/alpha-3-part-" + PART, "work/alpha-2-pixels-" + PART],
                 [(("--alpha", "2,5,8"), 'with alpha "2,5,9" where this one has "2,5,8"'),
                  (("--alpha", "2,9,5"), 'with alpha "2,5,9" where this one has "2,9,5"'),
                  (("--alpha", "2,5"), 'with alpha "2,5,9" where this one has "2,5"'),
                  (("--min-area", "10"), "with least area")]),
    "list of cut": Kind(["cut", "--alpha", "9,2,5", "levels.tif"], "_{alpha}",
                        ["work/alpha-2-part-" + PART, "work/pixels-" + PART], []),
}


def facts(out):
    found = json.loads(out)
    return [found.get(name) for name in ("alpha", "alphas", "regions", "pixels")]


def clean(kind):
    shutil.rmtree("work", ignore_errors=True)
    for name in kind.outputs("out"):
        if os.path.exists(name):
            os.remove(name)


def bytes_of(name):
    try:
        return os.path.getsize(name)
    except OSError: # not there yet, or no longer
        return 0


def stop(kind, journal):
    """Kills the job when it is at work on this journal."""
    while True:
        clean(kind)
        process = start(kind.command("out", "--work", "work"))
        least = 500 + test.random.randrange(10000)
        while bytes_of(journal) < least and process.poll() is None:
            time.sleep(0.001)
        kill_job(process, test.random)
        if os.path.exists("work/job") and not os.path.exists("work/done"):
            return


def refused(words, *parts):
    status, _, err = run(words)
    test.check(status == 1 and all(part in err for part in parts), f"{parts}: {status}: {err}")


def other_jobs(kind, what):
    words = kind.command("out", "--work", "work", "--resume")
    refused([word for word in words if word != "--resume"], "continue it with --resume")
    for (option, value), why in kind.changes:
        other = list(words)
        at = other.index(option if option in other else "--regions-target")
        other[at:at + 2] = [option, value]
        refused(other, "holds another job, " + why)
    test.check(not os.path.exists(kind.outputs("out")[0]), f"{what}: a refused job has an output")


def inodes(names):
    return [os.path.exists(name) and os.stat(name).st_ino for name in names]


def ends_well(kind, want, what):
    """The folder has the size of the tiles."""
    names = kind.outputs("out")
    words = kind.command("out", "--work", "work", "--resume")
    at = words.index("--tile")
    for turn in range(2): # the second time the job is complete
        made = inodes(names)
        status, out, err = run(words[:at] + words[at + 2:])
        if test.check(status == 0, f"{what}: {status}: {err}"):
            test.check(facts(out) == want[0], f"{what}: {facts(out)} instead of {want[0]}")
        test.compare(names, want[1], what)
        test.check(sorted(os.listdir("work")) == ["done", "job"], f"{what}: left: {os.listdir('work')}")
        if turn == 1:
            test.check(made == inodes(names), f"{what}: made twice")


def stopped_while_named(kind, want, what):
    """As a process leaves the folder that is killed when all outputs but one have their names."""
    if not test.check(os.path.exists("work/done"), f"{what}: not complete"):
        return
    os.remove("work/done")
    os.remove(kind.outputs("out")[0])
    with open("work/finishing", "w", encoding="ascii") as file:
        file.write(f"parts\t{3 if RANKS else 1}\n")
    ends_well(kind, want, f"{what}, stopped while outputs get their names")


def made_again(kind, want, what):
    """A complete job whose last output is lost."""
    lost = kind.outputs("out")[-1]
    os.remove(lost)
    refused(kind.command("out", "--work", "work", "--resume"), "overwrite")
    status, _, err = run(kind.command("out", "--work", "work", "--resume", "--overwrite"))
    test.check(status == 0, f"{what}, without {lost}: {err}")
    test.compare(kind.outputs("out"), want[1], f"{what}, made again")


def refused_before(kind, what):
    """An output that exists is seen before the first pass."""
    clean(kind)
    there = kind.outputs("out")[-2]
    open(there, "w", encoding="ascii").close()
    refused(kind.command("out", "--work", "work"), there, "overwrite")
    test.check(not os.path.exists("work"), f"{what}: a refused job has a work folder")
    clean(kind)


def no_phases(kind, what, why):
    words = kind.command("out", "--work", "work", "--phase", "summarise", "--part", "1/2")
    refused(words[len(BEFORE):], "no phases", why)
    test.check(not os.path.exists("work"), f"{what}: a refused phase has a work folder")


def not_read_again(kind, want, what):
    """No alpha lacks the first tile: the resumed job does not read the tile, whose pixels have changed meanwhile."""
    while bytes_of("work/alpha-3-pixels-" + PART) < 2000:
        stop(kind, "work/alpha-3-pixels-" + PART)
    stat = os.stat("src.tif")
    with open("src.tif", "r+b") as file:
        row = bytes(VALUES[:330])
        at = file.read().index(row)
        file.seek(at)
        file.write(bytes(value + 1 for value in row[:10]))
        file.flush()
        os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        ends_well(kind, want, f"{what}, other pixels in the first tile")
        file.seek(at)
        file.write(row)
    os.utime("src.tif", ns=(stat.st_atime_ns, stat.st_mtime_ns))


def more_files_than_shells_permit():
    """Forty alphas keep eighty journals open."""
    alphas = ",".join(map(str, range(1, 41)))
    words = ["sh", "-c", 'ulimit -S -n 64; exec "$@"', "sh", test.qfz, "label", "-q", "--work", "work", "--alpha", alphas,
             "src.tif", "many_{alpha}.tif"]
    status, _, errors = run(words)
    test.check(status == 0, f"forty alphas: {status}: {errors}")


if not RANKS:
    more_files_than_shells_permit()
# On ranks, cut differs from label in what it reads, and in nothing else.
for title, each in KINDS.items():
    if RANKS and "cut" in title:
        continue
    whole = "whole_" + title.replace(" ", "_")
    code, text, errors = run(each.command(whole))
    if not test.check(code == 0, f"{title}: {errors}"):
        continue
    wanted = facts(text), [content(path) for path in each.outputs(whole)]
    for where in each.journals:
        stop(each, where)
        other_jobs(each, title)
        ends_well(each, wanted, f"{title}, stopped at {where}")
    if title == "list":
        not_read_again(each, wanted, title)
    stopped_while_named(each, wanted, title)
    made_again(each, wanted, title)
    refused_before(each, title)
    no_phases(each, title, "start a job for each alpha" if "list" in title else "phases of curve")
test.finish()

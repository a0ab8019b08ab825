# SPDX-License-Identifier: MIT
"""parts.py QFZ ranks|alone [SEED]: jobs on 1, 2, 3, 4 and 7 ranks, as a VRT and merged, or in
phases with parts in any order, give the bytes of one process."""
import json
import os
import sys

from batch import (FILTERED, MAPS, TASKS, TREES, Test, command, content, in_phase, need, on_ranks, patches, ranks_of, run,
                   write_raster)

need("gdal_translate", "gdalinfo", "ogr2ogr")
RANKS = on_ranks(sys.argv)
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
write_raster("src.tif", patches(test.random, 330, 290), 330, ["-a_nodata", "0"])
TILE = ["--tile", "32", "-j", "1"]
ONE_TILE = ["--tile", "512", "-j", "1"]
ALL = {**TASKS, **MAPS, **TREES}


def stem_of(first, task):
    return first + "_" + task.replace(" ", "_")


def runs(words, what):
    status, out, err = run(words)
    return test.check(status == 0, f"{what}: status {status}: {err}")


def references():
    wanted = {}
    for task in ALL:
        words, outputs = command(test.qfz, task, "src.tif", stem_of("whole", task), ".tif", *TILE)
        runs(words, task)
        wanted[task] = [content(path) for path in outputs]
    return wanted


def left_over(expected):
    found = [name for name in os.listdir(".") if name.startswith((".", "edges", "r"))]
    test.check(not found, f"{expected}: left behind: {found}")


def by_ranks(wanted):
    for n in (1, 2, 3, 4, 7):
        for i, task in enumerate(ALL):
            merged = (n + i) % 2 == 0
            extension, extra = (".tif", ["--merge"]) if merged else (".vrt", [])
            stem = stem_of(f"n{n}", task)
            words, outputs = command(test.qfz, task, "src.tif", stem, extension, *extra, *TILE)
            what = f"{task} on {n} ranks" + (", merged" if merged else "")
            if runs(ranks_of(n) + words, what):
                test.compare(outputs, wanted[task], what)
    left_over("ranks")


def count_in_parts(task, own, n_summaries, want):
    """want: numbers of the report by name."""
    words = [task, "-q", *own, *TILE, "--count-only", "src.tif"]

    def check(before, what):
        status, out, err = run([*before, *words])
        good = status == 0 and {name: json.loads(out)[name] for name in want} == want
        test.check(good, f"{task}, {what}: status {status}, not {want}: {out} {err}")

    if RANKS:
        for n in (1, 2, 7):
            check([*ranks_of(n), test.qfz], f"counted on {n} ranks")
        return
    in_parts = [test.qfz, "run", "--work", f"count_{task}_{n_summaries}", "--phase"]
    for name in ("summarise", "stitch") * n_summaries:
        for part in ("2/3", "1/3", "3/3") if name == "summarise" else ("",):
            run([*in_parts, name, *(["--part", part] if part else []), *words])
    check([*in_parts, "resolve", "--part", "2/3"], "counted in phases")


def counted():
    """Regions by number only: as many as the table has rows."""
    for task in ("label", "simplify"):
        with open(f"whole_{task}.csv", encoding="utf-8") as rows:
            want = len(rows.readlines()) - 1
        own = [word for word in TASKS[task][0][1:] if "{stem}" not in word]
        own = [word for word in own if word not in ("--regions", "--labels")]
        count_in_parts(task, own, 2 if task == "simplify" else 1, {"regions": want})


def wide():
    """Pixels in regions that exceed omega: as many as of one tile, which counts them at once."""
    own = FILTERED["filtered simplify"][0][1:]
    status, out, err = run([test.qfz, "simplify", "-q", *own, *ONE_TILE, "--json", "src.tif",
                            "one_tile.tif"])
    if not test.check(status == 0, f"filtered simplify: status {status}: {err}"):
        return
    want = {name: json.loads(out)[name] for name in ("regions", "pixels", "wide_pixels")}
    test.check(0 < want["wide_pixels"] < want["pixels"], f"a test of nothing: {want}")
    test.check("exceed --omega" in err, f"no warning: {err}")
    count_in_parts("simplify", own, 3, want)
    job = [test.qfz, "simplify", "-q", *own, *TILE, "--json", "--work", "wide", "--resume",
           "src.tif", "wide.tif"]
    for what in ("a job", "the same job, complete"):
        status, out, err = run(job)
        good = status == 0 and {name: json.loads(out)[name] for name in want} == want
        test.check(good, f"{what}: status {status}, not {want}: {out} {err}")


def layouts():
    """Rasters that one process makes of all parts; of one tile, which one process alone has seen."""
    for layout in ("pixel", "khalimsky"):
        words = [test.qfz, "saliency", "-q", "--layout", layout, "src.tif"]
        runs([*words, *TILE, f"whole_{layout}.tif"], layout)
        want = content(f"whole_{layout}.tif")
        for tile in (TILE, ONE_TILE):
            for out in (f"{layout}_{tile[1]}.vrt", f"{layout}_{tile[1]}.tif"):
                if runs([*ranks_of(3), *words, *tile, out], f"{layout} on 3 ranks"):
                    test.check(content(out) == want, f"{layout} on 3 ranks: {out} differs")
    words = [test.qfz, "saliency", "-q", "--merge", *ONE_TILE, "src.tif", "one.tif"]
    runs(ranks_of(3) + words, "one tile on 3 ranks")
    runs([test.qfz, "saliency", "-q", *TILE, "src.tif", "one_whole.tif"], "saliency")
    test.check(content("one.tif") == content("one_whole.tif"), "saliency of one tile on 3 ranks differs")
    words = [test.qfz, "saliency", "-q", *TILE, "--layout", "khalimsky", "src.tif"]
    left_over("layouts")
    with open("taken.tif.edges.vrt", "w", encoding="ascii") as other:
        other.write("another's")
    status, _, err = run(ranks_of(3) + words + ["taken.tif"])
    test.check(status == 1 and "taken.tif.edges.vrt: already exists" in err,
               f"khalimsky: status {status}: {err}")
    with open("taken.tif.edges.vrt", encoding="ascii") as other:
        test.check(other.read() == "another's", "khalimsky: edges took the place of a file")
    left_over("an edges' name that is taken")


def attributes():
    """The attribute table of three ranks' merged labels."""
    def table_of(path):
        with open(path + ".aux.xml", encoding="utf-8") as xml:
            return xml.read().split("<GDALRasterAttributeTable")[1]

    words = [test.qfz, "label", "-q", *TILE, "--alpha", "5", "--regions", "table_rat.csv", "--attribute-table", "src.tif"]
    runs([*words, "whole_rat.tif"], "an attribute table")
    os.remove("table_rat.csv")
    if runs([*ranks_of(3), *words, "--merge", "parts_rat.tif"], "an attribute table of 3 ranks"):
        test.check(table_of("parts_rat.tif") == table_of("whole_rat.tif"), "an attribute table of 3 ranks differs")
    os.remove("table_rat.csv")
    left_over("an attribute table")


def cloud_optimized(wanted):
    """The parts of three ranks as one COG."""
    words, outputs = command(test.qfz, "label", "src.tif", "cog_label", ".tif", "--merge", "-of",
                             "COG", *TILE)
    if runs(ranks_of(3) + words, "a COG of 3 ranks"):
        test.compare(outputs, wanted["label"], "a COG of 3 ranks")
        _, info, _ = run(["gdalinfo", outputs[0]])
        test.check("LAYOUT=COG" in info, f"no COG: {info}")
    left_over("a COG")


def in_phases(task, n, wanted, times=1, tile=TILE):
    """Parts in a random order; each process several times, as one that is killed as it ends."""
    stem = stem_of(f"p{n}_{tile[1]}", task)
    words, outputs = command(test.qfz, task, "src.tif", stem, ".vrt", *tile)

    def phase(name, part=0):
        return in_phase(words, name, "work_" + stem, part, n)

    def all_parts(name):
        parts = list(range(1, n + 1))
        test.random.shuffle(parts)
        for part in parts * times:
            runs(phase(name, part), f"{task}: {name} {part}/{n}")

    def stitch():
        for _ in range(times):
            runs(phase("stitch"), f"{task}: stitch")

    status, _, err = run(phase("resolve", n))
    test.check(status == 1 and "summarise" in err, f"{task}: resolve first: {err}")
    all_parts("summarise")
    stitch()
    if ("simplify" in task or task in TREES) and tile is TILE:  # of one tile nothing is left to be asked
        status, _, err = run(phase("resolve", n))
        test.check(status == 1 and "summarise" in err, f"{task}: resolve too early: {err}")
        all_parts("summarise")
        stitch()
    all_parts("resolve")
    test.compare(outputs, wanted[task], f"{task} in phases, {n} parts")
    test.check(sorted(os.listdir("work_" + stem)) == ["done", "job"],
               f"{task}: {os.listdir('work_' + stem)}")
    left_over("phases")


def other_number(task, n_processes, wanted):
    """A job begun in three parts: another number of parts is refused, and the remedy that the message names gives
    the same bytes, whether the parts have been resolved or not."""
    for resolved in (0, 1):
        stem = stem_of(f"other{n_processes}_{resolved}", task)
        words, outputs = command(test.qfz, task, "src.tif", stem, ".vrt")
        steps = [("summarise", 1), ("summarise", 2), ("summarise", 3)]
        if resolved:
            steps = [*steps, ("stitch", 0)] * (2 if task == "simplify" else 1) + [("resolve", 1)]
        for name, part in steps:
            runs([*in_phase(words, name, "work_" + stem, part, 3), *TILE], f"{task}: {name} {part}/3")
        status, _, err = run(in_phase(words, "summarise", "work_" + stem, 1, 2))
        test.check(status == 1 and "begun in 3 parts, now 2" in err and "leave out --phase and --part: with --resume" in err,
                   f"{task}, two parts after three: status {status}: {err}")
        what = f"{task}, begun in three parts, on {n_processes} processes"
        if runs([*ranks_of(n_processes), *words, "-j", "1", "--work", "work_" + stem, "--resume"], what):
            test.compare(outputs, wanted[task], what)
        test.check(sorted(os.listdir("work_" + stem)) == ["done", "job"], f"{what}: {os.listdir('work_' + stem)}")
    left_over("another number")


want = references()
counted()
wide()
if RANKS:
    by_ranks(want)
    layouts()
    attributes()
    cloud_optimized(want)
    other_number("simplify", 2, want)
else:
    other_number("label", 1, want)
    other_number("simplify", 1, want)
    for parts in (1, 3, 11):
        for name in TASKS if parts == 1 else ALL:
            in_phases(name, parts, want, times=2 if parts == 3 else 1)
    for name in ALL:
        in_phases(name, 3, want, tile=ONE_TILE)
test.finish()

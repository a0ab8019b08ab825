# SPDX-License-Identifier: MIT
"""engines.py QFZ ranks|alone [SEED]: jobs whose ranks, or whose phases, use different engines give the
bytes of one process with the CPU engine.  Skipped where there is no GPU."""
import re
import sys

from batch import (EDGES, TASKS, TREES, Test, command, content, in_phase, need, on_ranks, patches, ranks_of,
                   run, write_raster)

need("gdal_translate", "gdalinfo")
RANKS = on_ranks(sys.argv)
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
write_raster("src.tif", patches(test.random, 150, 130), 150, ["-a_nodata", "0"])
TILE = ["--tile", "48", "-j", "1"]
ENGINES = ("cuda", "cpu")
FILTER = ["--min-area", "9"]
TREE_METHODS = {"saliency": ("connect-v1", "connect-v2"), "simplify": ("connect-v2", "connect-v1")}


def by(engine, words, method=None):
    own = ["--method", method] if method and engine == "cuda" else []
    return [*words[:2], "--engine", engine, *own, *words[2:]]


def runs(words, what):
    status, out, err = run(words, 300)
    return test.check(status == 0, f"{what}: status {status}: {err}{out}")


def named(task, options):
    return task.replace(" ", "_") + ("_filtered" if options else "")


def reference(task, options):
    stem = "whole_" + named(task, options)
    words, outputs = command(test.qfz, task, "src.tif", stem, ".tif", *TILE, *options)
    runs(by("cpu", words), task)
    return [content(path) for path in outputs]


def by_ranks(task, options, wanted, n, n_cuda, method=None):
    """The first n_cuda of n ranks with the CUDA engine, by a published method if one is given."""
    before = ranks_of(n)
    stem = f"n{n}_{n_cuda}_{named(task, options)}_{method}"
    words, outputs = command(test.qfz, task, "src.tif", stem, ".vrt", *TILE, *options)
    launch = before[:-1] if n > 1 else []
    first = [*launch, *([str(n_cuda)] if n > 1 else []), *by("cuda", words, method)]
    rest = [":", "-n", str(n - n_cuda), *by("cpu", words)] if n_cuda < n else []
    what = f"{named(task, options)}, {n_cuda} of {n} ranks with CUDA, {method}"
    if runs(first + rest, what):
        test.compare(outputs, wanted, what)


def in_phases(task, wanted, n, method=None):
    """The parts of a job by one engine and the other in turn, as on nodes that differ."""
    stem = f"p{n}_{named(task, [])}_{method}"
    words, outputs = command(test.qfz, task, "src.tif", stem, ".vrt", *TILE)
    turn = 0

    def phase(name, part=0):
        nonlocal turn
        turn += 1
        job = in_phase(by(ENGINES[turn % 2], words, method), name, "work_" + stem, part, n)
        runs(job, f"{task}: {name} {part}/{n}")

    n_rounds = 2 if "simplify" in task or "tree" in task else 1
    for name in ("summarise", "stitch") * n_rounds + ("resolve",):
        for part in range(1, n + 1) if name != "stitch" else (0,):
            phase(name, part)
    test.compare(outputs, wanted, f"{task} in phases, {n} parts")


def several_alphas(task, *options):
    """Outputs for each of several alphas, of one job by each engine."""
    alphas = ("0", "2", "4.5")
    wanted = None
    for engine, stem in (("cpu", "one"), ("cuda", "other")):
        names = [f"{stem}_{task}_{{alpha}}.tif"]
        tables = [f"{stem}_{task}_{{alpha}}.csv"] if task != "simplify" else []
        words = [test.qfz, task, "-q", *TILE, "--alpha", ",".join(alphas), *options]
        words += [word for table in tables for word in ("--regions", table)]
        outputs = [name.format(alpha=alpha) for alpha in alphas for name in names + tables]
        what = f"{task} of several alphas by {engine}"
        if not runs([*words[:2], "--engine", engine, *words[2:], "other.tif" if task != "cut" else "levels_8.tif",
                     *names, "--overwrite"], what):
            continue
        got = [content(path) for path in outputs]
        wanted = wanted or got
        for path, one, other in zip(outputs, wanted, got):
            test.check(one == other, f"{what}: {path} differs")


def curve_of(*options):
    return [test.qfz, "curve", "-q", "--format", "csv", "--connectivity", "8", *TILE, *options, "src.tif"]


def printed(words, what):
    status, out, err = run(words, 300)
    test.check(status == 0, f"{what}: status {status}: {err}")
    return out


def curve_by_ranks(options, wanted, n, n_cuda):
    """The first n_cuda of n ranks with the CUDA engine."""
    words = curve_of(*options)
    launch = ranks_of(n)[:-1] + [str(n_cuda)] if n > 1 else []
    rest = [":", "-n", str(n - n_cuda), *by("cpu", words)] if n_cuda < n else []
    what = f"curve {options}, {n_cuda} of {n} ranks with CUDA"
    out = printed(launch + by("cuda", words) + rest, what)
    test.check(out == wanted, f"{what}: another curve")


def curve_in_phases(options, wanted, n):
    """The parts by one engine and the other in turn."""
    work = f"work_curve_{len(options)}"
    out = ""
    for name in ("summarise", "stitch"):
        for part in range(1, n + 1) if name == "summarise" else (0,):
            job = in_phase(by(ENGINES[part % 2], curve_of(*options)), name, work, part, n)
            out = printed(job, f"curve {options}: {name} {part}/{n}")
    test.check(out == wanted, f"curve {options} in {n} parts: another curve")


there, _, reason = run(by("cuda", [test.qfz, "label", "--count-only", "src.tif"]))
if there != 0 and re.search("GPU|CUDA", reason):
    test.skip(reason.strip())
write_raster("other.tif", patches(test.random, 150, 130), 150, ["-a_nodata", "0"])
for neighbours in ("4", "8"):
    runs([test.qfz, "saliency", "-q", "--engine", "cpu", "--connectivity", neighbours, "other.tif",
          f"levels_{neighbours}.tif"], "levels of edges")
for job in (*TASKS, *EDGES):
    for extra in ([], FILTER):
        want = reference(job, extra)
        if RANKS:
            some = ((1, 1), (3, 2)) if extra or job in EDGES else ((1, 1), (2, 1), (3, 2), (4, 4), (7, 3))
            for ranks, cuda_ranks in some:
                by_ranks(job, extra, want, ranks, cuda_ranks)
        elif extra:
            by_ranks(job, extra, want, 1, 1)
        else:
            in_phases(job, want, 3)
        for method in TREE_METHODS.get(job, ()):
            by_ranks(job, extra, want, 3 if RANKS else 1, 2 if RANKS else 1, method)
        if not RANKS and not extra and job in TREE_METHODS:
            in_phases(job, want, 2, TREE_METHODS[job][0])
for job in TREES:
    for extra in ([], ["--edges", "levels_8.tif"]):
        if extra:
            extra = extra if job != "tree" else [*extra, "--connectivity", "8"]
        want = reference(job, extra)
        if RANKS:
            for ranks, cuda_ranks in ((1, 1), (3, 2), (4, 4)):
                by_ranks(job, extra, want, ranks, cuda_ranks)
        elif extra:
            by_ranks(job, extra, want, 1, 1)
            by_ranks(job, [*extra, "--gpus", "0", "--gpu-memory", "4MB", "--overwrite"], want, 1, 1)
        else:
            in_phases(job, want, 3)
if not RANKS:
    several_alphas("label")
    several_alphas("label", *FILTER)
    several_alphas("simplify", "--omega", "9", "--connectivity", "8")
    several_alphas("cut")
for extra in ([], FILTER, ["--distance", "l2", "--nodata", "3"], ["--edges", "levels_8.tif"]):
    want = printed(by("cpu", curve_of(*extra)), "curve")
    test.check(len(want.splitlines()) > 5, f"curve {extra}: {want}")
    if RANKS:
        for ranks, cuda_ranks in ((1, 1), (3, 2), (4, 4)):
            curve_by_ranks(extra, want, ranks, cuda_ranks)
    elif extra == FILTER:
        curve_by_ranks(extra, want, 1, 1)
        got = printed(by("cuda", curve_of(*extra)) + ["--gpus", "0", "--gpu-memory", "4MB"], "4 MB")
        test.check(got == want, "curve within 4 MB of a GPU: another curve")
    else:
        curve_in_phases(extra, want, 3)
# The CUDA engine has no curve of integers of 32 bits, but labels them.
runs(["gdal_translate", "-q", "-ot", "Int32", "src.tif", "wide.tif"], "32 bits")
runs(by("cuda", [test.qfz, "label", "--count-only", "--regions-target", "30", "wide.tif"]),
     "labels by CUDA, a curve by the CPU")
want = reference("zones", [])
for place, name in enumerate(("stava", "c2fl", "ha4", "ha4-32")):
    if RANKS:
        by_ranks("zones", [], want, 2 + place % 2, 1 + place // 2, name)
    else:
        in_phases("zones", want, 2 + place % 2, name)
test.finish()

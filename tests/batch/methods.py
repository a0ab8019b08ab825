# SPDX-License-Identifier: MIT
"""methods.py QFZ refused|labels [SEED]: published methods by --method.  refused: a job that a method
cannot do ends with one line that has the reason and the remedy, also where there is no GPU.  labels:
on several tiles a method gives the bytes of --engine cpu; skipped where there is no GPU."""
import re
import sys

from batch import Test, content, need, patches, run, write_raster

METHODS = ("stava", "c2fl", "ha4", "ha4-32")
TYPES = (("Byte", []), ("UInt16", ["0", "65535"]), ("Int16", ["-32768", "32767"]),
         ("UInt32", ["0", "4294967295"]), ("Int32", ["-2147483648", "2147483647"]))

need("gdal_translate")
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
qfz = test.qfz


def refuse(what, reason, *words):
    status, out, err = run([qfz, *words])
    test.check(status != 0 and out == "", f"{what}: status {status}, {out}")
    test.check(len(err.splitlines()) == 1 and re.search(reason, err) is not None
               and re.search("leave --method out|use another|CPU engine", err) is not None,
               f"{what}: {err}")


def refusals():
    write_raster("byte.tif", patches(test.random, 20, 20), 20)
    run(["gdal_translate", "-q", "-ot", "Float32", "byte.tif", "float.tif"])
    run(["gdal_translate", "-q", "-b", "1", "-b", "1", "byte.tif", "bands.tif"])
    for method in METHODS:
        for what, reason, words in (
                ("a float", "floating-point rasters", ["float.tif"]),
                ("bands", "more than one band", ["bands.tif"]),
                ("an alpha", "an alpha above 0", ["--distance", "l1", "--alpha", "2", "byte.tif"]),
                ("weights", "weights", ["--distance", "l1", "--alpha", "0", "--weights", "2",
                                        "byte.tif"]),
                ("a least area", "a least area", ["--min-area", "5", "byte.tif"]),
                ("several alphas", "--method", ["--distance", "l1", "--alpha", "0,1", "byte.tif"]),
                ("the CPU", "CPU engine takes none of", ["--engine", "cpu", "byte.tif"])):
            several = what == "several alphas"
            refuse(f"{what} by {method}", reason, "label", "--method", method, *words,
                   "out_{alpha}.tif" if several else "out.tif")
            if not several:
                refuse(f"{what}, counted by {method}", reason, "label", "--count-only",
                       "--method", method, *words)
    status, _, err = run([qfz, "label", "--method", "connect-v1", "byte.tif", "out.tif"])
    test.check(status == 2 and "ha4-32" in err, f"connect-v1: {status}, {err}")


def compare(method, source, options, what):
    tiles = ["--tile", "37"]
    names = [f"{method}.tif", f"{method}.csv"]
    command = [qfz, "label", *options]
    status, _, err = run([*command, *tiles, "--method", method, "--regions", names[1], source,
                          names[0], "--overwrite"], 300)
    if test.check(status == 0, f"{what}: status {status}: {err}"):
        test.compare(names, [content(path) for path in ("cpu.tif", "cpu.csv")], what)
    counts = []
    for words in (["--engine", "cpu"], ["--method", method, *tiles]):
        _, out, err = run([*command, "--count-only", *words, source], 300)
        counts.append(re.findall(r'"(?:regions|pixels)": \d+', out) or err)
    test.check(len(counts[0]) == 2 and counts[0] == counts[1], f"{what}: {counts}")


def labels():
    write_raster("byte.tif", patches(test.random, 113, 90), 113)
    there, _, reason = run([qfz, "label", "--count-only", "--method", "ha4", "byte.tif"])
    if there != 0 and re.search("GPU|CUDA", reason):
        test.skip(reason.strip())
    for name, scale in TYPES:
        words = ["-scale", "0", "255", *scale] if scale else []
        run(["gdal_translate", "-q", "-ot", name, *words, "byte.tif", "in.tif"])
        connectivity = test.random.choice(("4", "8"))
        options = ["--connectivity", connectivity, "-q"]
        status, _, err = run([qfz, "label", *options, "--engine", "cpu", "--overwrite",
                              "--regions", "cpu.csv", "in.tif", "cpu.tif"], 300)
        if not test.check(status == 0, f"{name}: {err}"):
            continue
        for method in METHODS:
            compare(method, "in.tif", options, f"{method}, {name}, {connectivity}-connected")


(refusals if sys.argv[2] == "refused" else labels)()
test.finish()

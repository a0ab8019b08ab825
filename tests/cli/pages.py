# SPDX-License-Identifier: MIT
"""pages.py QFZ MAKE_SCENE SOURCE: runs the commands and programs of the user's pages as they stand.  Those of the tutorial, and of
the pages that show its scene, make the numbers that the pages name; those of other pages run on a part of the scene.  Pages that
have tests of their own: clusters, edges, the hierarchy as a table, exploring, object storage, Python."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

QFZ, MAKE_SCENE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SKIPPED = 77
PAGES = SOURCE / "docs/user"

# Outputs of an earlier command of a page are replaced.
WRAPPER = f"""#!/bin/bash
case "$1 $*" in
*--count-only*|check*|info*|help*|completion*) exec {QFZ} "$@" ;;
*) exec {QFZ} "$@" --overwrite ;;
esac
"""

# Commands that need more than a shell: several processes, names that the reader replaces, a web page.
ELSEWHERE = re.compile(r"mpirun|quickstart|export PATH|qfz run|qfz explore|/vsi|XMIN|cmake")

SMALL = """
qfz label -q --distance linf --alpha 2 --regions regions.csv --polygons regions.gpkg scene.tif labels.tif
qfz regions -q --polygons regions.fgb labels.tif
qfz label -q --distance linf --alpha 9 scene.tif fields.tif
qfz saliency -q --distance linf scene.tif saliency.tif
gdal_translate -q -b 1 -ot Float32 scene.tif dem.tif
gdal_translate -q -b 2 -ot Float32 scene.tif ndvi.tif
gdal_translate -q -b 3 -ot UInt16 scene.tif landcover.tif
gdal_translate -q -b 1 -scale 0 40 0 1 scene.tif mask.tif
gdal_translate -q -of VRT scene.tif mosaic.vrt
gdal_translate -q -of VRT labels.tif labels.vrt
qfz label -q --connectivity 8 --background 0 mask.tif components_of_another_program.tif
"""


def find_python():
    for python in ("python3", "/usr/bin/python3"):
        there = subprocess.run([python, "-c", "from osgeo import gdal_array"], check=False, capture_output=True)
        if there.returncode == 0:
            return python
    print("skipped: needs NumPy and GDAL's Python")
    sys.exit(SKIPPED)


def run(command, text, where):
    """What the command printed."""
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{where}: exit status {done.returncode}\n{text}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def commands(block):
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip() and not ELSEWHERE.search(line)]


def blocks_of(path):
    return re.findall(r"^```(bash|sh|python)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)


def run_block(language, block, where):
    """How many commands there were, and what they printed."""
    if language == "python":
        return 1, run([PYTHON, "-W", "ignore", "-"], block, where)
    printed = [run(["bash", "-e"], command, where) for command in commands(block)]
    return len(printed), "".join(printed)


def run_page(path):
    ran = [run_block(*block, path.name) for block in blocks_of(path)]
    return sum(n for n, _ in ran), "".join(printed for _, printed in ran)


def page_numbers(text):
    """Numbers of regions that a page names."""
    return {number.replace(",", "") for number in re.findall(r"\b([0-9][0-9,]*) regions", text)}


def check_tutorial():
    page = PAGES / "tutorial.md"
    text = page.read_text(encoding="utf-8")
    n, printed = run_page(page)
    missing = page_numbers(text) - page_numbers(printed)
    sums = set(re.findall(r"Checksum=(\d+)", printed))
    assert not missing, f"{page.name}: no command printed {missing} regions"
    assert sums == set(re.findall(r"grep Checksum +# (\d+)", text)), f"{page.name}: checksums {sums}"
    rows = [",".join(row) for row in re.findall(r"^\| [a-z ]+ \| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)]
    assert rows == pathlib.Path("landcover.csv").read_text(encoding="ascii").split()[1:], f"{page.name}: table of classes"
    return n


def check_curve():
    page = PAGES / "curve.md"
    shutil.copy("hierarchy.tif", "saliency.tif")
    text = page.read_text(encoding="utf-8")
    n, printed = run_page(page)
    shown = re.search(r"^```text\n(.*?)^```$", text, re.M | re.S)[1].splitlines()
    lines = {line.strip() for line in printed.splitlines()}
    missing = [line for line in shown if line.strip() not in lines | {"", "..."}]
    assert not missing, f"{page.name}: no command printed {missing}"
    assert re.search(r"^prints (\d+),", text, re.M)[1] in lines, f"{page.name}: regions at alpha 8"
    return n


def check_parameters():
    """The numbers of regions of the tutorial's scene by alpha and omega."""
    page = PAGES / "parameters.md"
    text = page.read_text(encoding="utf-8")
    n, _ = run_page(page)
    curve = run(["qfz", "curve", "-q", "--distance", "linf", "--format", "csv", "scene.tif"], "", page.name)
    at = dict(line.split(",") for line in curve.splitlines())
    named = re.search(r"there are ([0-9, and]+) regions for alpha ([0-9, and]+), where\nalpha 0 gives ([0-9,]+)", text)
    pairs = list(zip(*(re.findall(r"[0-9][0-9,]*(?=,? |$)", part) for part in named.groups()[:2])))
    pairs = [(count.strip(","), alpha.strip(",")) for count, alpha in pairs] + [(named[3], "0")]
    assert len(pairs) == 6 and all(at[alpha] == count.replace(",", "") for count, alpha in pairs), f"{page.name}: {pairs}"
    for alpha, omega, count in re.findall(r"^\| alpha (\d+), omega (\d+) \|.*\| ([0-9,]+) \|$", text, re.M):
        found = run(["qfz", "simplify", "--distance", "linf", "--alpha", alpha, "--omega", omega, "--count-only", "scene.tif"], "",
                    page.name)
        assert f'"regions": {count.replace(",", "")},' in found, f"{page.name}: alpha {alpha}, omega {omega}"
    return n


def check_small(folder, page):
    """A page whose commands need rasters of any content; each of its blocks begins with the same files."""
    total = 0
    for block in blocks_of(page):
        shutil.rmtree("page", ignore_errors=True)
        shutil.copytree(folder, "page")
        os.chdir("page")
        total += run_block(*block, page.name)[0]
        os.chdir("..")
    return total


PYTHON = find_python()
with tempfile.TemporaryDirectory(prefix="qfz_pages_") as scratch:
    os.chdir(scratch)
    os.makedirs("bin")
    pathlib.Path("bin/qfz").write_text(WRAPPER, encoding="ascii")
    os.chmod("bin/qfz", 0o755)
    os.symlink(MAKE_SCENE, "bin/make_scene")
    os.environ["PATH"] = f"{scratch}/bin:{os.environ['PATH']}"
    total = check_tutorial() + check_curve() + check_parameters()
    os.makedirs("small")
    run(["gdal_translate", "-q", *"-b 1 -b 2 -b 3 -b 1".split(), "-srcwin", "900", "600", "120", "100", "scene.tif", "small/scene.tif"], "", "a part of the scene")
    os.chdir("small")
    run(["bash", "-e"], SMALL, "rasters")
    os.chdir("..")
    for name in ("check", "choosing", "options", "outputs", "polygons", "regions", "tables"):
        total += check_small("small", PAGES / f"{name}.md")
    print(f"{total} commands and programs of the pages")

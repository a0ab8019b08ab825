# SPDX-License-Identifier: MIT
"""docs.py QFZ ranks|alone [SEED]: runs the batch scripts of docs/user/cluster.md as they stand (those
that start ranks, or the others), with stand-ins for Slurm's commands, and compares the result with that of one
process; and compares the output of qfz info with the page."""
import os
import pathlib
import re
import subprocess
import sys

from batch import Test, content, need, on_ranks, patches, ranks_of, write_raster

need("bash", "gdal_translate", "gdalinfo")
RANKS = on_ranks(sys.argv)
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/user/cluster.md"
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
SCRATCH = os.getcwd()

# Options of srun are one word each, except -c; --mpi=none is a single process.  As srun of Slurm 22.05
# and newer, it does not take the number of cores from the batch script: a step without -c has one.
SRUN = """#!/bin/bash
launch="{launch}"
cores=
while [ "${{1#-}}" != "$1" ]; do
    case $1 in
    --mpi=none) launch= ;;
    -c) cores=$2; shift ;;
    esac
    shift
done
if [ -z "$cores" ]; then echo "srun: no -c, so a rank has one core" >&2; exit 9; fi
exec $launch "$@"
"""

# Runs a script at once, the tasks of an array one after the other, and prints the number of the job.
SBATCH = """#!/bin/bash
tasks=
while [ "${{1#-}}" != "$1" ]; do
    case $1 in --array=1-*) tasks=$(seq "${{1#--array=1-}}" | shuf) ;; esac
    shift
done
if [ -z "$tasks" ]; then bash "$@" || exit; fi
for task in $tasks; do SLURM_ARRAY_TASK_ID=$task bash "$@" || exit; done >>{scratch}/log 2>&1
echo 1234
"""

SCONTROL = """#!/bin/bash
echo "$@" >>{scratch}/requeued
"""

# Small tiles, so that every rank has some; and, where a file says so, an early end, or a failure of
# the third part of the phase that the file names.
QFZ = """#!/bin/bash
if [ -e {scratch}/fails ] && [[ " $* " = *" --phase $(cat {scratch}/fails) --part 3/"* ]]; then
    rm -f {scratch}/fails
    exit 1
fi
if [ -e {scratch}/preempt ]; then rm -f {scratch}/preempt; exit 75; fi
exec {qfz} "$@" --tile 48
"""


# Of the plan on the page; its pixels are never read.
LARGE = """<VRTDataset rasterXSize="262144" rasterYSize="262144">
  <VRTRasterBand dataType="Byte" band="1">
    <NoDataValue>0</NoDataValue>
    <SimpleSource>
      <SourceFilename relativeToVRT="1">mosaic.tif</SourceFilename>
      <SourceProperties BlockXSize="512" BlockYSize="512"/>
      <SrcRect xOff="0" yOff="0" xSize="262144" ySize="262144"/>
      <DstRect xOff="0" yOff="0" xSize="262144" ySize="262144"/>
    </SimpleSource>
  </VRTRasterBand>
</VRTDataset>
"""


def stand_in(name, text):
    launch = " ".join(ranks_of(2)) if RANKS else "false"
    os.makedirs("bin", exist_ok=True)
    with open("bin/" + name, "w", encoding="ascii") as out:
        out.write(text.format(scratch=SCRATCH, qfz=test.qfz, launch=launch))
    os.chmod("bin/" + name, 0o755)


def scripts_of(page):
    """name -> text, with this test's folder for /scratch/me."""
    with open(page, encoding="utf-8") as lines:
        blocks = re.findall(r"```bash\n(.*?)```", lines.read(), re.S)
    found = {}
    for block in blocks:
        name = re.match(r"#!/bin/bash\n# (\w+\.sh) - ", block)
        if test.check(name is not None, "a script without a name: " + block[:60]):
            found[name[1]] = (block.replace("/scratch/me", SCRATCH)
                              .replace("--engine cuda", "--engine cpu").replace("=32", "=5"))
    return found


def run_script(name):
    environment = dict(os.environ, PATH=SCRATCH + "/bin:" + os.environ["PATH"],
                       SLURM_CPUS_PER_TASK="1", SLURM_JOB_ID="77")
    done = subprocess.run(["bash", name], capture_output=True, text=True, timeout=300, check=False,
                          env=environment, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def compare(pairs, what):
    for path, want in pairs:
        test.check(os.path.exists(path) and content(path) == content(want), f"{what}: {path} differs")


def plan():
    """What the page shows of a mosaic of that size."""
    with open(PAGE, encoding="utf-8") as text:
        command, want = re.search(r"    \$ qfz (info .*?[^\\])\n(.*?)\n\n", text.read(), re.S).groups()
    with open("large.vrt", "w", encoding="ascii") as vrt:
        vrt.write(LARGE)
    words = command.replace("\\\n", " ").replace("mosaic.vrt", "large.vrt").split()
    done = subprocess.run([test.qfz, *words, "--engine", "cpu"], capture_output=True, text=True,
                          check=False)
    got = done.stdout.replace("large.vrt", "mosaic.vrt").splitlines() + done.stderr.splitlines()
    for shown, made in zip([line.strip() for line in want.splitlines()], got):
        test.check(shown == made, f"the plan in the page: {shown!r} is {made!r}")
    test.check(len(got) == want.count("\n") + 1, f"the plan has {len(got)} lines")


def reference(*words):
    subprocess.run([test.qfz, *words[:1], "-q", *words[1:]], check=True)


def one_node():
    reference("saliency", "--distance", "linf", "mosaic.vrt", "want_hierarchy.tif")
    status, said = run_script("one_node.sh")
    test.check(status == 0, "one_node.sh: " + said)
    compare([("hierarchy.vrt", "want_hierarchy.tif")], "one_node.sh")


def sixteen_nodes():
    reference("simplify", "--distance", "linf", "--alpha", "9", "--omega", "60", "--labels",
              "want_zones.tif", "mosaic.vrt", "want_simple.tif")
    status, said = run_script("sixteen_nodes.sh")
    test.check(status == 0 and os.path.exists("zones.gpkg"), "sixteen_nodes.sh: " + said)
    compare([("simple.vrt", "want_simple.tif"), ("zones.vrt", "want_zones.tif")],
            "sixteen_nodes.sh")


def array():
    reference("simplify", "--alpha", "9", "--omega", "60", "--regions", "want_array.csv",
              "mosaic.vrt", "want_array.tif")
    for phase in ("summarise", "resolve"):  # a part fails: submit again
        with open("fails", "w", encoding="ascii") as fails:
            fails.write(phase)
        status, said = run_script("submit.sh")
        test.check(status == 1 and not os.path.exists("array.vrt"),
                   f"submit.sh, {phase} fails: status {status}: {said}")
    status, said = run_script("submit.sh")
    test.check(status == 0, "submit.sh: " + said)
    compare([("array.vrt", "want_array.tif"), ("array.csv", "want_array.csv")], "submit.sh")


def preemptible():
    reference("label", "--alpha", "4", "mosaic.vrt", "want_cheap.tif")
    with open("preempt", "w", encoding="ascii"):
        pass
    status, said = run_script("preemptible.sh")
    test.check(status == 75, f"preemptible.sh, pre-empted: status {status}: {said}")
    with open("requeued", encoding="ascii") as requeued:
        test.check(requeued.read() == "requeue 77\n", "preemptible.sh: not in the queue again")
    status, said = run_script("preemptible.sh")
    test.check(status == 0, "preemptible.sh: " + said)
    compare([("cheap.vrt", "want_cheap.tif")], "preemptible.sh")


for stub, body in (("srun", SRUN), ("sbatch", SBATCH), ("scontrol", SCONTROL), ("qfz", QFZ)):
    stand_in(stub, body)
write_raster("mosaic.tif", patches(test.random, 330, 290), 330, ["-a_nodata", "0"])
subprocess.run(["gdal_translate", "-q", "mosaic.tif", "mosaic.vrt"], check=True)
scripts = scripts_of(PAGE)
test.check(len(scripts) == 5, f"{len(scripts)} scripts in the page, 5 in this test")
for file, script in scripts.items():
    with open(file, "w", encoding="utf-8") as sink:
        sink.write(script)
for part in (one_node, sixteen_nodes, preemptible) if RANKS else (plan, array):
    part()
test.finish()

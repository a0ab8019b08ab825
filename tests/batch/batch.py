# SPDX-License-Identifier: MIT
"""Shared by the tests of batch jobs: a scratch folder, rasters, runs, kills, comparisons."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77


class Test:
    """Checks are counted; what is wrong is printed, and the test goes on."""

    def __init__(self, qfz, seed):
        self.qfz = qfz
        self.random = random.Random(seed)
        self.checks = self.failures = 0
        self.folder = tempfile.mkdtemp(prefix="qfz_batch_", dir=os.environ.get("TMPDIR"))
        os.chdir(self.folder)

    def check(self, good, what):
        self.checks += 1
        if not good:
            self.failures += 1
            print("WRONG:", what, flush=True)
        return good

    def compare(self, outputs, wanted, what):
        for path, want in zip(outputs, wanted):
            self.check(os.path.exists(path) and content(path) == want, f"{what}: {path} differs")

    def lived(self, words, most_kills, seconds):
        """Runs a command that is killed a few times; then it is left to end.  The number of kills."""
        kills = 0
        while kills < most_kills:
            process = start(words)
            time.sleep(self.random.random() * seconds)
            if process.poll() is not None:
                break
            kill_job(process, self.random)
            kills += 1
        status, _, err = run(words)
        self.check(status == 0, f"status {status} after {kills} kills: {err} {' '.join(words)}")
        return kills

    def leave(self):
        os.chdir("/")
        shutil.rmtree(self.folder, ignore_errors=True)

    def skip(self, why):
        self.leave()
        print("skipped:", why)
        sys.exit(SKIP)

    def finish(self):
        self.leave()
        print(f"{self.checks} checks, {self.failures} wrong")
        sys.exit(1 if self.failures or not self.checks else 0)


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            print("skipped: needs", tool)
            sys.exit(SKIP)


def on_ranks(argv):
    """WAY of a test's arguments QFZ WAY ...: is it "ranks"?  What needs them is a test of its own,
    which says that it was skipped where there is no MPI."""
    if argv[2] != "ranks":
        return False
    # The command is started by a program without libraries; other programs do not know their version.
    words = [argv[1], "--version"] if os.path.basename(argv[1]) == "qfz" else ["ldd", argv[1]]
    built = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    if not shutil.which("mpirun") or not re.search(r"^MPI [0-9]|libmpi", built, re.M):
        print("skipped: no MPI, or none in", argv[1])
        sys.exit(SKIP)
    return True


def ranks_of(n):
    """The words before a command that start it on n ranks."""
    if n == 1:
        return []
    mpirun = shutil.which("mpirun")
    words = [mpirun, "-n", str(n)]
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" in version.stdout:
        words[1:1] = ["--oversubscribe", "--bind-to", "none"]
        if os.geteuid() == 0:
            words[1:1] = ["--allow-run-as-root"]
    return words


def run(words, limit_s=60):
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit_s, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def start(words):
    """In a process group of its own, so that all of its processes can be killed."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def ranks_under(pid):
    """The processes that a launcher has started, behind whatever it put in between; or none."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as words:
            below = [int(word) for word in words.read().split()]
    except OSError:
        return []
    return [rank for child in below for rank in ranks_under(child) or [child]]


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_job(process, rng, number=signal.SIGKILL):
    """The process; or, of a launcher, one of its ranks, or all, and the launcher ends by itself."""
    ranks = ranks_under(process.pid)
    if not ranks:
        kill([process.pid], number)
    elif rng.random() < 0.5:
        kill(ranks, number)
    else:
        kill([rng.choice(ranks)], number)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired: # a launcher may not notice while it is launching
        kill(ranks_under(process.pid) + [process.pid])
        process.wait()


def write_raster(path, values, width, options=()):
    """Bytes, row by row, as a GeoTIFF with a georeference."""
    with open("raster.pgm", "wb") as out:
        out.write(b"P5 %d %d 255\n" % (width, len(values) // width) + bytes(values))
    subprocess.run(["gdal_translate", "-q", "-a_srs", "EPSG:32632", "-a_ullr", "500000", "5000000",
                    str(500000 + 10 * width), str(5000000 - 10 * (len(values) // width)),
                    *options, "raster.pgm", path], check=True)
    os.remove("raster.pgm")


def patches(rng, width, height):
    """Regions of all sizes: blocks of a few values, lines through everything, noise, holes."""
    values = bytearray(width * height)
    for y in range(height):
        for x in range(width):
            values[y * width + x] = 20 + 3 * ((x // 17 + y // 23) % 5)
    for i in range(0, width * height, 3):
        if rng.random() < 0.4:
            values[i] = rng.choice((20, 21, 22, 30))
    for x in range(5, width, 61):
        for y in range(height):
            values[y * width + x] = 90
    for y in range(7, height, 53):
        for x in range(width):
            values[y * width + x] = 90
    for _ in range(width * height // 50):
        values[rng.randrange(width * height)] = 0
    return values


def in_phase(words, name, work, part=0, n=0):
    """A command as one phase of a job; of phases in parts, part of n."""
    own = ["--phase", name, "--work", work]
    own += ["--part", f"{part}/{n}"] if part else []
    return [words[0], "run", *own, *words[1:]]


def content(path):
    """Pixels, types, georeference and metadata of a raster; or the rows of a table; or a picture."""
    if path.endswith((".csv", ".png")):
        with open(path, "rb") as same:
            return same.read()
    if path.endswith(".fgb"):  # the file has the layer's name, which is its own
        return subprocess.run(["ogr2ogr", "-f", "CSV", "-lco", "GEOMETRY=AS_WKT", "/vsistdout/", path],
                              capture_output=True, check=True).stdout
    subprocess.run(["gdal_translate", "-q", "-of", "ENVI", path, "content.bin"], check=True)
    data = [open(name, "rb").read() for name in ("content.bin", "content.bin.msk")
            if os.path.exists(name)]
    info = subprocess.run(["gdalinfo", "-norat", path], capture_output=True, text=True,
                          check=True).stdout
    for name in ("content.bin", "content.hdr", "content.bin.aux.xml", "content.bin.msk"):
        if os.path.exists(name):
            os.remove(name)
    kept = [line for line in info.splitlines()
            if re.search(r"Size is|Origin|Pixel Size|ID\[|Type=|NoData|QFZ_|Mask Flags", line)]
    kept = [re.sub(r"Block=\S+ ", "", line) for line in kept]
    return data, kept


TASKS = {
    "label": (["label", "--alpha", "2", "--regions", "{stem}.csv"], ["{stem}.csv"]),
    "simplify": (["simplify", "--alpha", "3", "--omega", "6", "--connectivity", "8",
                  "--labels", "{stem}_labels.tif", "--regions", "{stem}.csv"],
                 ["{stem}_labels.tif", "{stem}.csv"]),
    "saliency": (["saliency", "--connectivity", "8"], []),
}

# Tasks with an area filter, which has a stitching of its own.
FILTERED = {
    "filtered label": (["label", "--alpha", "2", "--min-area", "9", "--regions", "{stem}.csv"],
                       ["{stem}.csv"]),
    "filtered simplify": (["simplify", "--alpha", "3", "--omega", "6", "--min-area", "5"], []),
}

# Tasks with levels of edges from the rasters levels_4.tif and levels_8.tif.
EDGES = {
    "label of edges": (["label", "--alpha", "2", "--edges", "levels_4.tif", "--regions",
                        "{stem}.csv"], ["{stem}.csv"]),
    "simplify of edges": (["simplify", "--alpha", "3", "--omega", "6", "--connectivity", "8",
                           "--edges", "levels_8.tif", "--labels", "{stem}_labels.tif"],
                          ["{stem}_labels.tif"]),
    "saliency of edges": (["saliency", "--edges", "levels_4.tif"], []),
}

# Labels of equal values, which published methods make, too.
ZONES = {"zones": (["label", "--regions", "{stem}.csv"], ["{stem}.csv"])}

# Tasks with outputs that are made from all labels.
MAPS = {
    "label with a map": (["label", "--alpha", "2", "--regions", "{stem}.csv", "--columns",
                          "default,perimeter,compactness,neighbours,majority,minority,px_first_x",
                          "--neighbours", "{stem}_pairs.csv", "--colors", "{stem}_colors.tif", "--stats", "src.tif",
                          "--quicklook", "{stem}.png", "--polygons", "{stem}.fgb"],
                         ["{stem}.csv", "{stem}_pairs.csv", "{stem}_colors.tif", "{stem}.png",
                          "{stem}.fgb"]),
    "simplify with a map": (["simplify", "--alpha", "3", "--omega", "6", "--labels",
                             "{stem}_labels.tif", "--regions", "{stem}.csv", "--columns",
                             "label,neighbours", "--polygons", "{stem}.fgb",
                             "--simplify-tolerance", "1"],
                            ["{stem}_labels.tif", "{stem}.csv", "{stem}.fgb"]),
}

# Tasks that have no phases: alpha is found from a curve, whose journal is in a folder of its own.
TARGETS = {
    "target": (["label", "--regions-target", "900", "--regions", "{stem}.csv"], ["{stem}.csv"]),
    "filtered target": (["label", "--regions-target", "90", "--min-area", "9", "--polygons",
                         "{stem}.fgb"], ["{stem}.fgb"]),
}

# Tasks of several alphas, which have no phases either; each alpha has journals of its own.
LISTS = {
    "list": (["label", "--alpha", "1,3,8", "--regions", "{stem}_{alpha}.csv"],
             ["{stem}_1.csv", "{stem}_3.tif", "{stem}_3.csv", "{stem}_8.tif", "{stem}_8.csv"]),
    "filtered list of simplify": (
        ["simplify", "--alpha", "8,2", "--omega", "6", "--min-area", "9", "--connectivity", "8", "--labels",
         "{stem}_labels{alpha}.tif", "--polygons", "{stem}_{alpha}.fgb"],
        ["{stem}_2.tif", "{stem}_labels8.tif", "{stem}_labels2.tif", "{stem}_8.fgb", "{stem}_2.fgb"]),
}

# The hierarchy, whose rows are edges of the raster's minimum spanning forest.
TREES = {
    "tree": (["tree"], ["{stem}_tree.csv"]),
    "filtered tree": (["tree", "--connectivity", "8", "--min-area", "4", "--regions", "{stem}.csv"],
                      ["{stem}.csv", "{stem}_tree.csv"]),
}


def command_of_list(qfz, task, src, stem, *options):
    words, extra = LISTS[task]
    words = [word.replace("{stem}", stem) for word in words]
    first = words[words.index("--alpha") + 1].split(",")[0]
    outputs = [f"{stem}_{first}.tif"] + [name.replace("{stem}", stem) for name in extra]
    return [qfz, words[0], "-q", *words[1:], *options, src, stem + "_{alpha}.tif"], outputs


def command(qfz, task, src, stem, extension, *options):
    if task in LISTS:
        return command_of_list(qfz, task, src, stem, *options)
    words, extra = {**TASKS, **FILTERED, **EDGES, **ZONES, **MAPS, **TARGETS, **TREES}[task]
    words = [word.format(stem=stem).replace("_labels.tif", "_labels" + extension)
             for word in words]
    outputs = [stem + extension] + [name.format(stem=stem).replace("_labels.tif",
                                                                   "_labels" + extension)
                                    for name in extra]
    last = outputs[-1:] if task in TREES else []
    return [qfz, words[0], "-q", *words[1:], *options, src, stem + extension, *last], outputs

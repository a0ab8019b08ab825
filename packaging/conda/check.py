#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py FOLDER - the conda recipe without conda: build, contents, tests.

Runs build.sh on the files that git lists, as conda-build does, with an empty prefix in FOLDER and
the system's libraries in place of the host's packages; then compares meta.yaml with what build.sh
has installed, and runs the tests of meta.yaml in the prefix.  Needs Python with Jinja2 and PyYAML.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jinja2
import yaml

RECIPE = Path(__file__).parent
ROOT = RECIPE.parents[1]
#: Libraries that programs may need, and the package of the host that has each.
PACKAGES = {"libgdal": "libgdal-core", "libproj": "proj", "libz": "zlib"}
#: CMake looks for these; the programs do not link them.
TO_CONFIGURE = {"proj"}
#: Those of the compiler's packages.
SYSTEM = {"libc", "libm", "libgomp", "libpthread", "libdl", "ld-linux-x86-64"}
bad = 0


def fail(what):
    global bad
    bad = 1
    print(f"packaging/conda: {what}")


def recipe():
    """Return meta.yaml as conda-build reads it; packages of the compiler have the name of the kind."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    text = environment.from_string((RECIPE / "meta.yaml").read_text()).render(
        compiler=lambda language: f"compiler-{language}",
        stdlib=lambda language: f"stdlib-{language}",
        pin_subpackage=lambda name, max_pin: f"{name} {max_pin}",
    )
    return yaml.safe_load(text)


def names_of(requirements):
    return {line.split()[0] for line in requirements}


def copy_source(place):
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, files):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name)


def build(source, prefix):
    """Run build.sh with the variables of conda-build, and no others."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = prefix / "lib" / version / "site-packages"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PREFIX": str(prefix),
        "SP_DIR": str(packages),
        "CPU_COUNT": str(len(os.sched_getaffinity(0))),
    }
    script = ["bash", str(RECIPE / "build.sh")]
    with open(source.parent / "build.log", "w") as log:
        subprocess.run(script, cwd=source, env=environment, check=True, stdout=log, stderr=log)
    return packages


def libraries_of(file):
    """Return the libraries that a program or library names, without versions."""
    dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout
    return {re.match(r"[^.]+", name)[0] for name in re.findall(r"NEEDED.*\[(.*)\]", dynamic)}


def check_libraries(prefix, meta):
    host = names_of(meta["requirements"]["host"])
    needed = set()
    for file in prefix.rglob("*"):
        if file.is_file() and not file.is_symlink() and file.read_bytes()[:4] == b"\x7fELF":
            needed |= libraries_of(file)
    for name in sorted(needed - SYSTEM - {"libqfz"}):
        if PACKAGES.get(name) not in host:
            fail(f"{name} is needed, and no package of the host has it")
    for name, package in PACKAGES.items():
        if package in host - TO_CONFIGURE and name not in needed:
            fail(f"{package} is a package of the host, and nothing needs {name}")
    print(f"libraries: {', '.join(sorted(needed))}")


def check_metadata(meta):
    project = (ROOT / "pyproject.toml").read_text()
    python = re.search(r'requires-python = ">=(.*)"', project)[1]
    numpy = re.search(r'"numpy>=([0-9.]+)"', project)[1]
    for line in (f"python >={python}", f"numpy >={numpy}"):
        if line not in meta["requirements"]["run"]:
            fail(f"pyproject.toml has {line}, and meta.yaml has not")
    for name in [meta["about"]["license_file"], *meta["test"]["source_files"]]:
        if not (ROOT / name).is_file():
            fail(f"there is no {name}")


def run_tests(prefix, packages, meta, place):
    """Run what conda-build runs in an environment with the package."""
    for name in meta["test"]["source_files"]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name)
    environment = {
        **os.environ,
        "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(prefix / "lib"),  # conda's Python searches it by its RPATH
        "PYTHONPATH": str(packages),
    }
    environment.pop("QFZ_LIBRARY", None)
    python = f"{sys.executable} -c"
    commands = [f"{python} 'import {name}'" for name in meta["test"]["imports"]]
    commands += [line.replace("python -c", python) for line in meta["test"]["commands"]]
    for command in commands:
        if subprocess.run(command, shell=True, cwd=place, env=environment).returncode:
            fail(f"failed: {command}")


def main():
    folder = Path(sys.argv[1]).resolve()
    source, prefix, tests = (folder / name for name in ("source", "prefix", "tests"))
    for place in (source, prefix, tests):
        place.mkdir(parents=True)
    meta = recipe()
    copy_source(source)
    packages = build(source, prefix)
    check_metadata(meta)
    check_libraries(prefix, meta)
    run_tests(prefix, packages, meta, tests)
    print(f"{sum(file.is_file() for file in prefix.rglob('*'))} files installed")
    return bad


if __name__ == "__main__":
    sys.exit(main())

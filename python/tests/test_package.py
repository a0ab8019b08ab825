# SPDX-License-Identifier: MIT
"""The package itself: layouts of structs, docstrings, types, threads."""

from __future__ import annotations

import ctypes
import doctest
import importlib
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import qfz
from qfz import _library, _structs

LAYOUT = Path(__file__).parents[2] / "tests" / "install" / "layout.txt"
PAGE = Path(__file__).parents[2] / "docs" / "user" / "python.md"
NEEDED = {"qfz.xr": "xarray", "qfz.dask": "dask.array"}
MODULES = [f"qfz.{m.name}" for m in pkgutil.iter_modules(qfz.__path__)]


def struct_of(name):
    return getattr(_structs, "".join(word.capitalize() for word in name.split("_")[1:]), None)


@pytest.mark.skipif(not LAYOUT.exists(), reason=f"needs {LAYOUT}")
def test_structs_are_laid_out_as_the_library_says():
    seen = set()
    for line in LAYOUT.read_text().splitlines():
        name, number = line.split()
        struct, _, member = name.partition(".")
        cls = struct_of(struct) if name.startswith("qfz_") else None
        if cls is None:
            continue
        names = [field[0] for field in cls._fields_]
        if member in names:
            assert getattr(cls, member).offset == int(number), name
            seen.add(name)
        elif member:  # a member that the library added later
            assert int(number) >= ctypes.sizeof(cls) and "struct_size" in names, name
    for cls in vars(_structs).values():
        if (
            inspect.isclass(cls)
            and cls.__module__ == _structs.__name__
            and hasattr(cls, "_fields_")
        ):
            assert any(struct_of(name.partition(".")[0]) is cls for name in seen), cls


def test_constants_are_those_of_the_library():
    if not LAYOUT.exists():
        pytest.skip(f"needs {LAYOUT}")
    constants = dict(line.split() for line in LAYOUT.read_text().splitlines() if "QFZ_" in line)
    for prefix, names in [
        ("", _structs.DISTANCES),
        ("ENGINE_", _structs.ENGINES),
        ("", _structs.TASKS),
        ("", _structs.LAYOUTS),
        ("NODATA_", _structs.NODATA_RULES),
    ]:
        for name, number in names.items():
            assert constants[f"QFZ_{prefix}{name.upper()}"] == str(number)
    assert constants["QFZ_PART_FEATURES"] == str(_structs.PART_FEATURES)
    assert constants["QFZ_ECANCEL"] == str(_structs.ECANCEL)


def make_files():
    """Make what the examples of functions on files read, in the present folder."""
    values = np.random.default_rng(5).integers(0, 30, (20, 30), dtype=np.uint8)
    values.tofile("scene.img")
    Path("scene.hdr").write_text(
        "ENVI\nsamples = 30\nlines = 20\nbands = 1\nheader offset = 0\n"
        "file type = ENVI Standard\ndata type = 1\ninterleave = bsq\nbyte order = 0\n"
    )
    for name in "scene.tif", "dem.tif":  # zones of equal values, each in its mean
        qfz.simplify_file("scene.img", name, alpha=0)
    qfz.label_file("scene.tif", "labels.tif", alpha=8)
    qfz.saliency_file("scene.tif", "saliency.tif")


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module, tmp_path, monkeypatch):
    if module == "qfz._files":
        monkeypatch.chdir(tmp_path)
        try:
            make_files()
        except qfz.QfzLibraryError as error:
            pytest.skip(str(error))
    if module in NEEDED:
        pytest.importorskip(NEEDED[module])
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.skipif(not PAGE.exists(), reason=f"needs {PAGE}")
def test_examples_of_the_page():
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_version_is_that_of_the_library():
    assert _library.for_arrays().qfz_version().decode() == qfz.__version__


def described(function):
    """Return the names in the sections "Parameters" of a docstring in numpydoc's style."""
    lines = inspect.getdoc(function).splitlines()
    start = lines.index("Parameters") + 2
    end = next((i - 1 for i in range(start, len(lines)) if set(lines[i]) == {"-"}), len(lines))
    heads = [line for line in lines[start:end] if line and not line.startswith(" ")]
    return [name.strip("* ") for head in heads for name in head.split(" :")[0].split(",")]


@pytest.mark.parametrize("module", ["qfz", "qfz.chunks", "qfz.dask", "qfz.xr"])
def test_docstrings_describe_every_parameter_once(module):
    if module in NEEDED:
        pytest.importorskip(NEEDED[module])
    functions = importlib.import_module(module)
    for name in functions.__all__:
        function = getattr(functions, name)
        if inspect.isfunction(function):
            assert sorted(described(function)) == sorted(inspect.signature(function).parameters), (
                name
            )


def test_modules_load_when_they_are_used():
    """Dask and xarray load slowly; a name that does not exist is an error."""
    code = (
        "import sys, qfz; assert 'qfz.chunks' not in sys.modules; print(qfz.chunks.Grid.__name__)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "Grid\n", result.stderr
    with pytest.raises(AttributeError, match="no attribute 'labels'"):
        qfz.labels


@pytest.mark.parametrize("name", qfz.__all__)
def test_public_functions_say_what_they_return(name):
    thing = getattr(qfz, name)
    assert thing.__doc__
    if inspect.isfunction(thing):
        assert "Returns\n" in thing.__doc__ and "Examples\n" in thing.__doc__


def test_type_hints(tmp_path):
    """Of a copy: mypy takes modules beside an installed package for the user's own."""
    pytest.importorskip("mypy.api")
    package = shutil.copytree(Path(qfz.__file__).parent, tmp_path / "qfz")
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--ignore-missing-imports",
            "--enable-incomplete-feature=Unpack",  # mypy before 1.7
            "--cache-dir",
            os.devnull,
            package,
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout


def test_threads_have_sessions_of_their_own():
    rng = np.random.default_rng(5)
    images = [rng.integers(0, 4, (150, 200), dtype=np.uint8) for _ in range(2)]
    expected = [qfz.label(image, 1) for image in images]
    failures = []

    def work(i):
        for _ in range(20):
            labels, n = qfz.label(images[i], 1)
            if n != expected[i][1] or (labels != expected[i][0]).any():
                failures.append(i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_a_missing_library_is_named(monkeypatch):
    with pytest.raises(qfz.QfzLibraryError, match="/no/libqfz.so"):
        _library.Library("/no/libqfz.so")
    monkeypatch.setenv("QFZ_LIBRARY", "/no/libqfz.so")
    assert _library._candidates()[0] == "/no/libqfz.so"


def test_a_failure_frees_the_session():
    """Many refused calls must not keep memory: each would hold an image of 2 MB."""
    image = np.zeros((1000, 2000), np.uint8)
    for _ in range(200):
        with pytest.raises(qfz.QfzArgumentError):
            qfz.label(image, 1, omega=[1, 2])

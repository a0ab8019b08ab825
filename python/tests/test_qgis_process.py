# SPDX-License-Identifier: MIT
"""The Processing provider in QGIS itself, without a window; skipped where QGIS is not installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PLUGINS = Path(__file__).parents[1] / "qgis"
COMMAND = os.environ.get("QFZ_COMMAND")
# Debian's qgis_process fails over an option of the desktop program; qgis_process.bin has none.
PROGRAMS = [p for p in map(shutil.which, ("qgis_process", "qgis_process.bin")) if p]

pytestmark = pytest.mark.skipif(
    not (COMMAND and PROGRAMS), reason="needs qgis_process, and the command as QFZ_COMMAND"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("qgis")


@pytest.fixture(scope="module")
def environment(folder):
    (folder / "run").mkdir(mode=0o700)
    return {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_PLUGINPATH": str(PLUGINS),
        "QGIS_CUSTOM_CONFIG_PATH": str(folder / "profile"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "HOME": str(folder),
    }


@pytest.fixture(scope="module")
def qgis(environment):
    """Run qgis_process with the plugin; return what it prints."""

    def call(*words, status=0):
        words = [found[0], *map(str, words)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr if status else done.stdout

    def works(program):
        words = [program, "plugins"]
        return subprocess.run(words, env=environment, capture_output=True).returncode == 0

    found = list(filter(works, PROGRAMS))
    if not found:
        pytest.skip(f"{PROGRAMS[0]} fails without the plugin, too")
    call("plugins", "enable", "qfz_processing")
    return call


@pytest.fixture(scope="module")
def scene(folder):
    """A raster of fields of 5 x 5 pixels, with noise that is less than the steps between them."""
    rng = np.random.default_rng(3)
    values = np.kron(rng.integers(0, 12, (6, 9)) * 20, np.ones((5, 5), int))
    (values + rng.integers(0, 3, values.shape)).astype("u1").tofile(folder / "scene.img")
    (folder / "scene.hdr").write_text(
        "ENVI\nsamples = 45\nlines = 30\nbands = 1\nheader offset = 0\nfile type = ENVI Standard\n"
        "data type = 1\ninterleave = bsq\nbyte order = 0\n"
        "map info = {UTM, 1, 1, 500000, 5000000, 10, 10, 33, North, WGS-84, units=Meters}\n"
    )
    return folder / "scene.img"


def command(*words):
    subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True)


def run(qgis, name, **parameters):
    words = [f"{key}={value}" for key, value in parameters.items()]
    return json.loads(qgis("--json", "run", f"qfz:{name}", "--", *words))["results"]


def rows(path):
    return path.read_text().splitlines()


def test_rasters(qgis, scene, folder):
    """label, simplify, saliency and cut make what the command makes."""
    for name, parameters, options in [
        ("label", {"ALPHA": 3, "CONNECTIVITY": 8}, ["--alpha", 3, "--connectivity", 8]),
        ("simplify", {"OMEGA": 30, "MIN_AREA": "0.2ha"}, ["--omega", 30, "--min-area", "0.2ha"]),
        ("saliency", {}, []),
    ]:
        made, expected = folder / f"{name}.img", folder / f"{name}_expected.img"
        results = run(qgis, name, INPUT=scene, OUTPUT=made, OF="ENVI", **parameters)
        assert results["OUTPUT"] == str(made)
        command(name, "--distance", "linf", *options, "-of", "ENVI", scene, expected)
        assert made.read_bytes() == expected.read_bytes(), name
    cut, expected = folder / "cut.img", folder / "cut_expected.img"
    run(qgis, "saliency", INPUT=scene, OUTPUT=folder / "levels.tif")
    run(qgis, "cut", INPUT=folder / "levels.tif", OUTPUT=cut, ALPHA=3, OF="ENVI")
    command("label", "--alpha", 3, "-of", "ENVI", scene, expected)
    assert cut.read_bytes() == expected.read_bytes()


def test_tables_and_polygons(qgis, scene, folder):
    labels = folder / "l.tif"
    command("label", "--alpha", 3, scene, labels)
    found, lines = folder / "regions.csv", folder / "polygons.geojsonl"
    run(qgis, "regions", INPUT=labels, REGIONS=found, STATS=scene, STATS_BANDS=1)
    run(qgis, "polygons", INPUT=labels, POLYGONS=lines)
    expected = folder / "expected.csv"
    command("regions", "--regions", expected, "--stats", scene, labels)
    assert rows(found) == rows(expected)
    assert len(rows(lines)) == len(rows(found)) - 1 > 20


def test_failures(qgis, scene, folder):
    words = ["run", "qfz:label", "--", f"INPUT={scene}"]
    said = qgis(*words, "ALPHA=-1", f"OUTPUT={folder / 'bad.tif'}", status=1)
    assert "--alpha -1.0: must be at least 0" in said
    assert not (folder / "bad.tif").exists()


@pytest.fixture(scope="module")
def layers(environment, scene, folder):
    """What QGIS loads and draws, by algorithm and output."""
    for python in (sys.executable, "/usr/bin/python3"):
        words = [python, "-c", "import qgis.core"]
        if subprocess.run(words, env=environment, capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("needs the Python modules of QGIS")
    script = Path(__file__).with_name("qgis_layers.py")
    done = subprocess.run(
        [python, script, scene, folder], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout.splitlines()[-1])
    return {
        key: (layer, np.array(json.loads((folder / f"{key}.json").read_text())))
        for key, layer in about.items()
    }


def test_layers_have_short_names_and_the_crs(layers):
    titles = {key: layer["title"] for key, (layer, _) in layers.items()}
    assert titles == {
        "label.OUTPUT": "Result",
        "label.COLORS": "Colours",
        "label.POLYGONS": "Polygons",
        "saliency.OUTPUT": "Result",
    }
    assert {layer["crs"] for layer, _ in layers.values()} == {"EPSG:32633"}


def raster(scene, folder, *words):
    command(*words, "-of", "ENVI", scene, folder / "own.img", "--overwrite")
    return np.fromfile(folder / "own.img", "u4").reshape(30, 45)


def borders(values):
    """Where the pixels to the right and below differ."""
    return values[:, 1:] != values[:, :-1], values[1:] != values[:-1]


def test_colours_differ_where_regions_touch(layers, scene, folder):
    labels = raster(scene, folder, "label", "--alpha", "3")
    drawn = layers["label.COLORS"][1]
    for ours, theirs in zip(borders(drawn), borders(labels)):
        np.testing.assert_array_equal(ours, theirs)


def test_saliency_is_dark_where_boundaries_are_strong(layers, scene, folder):
    layer, drawn = layers["saliency.OUTPUT"]
    assert layer["renderer"] == "QgsSingleBandGrayRenderer"
    assert layer["blend"] == 13  # QPainter::CompositionMode_Multiply
    options = ["--distance", "linf", "--layout", "pixel", "-ot", "UInt32"]
    levels = raster(scene, folder, "saliency", *options)
    grey = drawn & 255
    np.testing.assert_array_equal(drawn, grey * 0x010101)
    order = np.argsort(levels, axis=None, kind="stable")
    assert (np.diff(grey.ravel()[order]) <= 0).all()
    assert grey.max() > 240 and grey.min() < 15


def test_polygons_are_outlines(layers, scene, folder):
    labels = raster(scene, folder, "label", "--alpha", "3")
    drawn = layers["label.POLYGONS"][1] != 0xFFFFFF
    near = np.zeros(labels.shape, bool)
    across, down = borders(labels)
    for part in near[:, 1:], near[:, :-1]:
        part |= across
    for part in near[1:], near[:-1]:
        part |= down
    near[[0, -1]] = near[:, [0, -1]] = True
    assert drawn.any() and not (drawn & ~near).any()

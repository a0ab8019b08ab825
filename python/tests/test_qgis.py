# SPDX-License-Identifier: MIT
"""The Processing provider of QGIS, with a stand-in for qgis.core; test_qgis_process.py has QGIS."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

PLUGINS = Path(__file__).parents[1] / "qgis"
COMMAND = os.environ.get("QFZ_COMMAND")
needs_command = pytest.mark.skipif(not COMMAND, reason="needs the command, as QFZ_COMMAND")


class Parameter:
    """A parameter that remembers what it was made of."""

    FlagAdvanced, Integer, Double = 2, 0, 1

    def __init__(self, name, description, *more):
        self.name, self.description, self.more, self.set = name, description, more, 0

    def flags(self):
        return self.set

    def setFlags(self, flags):  # noqa: N802
        self.set = flags


class Algorithm:
    """QgsProcessingAlgorithm: parameters are plain values."""

    def __init__(self):
        self.parameters = []

    def addParameter(self, parameter):  # noqa: N802
        self.parameters.append(parameter)

    def parameterAsRasterLayer(self, parameters, key, context):  # noqa: N802
        name = str(parameters[key])
        kind = "wms" if name.startswith("url=") else "gdal"
        return types.SimpleNamespace(source=lambda: name, providerType=lambda: kind)

    def parameterAsBoolean(self, parameters, key, context):  # noqa: N802
        return bool(parameters.get(key))

    def parameterAsInt(self, parameters, key, context):  # noqa: N802
        return int(parameters[key])

    def parameterAsDouble(self, parameters, key, context):  # noqa: N802
        return float(parameters[key])

    def parameterAsString(self, parameters, key, context):  # noqa: N802
        return str(parameters.get(key, ""))

    parameterAsEnumString = parameterAsOutputLayer = parameterAsString  # noqa: N815


class Provider:
    def __init__(self):
        self.algorithms = []

    def addAlgorithm(self, algorithm):  # noqa: N802
        self.algorithms.append(algorithm)


class Feedback:
    """Cancels at the first question if it shall."""

    def __init__(self, cancel=False):
        self.cancel, self.lines, self.progress = cancel, [], []

    def isCanceled(self):  # noqa: N802
        return self.cancel

    def pushCommandInfo(self, text):  # noqa: N802
        self.lines.append(text)

    pushInfo = pushCommandInfo  # noqa: N815

    def setProgress(self, percent):  # noqa: N802
        self.progress.append(percent)


class Context:
    """Loads every output, and remembers the styles."""

    def __init__(self):
        self.styles = {}

    def willLoadLayerOnCompletion(self, path):  # noqa: N802
        return True

    def layerToLoadOnCompletionDetails(self, path):  # noqa: N802
        return types.SimpleNamespace(
            setPostProcessor=lambda style: self.styles.update({path: style.path})
        )


@pytest.fixture
def plugin(monkeypatch):
    core = types.ModuleType("qgis.core")
    for kind in "Boolean Enum FileDestination Number RasterDestination RasterLayer String".split():
        setattr(core, f"QgsProcessingParameter{kind}", type(kind, (Parameter,), {}))
    core.QgsProcessingParameterVectorDestination = type("VectorDestination", (Parameter,), {})
    core.QgsProcessingParameterDefinition = Parameter
    core.QgsProcessing = types.SimpleNamespace(TypeVector=5)
    core.QgsProcessingAlgorithm, core.QgsProcessingProvider = Algorithm, Provider
    core.QgsProcessingException = RuntimeError
    core.QgsProcessingLayerPostProcessorInterface = core.QgsRasterLayer = object
    core.QgsContrastEnhancement = core.QgsRasterMinMaxOrigin = object
    core.logged = []
    core.Qgis = types.SimpleNamespace(Warning=1)
    core.QgsMessageLog = types.SimpleNamespace(logMessage=lambda *words: core.logged.append(words))
    registry = types.SimpleNamespace(addProvider=lambda p: None, removeProvider=lambda p: None)
    core.QgsApplication = types.SimpleNamespace(processingRegistry=lambda: registry)
    monkeypatch.setitem(sys.modules, "qgis", types.ModuleType("qgis"))
    monkeypatch.setitem(sys.modules, "qgis.core", core)
    monkeypatch.syspath_prepend(str(PLUGINS))
    for name in [n for n in sys.modules if n.startswith("qfz_processing")]:
        monkeypatch.delitem(sys.modules, name)
    plugin = importlib.import_module("qfz_processing").classFactory(None)
    plugin.initProcessing()
    yield plugin
    plugin.unload()


@pytest.fixture
def provider(plugin):
    """The algorithms by name."""
    plugin.provider.loadAlgorithms()
    assert plugin.provider.warningMessage() == ""
    found = {algorithm.name(): algorithm for algorithm in plugin.provider.algorithms}
    for algorithm in found.values():
        algorithm.initAlgorithm()
    return found


@pytest.fixture
def scene(tmp_path):
    values = np.random.default_rng(3).integers(0, 40, (30, 41)).astype("u2")
    values.tofile(tmp_path / "scene.img")
    (tmp_path / "scene.hdr").write_text(
        "ENVI\nsamples = 41\nlines = 30\nbands = 1\nheader offset = 0\nfile type = ENVI Standard\n"
        "data type = 12\ninterleave = bsq\nbyte order = 0\n"
    )
    return tmp_path / "scene.img"


@needs_command
def test_every_option_has_a_parameter(provider):
    options = sys.modules["qfz_processing.options"]
    for name, algorithm in provider.items():
        keys = [parameter.name for parameter in algorithm.parameters]
        assert len(keys) == len(set(keys)) and keys[0] == "INPUT"
        table = options.load(COMMAND)[options.ALGORITHMS[name]["command"]]
        left = {o["name"] for o in table if o["value"] != "FILE"} - options.NOT_HERE
        if "--polygons" not in options.ALGORITHMS[name]["outputs"]:
            left.discard("--simplify-tolerance")
        given = {option["name"] for option in options.parameters_of(COMMAND, name)}
        assert left <= given, name
        for option in options.ALGORITHMS[name]["outputs"]:
            assert option == "DST" or option in given, (name, option)
        for option in options.ALGORITHMS[name]["defaults"]:
            assert option in given, (name, option)
        assert "--" in algorithm.shortHelpString()


@needs_command
def test_algorithms_make_what_the_command_makes(provider, scene, tmp_path):
    feedback, context = Feedback(), Context()
    made = provider["label"].processAlgorithm(
        {
            "INPUT": scene,
            "ALPHA": 3,
            "CONNECTIVITY": "8",
            "MIN_AREA": "4",
            "TILE": 16,
            "CONFIG": "GDAL_CACHEMAX=64 | CPL_DEBUG=OFF",
            "POLYGONS": tmp_path / "zones.geojsonl",
            "COLORS": tmp_path / "colors.tif",
            "OUTPUT": tmp_path / "labels.bin",
            "OF": "ENVI",
        },
        context,
        feedback,
    )
    assert set(made) == {"OUTPUT", "POLYGONS", "COLORS"}
    assert "--alpha 3.0" in feedback.lines[0] and "--connectivity 8" in feedback.lines[0]
    assert "--config GDAL_CACHEMAX=64 --config CPL_DEBUG=OFF --" in feedback.lines[0]
    assert "--tile 16" in feedback.lines[0]
    assert context.styles[str(tmp_path / "zones.geojsonl")].endswith("styles/polygons.qml")
    expected = tmp_path / "expected.bin"
    options = ["--alpha", "3", "--connectivity", "8", "--min-area", "4", "-of", "ENVI"]
    subprocess.run([COMMAND, "label", *options, scene, expected], check=True, capture_output=True)
    assert (tmp_path / "labels.bin").read_bytes() == expected.read_bytes()
    levels = {"INPUT": scene, "OUTPUT": tmp_path / "levels.tif"}
    made = provider["saliency"].processAlgorithm(levels, context, feedback)
    assert context.styles[made["OUTPUT"]].endswith("styles/saliency.qml")
    for style in set(context.styles.values()):
        assert Path(style).read_text().startswith("<!DOCTYPE qgis")
    cut = {"INPUT": made["OUTPUT"], "ALPHA": 3, "OUTPUT": tmp_path / "cut.tif"}
    provider["cut"].processAlgorithm(cut, context, feedback)
    painted = {"INPUT": scene, "OMEGA": "9", "OUTPUT": tmp_path / "map.tif"}
    provider["simplify"].processAlgorithm(painted, context, feedback)
    table = {"INPUT": cut["OUTPUT"], "REGIONS": tmp_path / "regions.csv", "STATS": str(scene)}
    table["STATS_BANDS"] = "1"
    provider["regions"].processAlgorithm(table, context, feedback)
    lines = {"INPUT": cut["OUTPUT"], "POLYGONS": tmp_path / "lines.geojsonl"}
    provider["polygons"].processAlgorithm(lines, context, feedback)
    n = len((tmp_path / "regions.csv").read_text().splitlines()) - 1
    assert n == len((tmp_path / "lines.geojsonl").read_text().splitlines()) > 1


@needs_command
def test_failures_reach_the_user(provider, scene, tmp_path):
    with pytest.raises(RuntimeError, match="none.tif"):
        provider["label"].processAlgorithm(
            {"INPUT": tmp_path / "none.tif", "OUTPUT": tmp_path / "l.tif"}, Context(), Feedback()
        )
    assert not (tmp_path / "l.tif").exists()
    task = {"INPUT": scene, "OUTPUT": tmp_path / "l.tif"}
    assert provider["label"].processAlgorithm(task, Context(), Feedback(cancel=True)) == {}


@needs_command
def test_a_layer_without_a_file_is_refused(provider, tmp_path):
    task = {"INPUT": "url=https://example.org", "OUTPUT": tmp_path / "l.tif"}
    with pytest.raises(RuntimeError, match="INPUT: is no raster file; save the layer"):
        provider["label"].processAlgorithm(task, Context(), Feedback())


def script(path, text):
    """Write a command of a few lines of shell."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_lines_of_the_command(plugin, tmp_path):
    """Progress is shown, messages are kept, and many lines of a library do not block."""
    algorithm = sys.modules["qfz_processing.algorithm"]
    lines = [
        '{"event": "progress", "done": 0.25}',
        '{"event": "message", "message": "one"}',
        '{"event": "end", "status": 0}',
        "7",
        "a line of GDAL",
    ]
    words = script(tmp_path / "say", "cat >&2 <<'END'\n" + "\n".join(lines) + "\nEND\nexit $1")
    feedback = Feedback()
    assert algorithm._run([words, "0"], feedback) == ""
    assert feedback.progress == [25] and feedback.lines == ["one", "7", "a line of GDAL"]
    assert algorithm._run([words, "3"], Feedback()) == "one\n7\na line of GDAL"
    many = script(tmp_path / "many", "yes | head -100000 >&2")
    assert algorithm._run([many], feedback := Feedback()) == ""
    assert len(feedback.lines) == 100000
    assert algorithm._run([script(tmp_path / "mute", "exit 4")], Feedback()) == "qfz: exit status 4"


def test_a_missing_command_is_named(plugin, monkeypatch, tmp_path):
    monkeypatch.delenv("QFZ_COMMAND", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    plugin.provider.loadAlgorithms()
    assert "missing: install qfz" in plugin.provider.warningMessage()
    monkeypatch.setenv("QFZ_COMMAND", str(tmp_path / "none"))
    plugin.provider.loadAlgorithms()
    assert "none cannot be run" in plugin.provider.warningMessage()
    monkeypatch.setenv("QFZ_COMMAND", script(tmp_path / "bad", "exit 1"))
    plugin.provider.loadAlgorithms()
    assert "exit status 1" in plugin.provider.warningMessage()
    monkeypatch.setenv("QFZ_COMMAND", script(tmp_path / "other", "echo '## qfz label'"))
    plugin.provider.loadAlgorithms()
    assert "has no command cut, regions" in plugin.provider.warningMessage()
    assert plugin.provider.algorithms == []
    assert [words[1:] for words in sys.modules["qgis.core"].logged] == 4 * [("qfz", 1)]

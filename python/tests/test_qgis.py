# SPDX-License-Identifier: MIT
"""The Processing provider of QGIS: with a stand-in for qgis.core, and, where it is installed, by
qgis_process."""

from __future__ import annotations

import importlib
import json
import os
import shutil
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

    FlagAdvanced, Double = 2, 1

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
        return types.SimpleNamespace(source=lambda: str(parameters[key]))

    def parameterAsBoolean(self, parameters, key, context):  # noqa: N802
        return bool(parameters.get(key))

    def parameterAsEnum(self, parameters, key, context):  # noqa: N802
        return int(parameters[key])

    def parameterAsDouble(self, parameters, key, context):  # noqa: N802
        return float(parameters[key])

    def parameterAsString(self, parameters, key, context):  # noqa: N802
        return str(parameters[key])

    parameterAsOutputLayer = parameterAsString  # noqa: N815


class Provider:
    def __init__(self):
        self.algorithms = []

    def addAlgorithm(self, algorithm):  # noqa: N802
        self.algorithms.append(algorithm)


class Feedback:
    """Cancels at the first question if it shall."""

    def __init__(self, cancel=False):
        self.cancel, self.lines = cancel, []

    def isCanceled(self):  # noqa: N802
        return self.cancel

    def pushCommandInfo(self, text):  # noqa: N802
        self.lines.append(text)

    pushInfo = pushCommandInfo  # noqa: N815


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
    core.QgsProcessingLayerPostProcessorInterface = object
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
            "CONNECTIVITY": 1,
            "MIN_AREA": "4",
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


def test_a_missing_command_is_named(plugin, monkeypatch):
    monkeypatch.delenv("QFZ_COMMAND", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    plugin.provider.loadAlgorithms()
    assert plugin.provider.algorithms == []
    assert "install qfz" in plugin.provider.warningMessage()


@needs_command
@pytest.mark.skipif(not shutil.which("qgis_process"), reason="needs qgis_process")
def test_qgis_process(scene, tmp_path):
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_PLUGINPATH": str(PLUGINS),
        "QGIS_CUSTOM_CONFIG_PATH": str(tmp_path / "profile"),
        "HOME": str(tmp_path),
    }

    def call(*words):
        return subprocess.run(
            ["qgis_process", *words], env=environment, check=True, capture_output=True, text=True
        ).stdout

    call("plugins", "enable", "qfz_processing")
    out = tmp_path / "labels.tif"
    answer = call("--json", "run", "qfz:label", "--", f"INPUT={scene}", "ALPHA=3", f"OUTPUT={out}")
    assert json.loads(answer)["results"]["OUTPUT"] == str(out) and out.exists()

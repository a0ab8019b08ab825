# SPDX-License-Identifier: MIT
"""An algorithm of QGIS Processing that runs one command of qfz."""

from __future__ import annotations

import functools
import json
import queue
import shlex
import subprocess
import threading
from pathlib import Path

from qgis.core import (
    QgsContrastEnhancement,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingLayerPostProcessorInterface,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterRasterLayer,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
    QgsRasterLayer,
    QgsRasterMinMaxOrigin,
)

from .options import ALGORITHMS, LAYERS, parameters_of

SRC, DST, STATS_BANDS = "INPUT", "OUTPUT", "STATS_BANDS"
_STYLES = Path(__file__).with_name("styles")


class Style(QgsProcessingLayerPostProcessorInterface):
    """Draws a layer in a style of the plugin."""

    def __init__(self, name):
        super().__init__()
        self.path = str(_STYLES / f"{name}.qml")

    def postProcessLayer(self, layer, context, feedback):  # noqa: N802
        """Set the style of a layer that has been loaded."""
        layer.loadNamedStyle(self.path)
        if isinstance(layer, QgsRasterLayer):
            layer.setContrastEnhancement(
                QgsContrastEnhancement.StretchToMinimumMaximum,
                QgsRasterMinMaxOrigin.CumulativeCut,
            )
        layer.triggerRepaint()


@functools.lru_cache(maxsize=None)
def _style(name):
    """Return a style, which lives on: QGIS does not own it, and loads layers after an algorithm."""
    return Style(name)


def _help(option):
    """Return the help of a parameter: that of the option, and what differs here."""
    words = [option["help"]]
    if option["default"]:
        words.append(f"Here the default is {option['default']}.")
    if option["kind"] == "list":
        words.append("Several are separated by |.")
    return " ".join(words)


class QfzAlgorithm(QgsProcessingAlgorithm):
    """One entry of `options.ALGORITHMS`."""

    def __init__(self, program, name):
        super().__init__()
        self._program = program
        self._name = name
        self._about = ALGORITHMS[name]
        self._options = parameters_of(program, name)

    def createInstance(self):  # noqa: N802
        """Return a new algorithm of this kind."""
        return QfzAlgorithm(self._program, self._name)

    def name(self):
        """Return the name after the colon, as in qfz:label."""
        return self._name

    def displayName(self):  # noqa: N802
        """Return the name in the toolbox."""
        return self._about["title"]

    def shortHelpString(self):  # noqa: N802
        """Return the help of all parameters."""
        lines = [f"<b>{o['key']}</b> ({o['name']}): {_help(o)}" for o in self._options]
        return "<br>".join([f"Runs <i>qfz {self._about['command']}</i>.", *lines])

    # ------------------------------------------------------------------------------ parameters
    def initAlgorithm(self, configuration=None):  # noqa: N802
        """Declare the parameters."""
        what = {"cut": "Saliency raster (edges)", "regions": "Labels"}
        title = what.get(self._about["command"], "Raster")
        self.addParameter(QgsProcessingParameterRasterLayer(SRC, title))
        for option in self._options:
            parameter = self._parameter(option)
            if option["level"] == "advanced":
                advanced = QgsProcessingParameterDefinition.FlagAdvanced
                parameter.setFlags(parameter.flags() | advanced)
            self.addParameter(parameter)
            if option["kind"] == "stats":
                title = "Bands of these statistics, such as 1,3"
                self.addParameter(
                    QgsProcessingParameterString(STATS_BANDS, title, None, False, True)
                )
        if "DST" in self._about["outputs"]:
            self.addParameter(QgsProcessingParameterRasterDestination(DST, LAYERS["DST"]))

    def _parameter(self, option):
        key, kind, title, default = (option[name] for name in ("key", "kind", "title", "default"))
        if kind == "flag":
            return QgsProcessingParameterBoolean(key, title, False)
        if kind == "choice":
            choices = option["value"].split("|")
            return QgsProcessingParameterEnum(
                key, title, choices, False, default or None, True, True
            )
        if kind in ("integer", "number"):
            numbers = QgsProcessingParameterNumber
            form = numbers.Integer if kind == "integer" else numbers.Double
            return numbers(key, title, form, float(default) if default else None, True)
        if kind in ("raster", "stats"):
            return QgsProcessingParameterRasterLayer(key, title, None, True)
        if kind in ("text", "list"):
            return QgsProcessingParameterString(key, title, default or None, False, True)
        made = option["name"] in self._about["made"]
        if kind == "file_vector":
            return QgsProcessingParameterVectorDestination(
                key, title, QgsProcessing.TypeVector, None, True, made
            )
        if kind == "file_image":
            return QgsProcessingParameterFileDestination(
                key, title, "PNG (*.png)", None, True, made
            )
        return QgsProcessingParameterRasterDestination(key, title, None, True, made)

    # -------------------------------------------------------------------------------- the command
    def _source(self, parameters, key, context):
        """Return the name of a raster that the command can open."""
        layer = self.parameterAsRasterLayer(parameters, key, context)
        if layer is None or layer.providerType() != "gdal":
            raise QgsProcessingException(
                f"{key}: is no raster file; save the layer as a file first"
            )
        return layer.source()

    def _value(self, option, parameters, context):
        """Return the words of an option on the command line."""
        key, kind, name = option["key"], option["kind"], option["name"]
        if kind == "flag":
            return [name] if self.parameterAsBoolean(parameters, key, context) else []
        if parameters.get(key) is None:
            return []
        if kind == "list":
            given = self.parameterAsString(parameters, key, context).split("|")
            return [word for value in given if value.strip() for word in (name, value.strip())]
        if kind == "choice":
            value = self.parameterAsEnumString(parameters, key, context)
        elif kind == "integer":
            value = str(self.parameterAsInt(parameters, key, context))
        elif kind == "number":
            value = repr(self.parameterAsDouble(parameters, key, context))
        elif kind == "raster":
            value = self._source(parameters, key, context)
        elif kind == "stats":
            bands = self.parameterAsString(parameters, STATS_BANDS, context)
            value = ",".join([self._source(parameters, key, context), *([bands] if bands else [])])
        elif kind == "text":
            value = self.parameterAsString(parameters, key, context)
        else:
            value = self.parameterAsOutputLayer(parameters, key, context)
        return [name, value] if value else []

    def command(self, parameters, context):
        """Return the command line, and the outputs by key."""
        words = [self._program, self._about["command"], "--overwrite", "--log", "json"]
        outputs = {}
        for option in self._options:
            given = self._value(option, parameters, context)
            words += given
            if given and option["kind"].startswith("file_"):
                outputs[option["key"]] = given[1]
        words += ["--", self._source(parameters, SRC, context)]
        if "DST" in self._about["outputs"]:
            outputs[DST] = self.parameterAsOutputLayer(parameters, DST, context)
            words.append(outputs[DST])
        return words, outputs

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Run the command; cancelling ends it."""
        words, outputs = self.command(parameters, context)
        feedback.pushCommandInfo(shlex.join(words))
        message = _run(words, feedback)
        if feedback.isCanceled():
            return {}
        if message:
            raise QgsProcessingException(message)
        self._set_styles(outputs, context)
        return outputs

    def _set_styles(self, outputs, context):
        """Set the style of those outputs that QGIS will load."""
        styles = {"POLYGONS": "polygons"}
        if self._name == "saliency":
            styles[DST] = "saliency"
        for key, name in styles.items():
            path = outputs.get(key)
            if path and context.willLoadLayerOnCompletion(path):
                context.layerToLoadOnCompletionDetails(path).setPostProcessor(_style(name))


def _run(words, feedback):
    """Run a command whose lines are of --log json; return why it failed, or nothing."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    lines = queue.Queue()

    def read():
        for line in process.stderr:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    messages, line = [], ""
    while line is not None:
        if feedback.isCanceled():
            process.terminate()
        try:
            line = lines.get(timeout=0.05)
        except queue.Empty:
            continue
        if line:
            messages += _take(line.strip(), feedback)
    process.stderr.close()
    if process.wait() == 0:
        for message in messages:
            feedback.pushInfo(message)
        return ""
    return "\n".join(messages) or f"qfz: exit status {process.returncode}"


def _take(line, feedback):
    """Show the progress that a line reports; return the message in the line, if there is one."""
    try:
        event = dict(json.loads(line))
    except (ValueError, TypeError):
        return [line] if line else []  # of a library, or of the command line
    if event.get("event") == "progress":
        feedback.setProgress(100 * event["done"])
    return [event["message"]] if "message" in event else []

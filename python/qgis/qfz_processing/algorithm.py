# SPDX-License-Identifier: MIT
"""An algorithm of QGIS Processing that runs one command of qfz."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from qgis.core import (
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
)

from .options import ALGORITHMS, parameters_of

SRC, DST = "INPUT", "OUTPUT"
_STYLES = Path(__file__).with_name("styles")


class Style(QgsProcessingLayerPostProcessorInterface):
    """Draws a layer in a style of the plugin."""

    def __init__(self, name):
        super().__init__()
        self.path = str(_STYLES / f"{name}.qml")

    def postProcessLayer(self, layer, context, feedback):  # noqa: N802
        """Set the style of a layer that has been loaded."""
        layer.loadNamedStyle(self.path)
        layer.triggerRepaint()


class QfzAlgorithm(QgsProcessingAlgorithm):
    """One entry of `options.ALGORITHMS`."""

    def __init__(self, program, name):
        super().__init__()
        self._program = program
        self._name = name
        self._about = ALGORITHMS[name]
        self._options = parameters_of(program, name)
        self._styles = []  # QGIS does not own them

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
        lines = [f"<b>{o['key']}</b> ({o['name']}): {o['help']}" for o in self._options]
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
        if "DST" in self._about["outputs"]:
            self.addParameter(QgsProcessingParameterRasterDestination(DST, "Result"))

    def _parameter(self, option):
        key, kind, default = option["key"], option["kind"], option["default"]
        title = option["help"].split(". ")[0].split(": ")[0].rstrip(".")
        if kind == "flag":
            return QgsProcessingParameterBoolean(key, title, False)
        if kind == "choice":
            choices = option["value"].split("|")
            first = choices.index(default) if default else None
            return QgsProcessingParameterEnum(key, title, choices, False, first, True)
        if kind == "number":
            number = float(default) if default else None
            return QgsProcessingParameterNumber(
                key, title, QgsProcessingParameterNumber.Double, number, True
            )
        if kind == "raster":
            return QgsProcessingParameterRasterLayer(key, title, None, True)
        if kind == "text":
            return QgsProcessingParameterString(key, title, default or None, False, True)
        wanted = option["name"] == self._about["outputs"][0]
        made = not wanted  # optional, and not made by default
        if kind == "file_vector":
            return QgsProcessingParameterVectorDestination(
                key, title, QgsProcessing.TypeVector, None, made, wanted
            )
        if kind == "file_image":
            return QgsProcessingParameterFileDestination(
                key, title, "PNG (*.png)", None, made, wanted
            )
        return QgsProcessingParameterRasterDestination(key, title, None, made, wanted)

    # -------------------------------------------------------------------------------- the command
    def _value(self, option, parameters, context):
        """Return the words of an option on the command line."""
        key, kind, name = option["key"], option["kind"], option["name"]
        if kind == "flag":
            return [name] if self.parameterAsBoolean(parameters, key, context) else []
        if parameters.get(key) is None:
            return []
        if kind == "choice":
            value = option["value"].split("|")[self.parameterAsEnum(parameters, key, context)]
        elif kind == "number":
            value = repr(self.parameterAsDouble(parameters, key, context))
        elif kind == "raster":
            value = self.parameterAsRasterLayer(parameters, key, context).source()
        elif kind == "text":
            value = self.parameterAsString(parameters, key, context)
        else:
            value = self.parameterAsOutputLayer(parameters, key, context)
        return [name, value] if value else []

    def command(self, parameters, context):
        """Return the command line, and the outputs by key."""
        words, outputs = [self._program, self._about["command"], "--overwrite", "--quiet"], {}
        for option in self._options:
            given = self._value(option, parameters, context)
            words += given
            if given and option["kind"].startswith("file_"):
                outputs[option["key"]] = given[1]
        words += ["--", self.parameterAsRasterLayer(parameters, SRC, context).source()]
        if "DST" in self._about["outputs"]:
            outputs[DST] = self.parameterAsOutputLayer(parameters, DST, context)
            words.append(outputs[DST])
        return words, outputs

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Run the command; cancelling ends it."""
        words, outputs = self.command(parameters, context)
        feedback.pushCommandInfo(" ".join(words))
        process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        while process.poll() is None:
            if feedback.isCanceled():
                process.terminate()
            time.sleep(0.05)
        message = process.stderr.read().strip()
        process.stderr.close()
        if feedback.isCanceled():
            return {}
        if process.returncode != 0:
            raise QgsProcessingException(message or f"qfz: exit status {process.returncode}")
        if message:
            feedback.pushInfo(message)
        self._set_styles(outputs, context)
        return outputs

    def _set_styles(self, outputs, context):
        """Set the style of those outputs that QGIS will load."""
        styles = {"COLORS": None, "POLYGONS": "polygons", DST: None}
        if self._name == "saliency":
            styles[DST] = "saliency"
        for key, name in styles.items():
            path = outputs.get(key)
            if name and path and context.willLoadLayerOnCompletion(path):
                style = Style(name)
                self._styles.append(style)
                context.layerToLoadOnCompletionDetails(path).setPostProcessor(style)

# SPDX-License-Identifier: MIT
"""The Processing provider: one algorithm for each entry of `options.ALGORITHMS`."""

from __future__ import annotations

from qgis.core import Qgis, QgsApplication, QgsMessageLog, QgsProcessingProvider

from .algorithm import QfzAlgorithm
from .options import ALGORITHMS, fault, program


class Provider(QgsProcessingProvider):
    """The algorithms of qfz."""

    def id(self):
        """Return the name before the colon, as in qfz:label."""
        return "qfz"

    def name(self):
        """Return the name in the toolbox."""
        return "qfz"

    def loadAlgorithms(self):  # noqa: N802
        """Add all algorithms, with the options of the command that is installed."""
        command = program()
        if why := fault(command):
            QgsMessageLog.logMessage(why, "qfz", Qgis.Warning)
            return
        for name in ALGORITHMS:
            self.addAlgorithm(QfzAlgorithm(command, name))

    def warningMessage(self):  # noqa: N802
        """Return why there are no algorithms, or nothing."""
        return fault(program())


class Plugin:
    """What QGIS loads and unloads."""

    def __init__(self):
        self.provider = None

    def initProcessing(self):  # noqa: N802
        """Register the provider; qgis_process calls only this."""
        self.provider = Provider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):  # noqa: N802
        """Register the provider."""
        self.initProcessing()

    def unload(self):
        """Remove the provider."""
        QgsApplication.processingRegistry().removeProvider(self.provider)

# SPDX-License-Identifier: MIT
"""The Processing provider: one algorithm for each entry of `options.ALGORITHMS`."""

from __future__ import annotations

from qgis.core import QgsApplication, QgsProcessingProvider

from .algorithm import QfzAlgorithm
from .options import ALGORITHMS


class Provider(QgsProcessingProvider):
    """The algorithms of qfz."""

    def id(self):
        """Return the name before the colon, as in qfz:label."""
        return "qfz"

    def name(self):
        """Return the name in the toolbox."""
        return "qfz"

    def loadAlgorithms(self):  # noqa: N802
        """Add all algorithms."""
        for name in ALGORITHMS:
            self.addAlgorithm(QfzAlgorithm(name))


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

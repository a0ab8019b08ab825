# SPDX-License-Identifier: MIT
"""A plugin of QGIS with the Processing algorithms of qfz."""


def classFactory(iface):  # noqa: N802 - the name that QGIS calls
    """Return the plugin."""
    from .provider import Plugin

    return Plugin()

# SPDX-License-Identifier: MIT
"""qgis_layers.py SCENE FOLDER - run by test_qgis_process.py with a Python that has QGIS.

Runs algorithms of the plugin as the toolbox does, with outputs that are loaded as layers, draws
each layer at one pixel of the picture per pixel of the raster, and prints what the layers are, as
JSON.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProject,
    QgsRasterLayer,
)
from qgis.PyQt.QtCore import QSize

sys.path.insert(0, str(Path(__file__).parents[1] / "qgis"))
from qfz_processing import classFactory  # noqa: E402


def run(name, parameters, loaded):
    """Run an algorithm; return the layers that it loads, by the key of the output."""
    project, feedback = QgsProject.instance(), QgsProcessingFeedback()
    context = QgsProcessingContext()
    context.setProject(project)
    for key, path in loaded.items():
        parameters[key] = QgsProcessingOutputLayerDefinition(path, project)
    algorithm = QgsApplication.processingRegistry().algorithmById(f"qfz:{name}")
    _, ok = algorithm.run(parameters, context, feedback)
    assert ok, feedback.textLog()
    gc.collect()  # what only the algorithm held is gone when layers are loaded
    layers = {}
    for path, details in context.layersToLoadOnCompletion().items():
        layer = QgsProcessingUtils.mapLayerFromString(path, context)
        if details.postProcessor():
            details.postProcessor().postProcessLayer(layer, context, feedback)
        key = next(key for key, given in loaded.items() if given == path)
        layers[key] = (context.takeResultLayer(layer.id()), details.name)
    return layers


def draw(layer, like, path):
    """Draw a layer over the extent of a raster."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setOutputSize(QSize(like.width(), like.height()))
    settings.setExtent(like.extent())
    settings.setDestinationCrs(like.crs())
    settings.setFlag(QgsMapSettings.Antialiasing, False)
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    picture = job.renderedImage()
    values = [
        [picture.pixel(x, y) & 0xFFFFFF for x in range(like.width())] for y in range(like.height())
    ]
    path.write_text(json.dumps(values))


def main(scene, folder):
    """Load and draw the layers."""
    application = QgsApplication([], False)
    application.initQgis()
    plugin = classFactory(None)
    plugin.initProcessing()
    about, like = {}, QgsRasterLayer(scene, "scene")
    outputs = {"OUTPUT": "labels.tif", "COLORS": "colors.tif", "POLYGONS": "polygons.gpkg"}
    for name, parameters, loaded in [
        ("label", {"ALPHA": 3}, outputs),
        ("saliency", {"LAYOUT": "pixel"}, {"OUTPUT": "levels.tif"}),
    ]:
        paths = {key: str(folder / value) for key, value in loaded.items()}
        for key, (layer, title) in run(name, {"INPUT": scene, **parameters}, paths).items():
            about[f"{name}.{key}"] = {
                "title": title,
                "renderer": type(layer.renderer()).__name__,
                "blend": int(layer.blendMode()),
                "crs": layer.crs().authid(),
            }
            draw(layer, like, folder / f"{name}.{key}.json")
            del layer
    print(json.dumps(about))
    plugin.unload()
    del like
    application.exitQgis()


main(sys.argv[1], Path(sys.argv[2]))

# SPDX-License-Identifier: MIT
"""From the boundary probabilities of a network to a hierarchy of regions, by `edges`.

boundaries.py SCENE PICTURE.png [MIN_AREA]

A network for boundaries gives each pixel a probability.  Here the gradient of the scene stands in for
the network: `probabilities` is the function to replace.
"""

import sys

import matplotlib as mpl
import numpy as np
import qfz
from osgeo import gdal_array

mpl.use("Agg")
from matplotlib import pyplot as plt


def probabilities(bands):
    """Return float32 probabilities of a boundary, (H, W): the gradient, scaled to 0..1."""
    rows, columns = np.gradient(bands.astype(np.float32), axis=(1, 2))
    slope = np.sqrt((rows**2 + columns**2).sum(axis=0))
    low, high = np.percentile(slope, [2, 98])
    return np.clip((slope - low) / (high - low), 0, 1).astype(np.float32)


scene, picture = sys.argv[1:3]
min_area = int(sys.argv[3]) if len(sys.argv) > 3 else 20
bands = gdal_array.LoadFile(scene)  # (B, H, W)
boundary = probabilities(bands)

# An edge between two neighbours is as much a boundary as the stronger of its two pixels.
edges = np.zeros((2, *boundary.shape), np.float32)
edges[0, :, :-1] = np.maximum(boundary[:, :-1], boundary[:, 1:])
edges[1, :-1] = np.maximum(boundary[:-1], boundary[1:])
hierarchy = qfz.saliency(boundary, edges=edges, min_area=min_area)
cuts = {p: qfz.cut(hierarchy, p) for p in (0.1, 0.2, 0.3)}
for p, (_, n) in cuts.items():
    print(f"{n} regions that boundaries above {p} part")

# The picture: probabilities, the saliency of the boundaries that remain, and two cuts.
strength = np.fmax(hierarchy[0], hierarchy[1])
shown = [(boundary, "boundary probabilities"), (strength, "saliency of boundaries")]
for p in 0.1, 0.3:
    labels, n = cuts[p]
    sums = [np.bincount(labels.ravel(), band.ravel(), n + 1) for band in bands[:3]]
    means = np.stack(sums[::-1], axis=-1) / np.maximum(np.bincount(labels.ravel()), 1)[:, None]
    low, high = np.percentile(bands[:3], [2, 98])
    shown.append((np.clip((means[labels] - low) / (high - low), 0, 1), f"{n} regions, {p}"))
figure, axes = plt.subplots(2, 2, figsize=(10, 10), layout="constrained")
for axis, (image, title) in zip(axes.ravel(), shown):
    axis.imshow(image, cmap="gray_r", interpolation="none")
    axis.set_title(title)
    axis.axis("off")
figure.savefig(picture, dpi=80)

# SPDX-License-Identifier: MIT
"""Superpixels at any scale: one hierarchy, its curve, and a cut for each wanted number of regions.

superpixels.py SCENE PICTURE.png [NUMBER...]

The hierarchy is computed once; `curve` says which alpha leaves how many regions, and `cut` labels
them.  Regions of a smaller number are unions of those of a larger number.
"""

import sys

import matplotlib as mpl
import numpy as np
import qfz
from osgeo import gdal_array

mpl.use("Agg")
from matplotlib import pyplot as plt

scene, picture = sys.argv[1:3]
numbers = [int(a) for a in sys.argv[3:]] or [1000, 500, 250]
bands = gdal_array.LoadFile(scene)  # (B, H, W)
red_green_blue = (3, 2, 1) if len(bands) > 12 else (2, 1, 0)

# No region of any scale is smaller than 20 pixels.
levels = qfz.saliency(bands, min_area=20, channel_axis=0)
alphas, counts = qfz.curve(bands, min_area=20, channel_axis=0)
low, high = np.percentile(bands[list(red_green_blue)], [2, 98])
figure, axes = plt.subplots(1, len(numbers), figsize=(5 * len(numbers), 5), layout="constrained")
for axis, number in zip(np.atleast_1d(axes), numbers):
    alpha = alphas[np.argmax(counts <= number)]  # the least alpha that leaves no more regions
    labels, n = qfz.cut(levels, alpha)
    pixels = np.maximum(np.bincount(labels.ravel()), 1)
    means = [np.bincount(labels.ravel(), bands[b].ravel()) / pixels for b in red_green_blue]
    painted = np.clip((np.stack(means, axis=-1)[labels] - low) / (high - low), 0, 1)
    axis.imshow(painted, interpolation="none")
    axis.set_title(f"{n} regions, alpha {alpha:g}")
    axis.axis("off")
    print(f"at most {number} regions: {n} at alpha {alpha:g}")
figure.savefig(picture, dpi=80)

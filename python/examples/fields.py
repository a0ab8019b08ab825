# SPDX-License-Identifier: MIT
"""Fields of a Sentinel-2 scene: regions of similar spectra, drawn beside the scene.

fields.py SCENE PICTURE.png [ALPHA [OMEGA [MIN_AREA]]]
"""

import sys

import matplotlib as mpl
import numpy as np
import qfz
from osgeo import gdal_array

mpl.use("Agg")
from matplotlib import pyplot as plt

scene, picture = sys.argv[1:3]
alpha, omega, min_area = (
    float(a) for a in sys.argv[3:] + ["150", "1200", "30"][len(sys.argv) - 3 :]
)

bands = gdal_array.LoadFile(scene)  # (B, H, W)
labels, table = qfz.regions(bands, alpha, omega=omega, min_area=min_area, channel_axis=0)
means = np.vstack([np.zeros(len(bands)), table["mean"]])[labels]  # (H, W, B)
fields = table[table["pixels"] >= 100]
print(f"{len(table)} regions, {len(fields)} of at least 100 pixels")

# The picture: red, green and blue of the scene with outlines of its regions, and their means.
red_green_blue = (3, 2, 1) if len(bands) > 12 else (2, 1, 0)
low, high = np.percentile(bands[list(red_green_blue)], [2, 98])
outlined = np.moveaxis(bands, 0, 2)[..., red_green_blue].astype(float)
outlined[:, 1:][labels[:, 1:] != labels[:, :-1]] = high, high, low
outlined[1:][labels[1:] != labels[:-1]] = high, high, low
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for axis, image in zip(axes, (outlined, means[..., red_green_blue])):
    axis.imshow(np.clip((image - low) / (high - low), 0, 1))
    axis.axis("off")
figure.savefig(picture, dpi=80)

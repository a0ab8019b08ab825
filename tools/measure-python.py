#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure-python.py IMAGE.npy - the Python package beside other packages, on one 8-bit image.

Prints a table in Markdown: processor time of the fastest of three runs, one thread, each function in
turn.  Where CuPy finds a GPU, a second table follows: elapsed time of the fastest of five runs on an
array in its memory, until the GPU has ended.  Packages that cannot be imported are left out.  Numbers
of regions must agree.
"""

import importlib
import importlib.metadata
import sys
import time

import numpy as np
import qfz

ALPHA, OMEGA, LEAST = 4, 40, 30


DISTRIBUTIONS = {
    "cc3d": "connected-components-3d",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
}


def version(name):
    try:
        importlib.import_module(name)
        return importlib.metadata.version(DISTRIBUTIONS.get(name, name))
    except ImportError:
        return None


def seconds(function):
    best, result = float("inf"), None
    for _ in range(3):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def cases(image):
    """Yield (what, package, function that returns the number of regions or None)."""
    binary = (image > np.median(image)).astype(np.uint8)
    above_0 = np.minimum(image, 254) + np.uint8(1)  # cc3d's background is 0

    what = "components of a binary image"
    yield what, "qfz", lambda: qfz.label(binary, background=0, engine="cpu")[1]
    if version("cv2"):
        import cv2

        cv2.setNumThreads(1)
        yield what, "cv2", lambda: cv2.connectedComponents(binary, connectivity=4)[0] - 1
    if version("scipy"):
        from scipy import ndimage

        yield what, "scipy", lambda: ndimage.label(binary)[1]
    if version("cc3d"):
        import cc3d

        yield (
            what,
            "cc3d",
            lambda: cc3d.connected_components(
                binary, connectivity=4, return_N=True, binary_image=True
            )[1],
        )
    if version("skimage"):
        from skimage import measure

        yield what, "skimage", lambda: measure.label(binary, connectivity=1, return_num=True)[1]

    what = "flat zones"
    yield what, "qfz", lambda: qfz.label(above_0, engine="cpu")[1]
    if version("cc3d"):
        yield (
            what,
            "cc3d",
            lambda: cc3d.connected_components(above_0, connectivity=4, return_N=True)[1],
        )
    if version("skimage"):
        yield what, "skimage", lambda: measure.label(above_0, connectivity=1, return_num=True)[1]

    what = f"alpha-components, alpha = {ALPHA}"
    yield what, "qfz", lambda: qfz.label(above_0, ALPHA, engine="cpu")[1]
    if version("cc3d"):
        yield (
            what,
            "cc3d",
            lambda: cc3d.connected_components(above_0, delta=ALPHA, connectivity=4, return_N=True)[
                1
            ],
        )

    what = "saliency"
    yield what, "qfz", lambda: qfz.saliency(image, engine="cpu")
    if version("higra"):
        yield what, "higra", lambda: higra_saliency(image)

    what = f"(alpha, omega)-components, omega = {OMEGA}"
    yield what, "qfz", lambda: qfz.label(image, np.inf, omega=OMEGA, engine="cpu")[1]


def higra_saliency(image):
    import higra

    graph = higra.get_4_adjacency_graph(image.shape)
    weights = higra.weight_graph(graph, image.astype(np.float32), higra.WeightFunction.L1)
    higra.saliency(*higra.quasi_flat_zone_hierarchy(graph, weights))


def gpu_cases(image):
    """As cases(), on a CuPy array."""
    import cupy
    from cupyx.scipy import ndimage

    binary = (image > int(cupy.median(image))).astype(cupy.uint8)
    what = "components of a binary image"
    yield what, "qfz", lambda: qfz.label(binary, background=0)[1]
    yield what, "cupyx.scipy.ndimage", lambda: ndimage.label(binary)[1]
    yield "flat zones", "qfz", lambda: qfz.label(image)[1]
    what = f"alpha-components, alpha = {ALPHA}"
    yield what, "qfz", lambda: qfz.label(image, ALPHA)[1]
    what = f"alpha-components of at least {LEAST} pixels"
    yield what, "qfz", lambda: qfz.label(image, ALPHA, min_area=LEAST)[1]
    yield "saliency", "qfz", lambda: qfz.saliency(image)
    levels = qfz.saliency(image)
    yield f"cut of the saliency, alpha = {ALPHA}", "qfz", lambda: qfz.cut(levels, ALPHA)[1]
    what = f"(alpha, omega)-components, omega = {OMEGA}"
    yield what, "qfz", lambda: qfz.label(image, np.inf, omega=OMEGA)[1]


def gpu_seconds(function):
    import cupy

    best, result = float("inf"), None
    for _ in range(5):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        result = function()
        cupy.cuda.Device().synchronize()
        best = min(best, time.perf_counter() - start)
    return best, result


def has_gpu():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # a missing package, or a driver that CUDA does not accept
        return False


def print_table(cases_of, image, measure, unit):
    print(f"\n| result | package | {unit} | regions |\n| --- | --- | ---: | ---: |")
    for what, package, function in cases_of(image):
        spent, found = measure(function)
        number = int(found) if isinstance(found, (int, np.integer)) else ""
        print(f"| {what} | {package} | {spent:.5f} | {number} |", flush=True)


def main():
    image = np.load(sys.argv[1])
    names = [n for n in ("numpy", "cv2", "scipy", "cc3d", "skimage", "higra") if version(n)]
    print(f"{image.shape[0]} x {image.shape[1]} pixels; qfz {qfz.__version__}", end="")
    print("".join(f", {n} {version(n)}" for n in names))
    print_table(cases, image, seconds, "processor seconds")
    if has_gpu():
        import cupy

        print(
            f"\nCuPy {cupy.__version__}, {cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}"
        )
        print_table(gpu_cases, cupy.asarray(image), gpu_seconds, "seconds")


main()

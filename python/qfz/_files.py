# SPDX-License-Identifier: MIT
"""Functions on raster files: jobs of the C library, streamed tile by tile."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from ctypes import byref
from typing import TYPE_CHECKING

import numpy as np

from . import _library, _structs
from ._job import Job, Name, Options, bytes_of
from ._reports import CheckReport, FileCurve, Report

if TYPE_CHECKING:
    from typing_extensions import Unpack


def label_file(
    src: Name,
    dst: Name | None,
    alpha: float | Sequence[float] | None = None,
    *,
    regions_target: int | None = None,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    background: float | None = None,
    regions: Name | None = None,
    neighbours: Name | None = None,
    colors: Name | None = None,
    quicklook: Name | None = None,
    quicklook_style: str | None = None,
    stats: Name | None = None,
    stats_bands: Sequence[int] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Label the quasi-flat zones of a raster file; the command ``qfz label``.

    Parameters
    ----------
    src : str, path, or open rasterio dataset
        Any name of a raster that GDAL can read.
    dst : str or path, or None
        Raster of labels.  None: count the regions only.
    alpha : float, or sequence of float, optional
        Largest dissimilarity of joined neighbours.  None: neighbours join if their values are
        equal.  Several: the names of dst and all other outputs contain "{alpha}", and each alpha
        has outputs of its own, from one reading of src.
    regions_target : int, optional
        In place of alpha: the largest number of regions.  The least alpha with no more regions is
        the `alpha` of the report.
    min_area : int, optional
        Least number of pixels of a region.
    min_area_m2 : float, optional
        Least area of a region in square metres; in square units of the raster without a CRS.
    background : float, optional
        Pixels with this value in every band have label 0.
    regions : str or path, optional
        Also write a table of the regions.
    neighbours : str or path, optional
        Also write a table of the pairs of neighbouring regions.
    colors : str or path, optional
        Also write a raster of few colours, different where regions touch.
    quicklook : str or path, optional
        Also draw the regions and their borders into this PNG image.
    quicklook_style : {"colors", "means", "image"}, optional
        What the image shows under the borders: such colours, means of src, or src itself
        (`cut_file`, `regions_file`: of stats).
    stats : str, path, or open rasterio dataset, optional
        Add the statistics of this raster, of the size of src, to the table of the regions.
    stats_bands : sequence of int, optional
        The bands of stats to use, from 1; None: every band.
    **options
        See `Options`.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError
        The reason that the library gives, with the name of the file.
    QfzLibraryError
        There is no libqfz with GDAL.

    Examples
    --------
    >>> report = label_file("scene.tif", "labels.tif", alpha=8, overwrite=True)
    """
    more = {
        "regions_target": regions_target,
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "background": background,
        "regions": regions,
        "neighbours": neighbours,
        "colors": colors,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
        "stats": stats,
        "stats_bands": stats_bands,
    }
    return Job("label", src, dst, {"alpha": alpha}, {**options, **more}).run()


def simplify_file(
    src: Name,
    dst: Name | None,
    alpha: float | Sequence[float] | None = None,
    omega: float | Sequence[float] | None = None,
    *,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    labels: Name | None = None,
    regions: Name | None = None,
    neighbours: Name | None = None,
    colors: Name | None = None,
    quicklook: Name | None = None,
    quicklook_style: str | None = None,
    **options: Unpack[Options],
) -> Report:
    """Paint each (alpha, omega)-component of a raster file with its mean; ``qfz simplify``.

    Parameters
    ----------
    src, dst, min_area, min_area_m2, regions, neighbours, colors
        As those of `label_file`.
    quicklook, quicklook_style, **options
        As those of `label_file`.
    alpha, omega : float, optional
        Limits of a region as those of `label`; None: no limit.  One of them is required.
    labels : str or path, optional
        Also write the labels of the regions into this raster.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> report = simplify_file("scene.tif", "simple.tif", omega=24)
    """
    if alpha is None and omega is None:
        raise ValueError("simplify_file needs alpha, omega or both")
    more = {
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "labels": labels,
        "regions": regions,
        "neighbours": neighbours,
        "colors": colors,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
    }
    rule = {"alpha": alpha, "omega": omega}
    return Job("simplify", src, dst, rule, {**options, **more}).run()


def saliency_file(
    src: Name,
    dst: Name,
    *,
    layout: str = "edges",
    min_area: int | None = None,
    min_area_m2: float | None = None,
    quicklook: Name | None = None,
    **options: Unpack[Options],
) -> Report:
    """Write the saliency of every edge of a raster file; ``qfz saliency``.

    Parameters
    ----------
    src, dst, min_area, min_area_m2, **options
        As those of `label_file`.
    layout : {"edges", "pixel", "khalimsky"}
        `cut_file` reads "edges" only.
    quicklook : str or path, optional
        Also draw the hierarchy as lines into this PNG image.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> report = saliency_file("scene.tif", "saliency.tif", overwrite=True)
    """
    more = {
        "layout": layout,
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "quicklook": quicklook,
    }
    return Job("saliency", src, dst, {}, {**options, **more}).run()


def cut_file(
    src: Name,
    dst: Name | None,
    alpha: float | Sequence[float] | None = None,
    *,
    regions_target: int | None = None,
    regions: Name | None = None,
    neighbours: Name | None = None,
    colors: Name | None = None,
    quicklook: Name | None = None,
    quicklook_style: str | None = None,
    stats: Name | None = None,
    stats_bands: Sequence[int] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Label the regions of a hierarchy that `saliency_file` has written; ``qfz cut``.

    Parameters
    ----------
    src, dst, regions, neighbours, colors
        As those of `label_file`.
    quicklook, quicklook_style, stats, stats_bands, **options
        As those of `label_file`.
    alpha, regions_target : float, and int
        As those of `label_file`; one of them is required.  The connectivity is that of src.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> report = cut_file("saliency.tif", "labels.tif", alpha=8, overwrite=True)
    """
    if alpha is None and regions_target is None:
        raise ValueError("cut_file needs alpha or regions_target")
    more = {
        "regions_target": regions_target,
        "regions": regions,
        "neighbours": neighbours,
        "colors": colors,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
        "stats": stats,
        "stats_bands": stats_bands,
    }
    return Job("cut", src, dst, {"alpha": alpha}, {**options, **more}).run()


def regions_file(
    src: Name,
    *,
    regions: Name | None = None,
    neighbours: Name | None = None,
    colors: Name | None = None,
    quicklook: Name | None = None,
    quicklook_style: str | None = None,
    stats: Name | None = None,
    stats_bands: Sequence[int] | None = None,
    **options: Unpack[Options],
) -> Report:
    """Describe the regions of a raster of labels, of any origin; ``qfz regions``.

    At least one output is needed.

    Parameters
    ----------
    src, regions, neighbours, colors, quicklook, quicklook_style, stats, stats_bands, **options
        As those of `label_file`.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> report = regions_file("labels.tif", regions="r.csv", stats="dem.tif")
    """
    more = {
        "regions": regions,
        "neighbours": neighbours,
        "colors": colors,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
        "stats": stats,
        "stats_bands": stats_bands,
    }
    return Job("regions", src, None, {}, {**options, **more}).run()


def tree_file(
    src: Name,
    dst: Name,
    forest: Name,
    *,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    regions: Name | None = None,
    quicklook: Name | None = None,
    quicklook_style: str | None = None,
    **options: Unpack[Options],
) -> Report:
    """Write the hierarchy of a raster file as a table; ``qfz tree``.

    Parameters
    ----------
    src, min_area, min_area_m2, regions, quicklook, quicklook_style, **options
        As those of `label_file`.
    dst : str or path
        Raster of the labels of the regions of level 0.
    forest : str or path
        Table of the edges of the minimum spanning forest between these regions.

    Returns
    -------
    Report

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> report = tree_file("scene.tif", "zones.tif", "forest.csv")
    """
    more = {
        "forest": forest,
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "regions": regions,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
    }
    return Job("forest", src, dst, {}, {**options, **more}).run()


def curve_file(
    src: Name,
    *,
    plot: Name | None = None,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    **options: Unpack[Options],
) -> FileCurve:
    """Count the alpha-components of a raster file for every alpha; ``qfz curve``.

    Parameters
    ----------
    src, min_area, min_area_m2, **options
        As those of `label_file`.
    plot : str or path, optional
        Also draw the curve into this PNG image.

    Returns
    -------
    FileCurve

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label_file`.

    Examples
    --------
    >>> curve = curve_file("scene.tif")
    """
    more = {"min_area": min_area, "min_area_m2": min_area_m2}
    job = Job("curve", src, None, {}, {**options, **more})
    curve = _structs.Curve(ctypes.sizeof(_structs.Curve), exact_below=math.inf)
    job.struct.curve = ctypes.pointer(curve)
    report, error = job.run(), _structs.Error()
    try:
        if plot is not None:
            status = job.library.qfz_curve_plot(
                byref(curve), bytes_of(plot), job.struct.overwrite, byref(error)
            )
            _library.check(status, error)
        alpha = np.array(curve.alpha[: curve.n], np.float64)
        regions = np.array(curve.regions[: curve.n], np.uint64)
    finally:
        job.library.qfz_curve_release(byref(curve))
    return FileCurve(alpha, regions, curve.exact_below, report)


def check_file(
    raster: Name,
    src: Name | None = None,
    alpha: float | None = None,
    omega: float | Sequence[float] | None = None,
    *,
    table: Name | None = None,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    background: float | None = None,
    **options: Unpack[Options],
) -> CheckReport:
    """Check labels or saliency with code that shares nothing with the engines; ``qfz check``.

    Parameters
    ----------
    background, **options
        As those of `label_file`.
    raster : str, path, or open rasterio dataset
        Labels or saliency to check.
    src : str, path, or open rasterio dataset, optional
        The raster that they were made of.  None: labels are checked for themselves: whether each
        region is connected, and numbered by its first pixel.
    alpha, omega, min_area, min_area_m2
        Each that is given holds, as do distance and connectivity of the options; for the others the
        metadata of the raster does.
    table : str or path, optional
        Table of regions to compare with the labels.

    Returns
    -------
    CheckReport
        Its `faults` is 0 if the raster is right.

    Raises
    ------
    QfzArgumentError, QfzFileError, QfzMemoryError
        The check could not be made, for the reason given.

    Examples
    --------
    >>> assert check_file("labels.tif", "scene.tif").faults == 0
    """
    more = {"min_area": min_area, "min_area_m2": min_area_m2, "background": background}
    job = Job("label", src, None, {"alpha": alpha, "omega": omega}, {**options, **more})
    job.struct.count_only = False
    check = _structs.Check(
        ctypes.sizeof(_structs.Check),
        bytes_of(raster),
        has_connectivity=int(options.get("connectivity") is not None),
        has_distance=int(options.get("distance") is not None),
        table=None if table is None else bytes_of(table),
    )
    return job.check(check)

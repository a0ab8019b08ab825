# SPDX-License-Identifier: MIT
"""Functions on raster files: jobs of the C library, streamed tile by tile."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_char_p, c_int
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Union

import numpy as np
import numpy.typing as npt

from . import _library, _structs
from ._session import choose, criterion

if TYPE_CHECKING:
    from typing_extensions import Unpack

Name = Union[str, "os.PathLike[str]", Any]
_PHASES = {"all": 0, "summarise": 1, "stitch": 2, "resolve": 3}


class Progress(NamedTuple):
    """How far a job is."""

    done: float  #: part of the whole, 0 to 1
    step: str  #: such as "pass 1 of 2"
    tiles_done: int  #: of this step
    tiles: int  #: of this step; 0 where a step has no tiles


@dataclass(frozen=True)
class Report:
    """What a job did."""

    regions: int  #: number of regions; 0 for saliency
    pixels: int  #: number of valid pixels
    width: int
    height: int
    tiles: int
    engine: str
    gpus: int  #: number of GPUs used
    warning: str  #: such as why the CPU did the work; or ""
    seconds: float
    steps: dict[str, float]  #: seconds of each step
    retries: int  #: reads and writes repeated after a failure, since the process started
    peak_rss_bytes: int  #: of this process since it started
    next_phase: str  #: of a job in phases: the phase to run next; "all": the job is complete
    alpha: float = 0  #: with regions_target: the alpha that was found; else 0
    alpha_regions: tuple[int, ...] = ()  #: of a list of alphas: the number of regions of each
    #: simplify with omega and min_area: valid pixels in regions that exceed omega, because a part of
    #: them would have less than the minimum area; else 0
    wide_pixels: int = 0


@dataclass(frozen=True)
class CheckReport:
    """Whether a raster is right."""

    faults: int  #: number of faults; 0: the raster is right
    x: int  #: column of the first fault in raster order; -1: it has no pixel
    y: int  #: row of the first fault
    what: str  #: the first fault, in words
    regions: int  #: number of labels; 0 for saliency
    pixels: int  #: number of pixels with a label; of saliency, of valid pixels
    width: int
    height: int
    task: str  #: "label", "simplify" (labels with omega) or "saliency"
    compared: bool  #: the result was also computed anew, and compared
    seconds: float
    peak_rss_bytes: int  #: of this process since it started


@dataclass(frozen=True)
class FileCurve:
    """The number of regions of a raster for every alpha."""

    alpha: npt.NDArray[np.float64]  #: ascending, from 0
    regions: npt.NDArray[np.uint64]  #: from this alpha on, up to the next one
    exact_below: float  #: from this alpha on, numbers are exact only at the alphas listed
    report: Report


class Options(TypedDict, total=False):
    """Keywords of every function on files; each is an option of the command qfz.

    distance, connectivity, weights : as those of `label`
    edges : name of a raster of levels of edges, in place of dissimilarities
    mask : name of a raster of the size of src; pixels where it is 0 are invalid
    bands : numbers of the bands to use, from 1
    nodata : float, in place of the value that src declares
    nodata_rule : "all" or "any": a pixel is invalid if all bands, or any, hold nodata
    open_options, creation_options, config : mappings of GDAL's keys to values
    format, type : GDAL's names of the driver and the data type of dst
    overviews : "none", "nearest" or "mode": of a GeoTIFF or COG
    columns : names of the columns of the table regions, in one string, separated by commas
    attribute_table : bool; the raster of labels gets the rows of the table regions, too
    polygons : name of a vector file for the outlines of the regions
    simplify_tolerance : how far these outlines may lie from the borders of regions, in pixels
    overwrite, merge, allow_network, resume : bool
    trust_source : bool; a job that resumes does not look for changes of src
    tile : side of a tile, in pixels
    memory : largest memory of this process, in bytes
    threads : number of threads; default: one per processor
    engine : "auto", "cpu" or "cuda"
    gpus : CUDA device numbers
    gpu_memory : largest memory on each GPU, in bytes
    method : name of a published method of the CUDA engine
    retries : of a read or write that failed
    work : folder of a journal
    phase : "all", "summarise", "stitch" or "resolve"; with part = (K, N), and work
    progress : True for a progress bar of tqdm, which must be installed; or a function that is called
        with a `Progress` now and then, from any thread, one call at a time; the job is cancelled if
        it raises an exception, which the caller of the job receives (raised in the last call, of
        the step "end", it comes too late: the outputs are there)
    """

    distance: str
    connectivity: int
    weights: Sequence[float]
    edges: Name
    mask: Name
    bands: Sequence[int]
    nodata: float
    nodata_rule: str
    open_options: Mapping[str, object]
    creation_options: Mapping[str, object]
    config: Mapping[str, object]
    format: str
    type: str
    overviews: str
    columns: str
    attribute_table: bool
    polygons: Name
    simplify_tolerance: float
    overwrite: bool
    merge: bool
    allow_network: bool
    resume: bool
    trust_source: bool
    tile: int
    memory: int
    threads: int
    engine: str
    gpus: Sequence[int]
    gpu_memory: int
    method: str
    retries: int
    work: Name
    phase: str
    part: tuple[int, int]
    progress: Callable[[Progress], object] | bool


class _Bar:
    """A progress bar of tqdm."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress=True needs tqdm, which is not installed") from None
        self.bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}")

    def __call__(self, progress: Progress) -> None:
        """Show how far the job is."""
        self.bar.set_description(progress.step, refresh=False)
        self.bar.update(100 * progress.done - self.bar.n)


def _bytes_of(name: Name) -> bytes:
    """Return the name of a raster: a string, a path, or an open rasterio dataset."""
    own: Any = name if isinstance(name, (str, os.PathLike)) else getattr(name, "name", name)
    return os.fsencode(own)


def _list_of(options: Mapping[str, object]) -> Any:
    items = [f"{key}={value}".encode() for key, value in options.items()]
    return (c_char_p * (len(items) + 1))(*items, None)


# Options whose values go into one member of the struct: the member, and the conversion.
_PLAIN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "edges": ("edges", _bytes_of),
    "mask": ("mask", _bytes_of),
    "nodata_rule": ("nodata_rule", lambda v: choose(_structs.NODATA_RULES, "nodata_rule", v)),
    "open_options": ("open_options", _list_of),
    "creation_options": ("creation_options", _list_of),
    "config": ("config", _list_of),
    "format": ("format", str.encode),
    "type": ("type", str.encode),
    "overwrite": ("overwrite", bool),
    "merge": ("merge", bool),
    "allow_network": ("allow_network", bool),
    "resume": ("resume", bool),
    "trust_source": ("trust_source", bool),
    "regions_target": ("regions_target", int),
    "tile": ("tile_px", int),
    "memory": ("memory_bytes", int),
    "threads": ("n_threads", int),
    "engine": ("engine", lambda v: choose(_structs.ENGINES, "engine", v)),
    "gpu_memory": ("gpu_memory_bytes", int),
    "method": ("gpu_method", str.encode),
    "retries": ("retries", int),
    "work": ("work", _bytes_of),
    "phase": ("phase", lambda v: choose(_PHASES, "phase", v)),
    "labels": ("labels", _bytes_of),
    "regions": ("regions", _bytes_of),
    "neighbours": ("neighbours", _bytes_of),
    "stats": ("stats", _bytes_of),
    "colors": ("colors", _bytes_of),
    "quicklook": ("quicklook", _bytes_of),
    "quicklook_style": (
        "quicklook_style",
        lambda v: choose(_structs.QUICKLOOK_STYLES, "quicklook_style", v),
    ),
    "forest": ("forest", _bytes_of),
    "columns": ("columns", str.encode),
    "attribute_table": ("attribute_table", bool),
    "overviews": ("overviews", lambda v: choose(_structs.OVERVIEWS, "overviews", v)),
    "polygons": ("polygons", _bytes_of),
    "simplify_tolerance": ("simplify_tolerance", float),
    "min_area_m2": ("min_area_m2", float),
    "layout": ("layout", lambda v: choose(_structs.LAYOUTS, "layout", v)),
}


def _ints(values: Sequence[int]) -> Any:
    return (c_int * len(values))(*values)


class _Job:
    """A job of the C library, and the memory that the job borrows."""

    def __init__(
        self,
        task: str,
        src: Name | None,
        dst: Name | None,
        rule: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        self.library = _library.for_files()
        self.progress: Callable[[Progress], object] | None = None
        self.struct = job = _structs.Job()
        self.library.qfz_job_init(
            byref(job), ctypes.sizeof(job), choose(_structs.TASKS, "task", task)
        )
        self.alpha_regions: Any = ()
        left = {key: value for key, value in options.items() if value is not None}
        if src is not None:
            job.src = _bytes_of(src)
        if dst is not None:
            job.dst = _bytes_of(dst)
        job.count_only = dst is None and task not in ("curve", "regions")
        job.criterion = criterion(
            left.pop("connectivity", 4),
            left.pop("distance", "linf"),
            self._take_alphas(rule.get("alpha")),
            rule.get("omega"),
            left.pop("min_area", None),
            left.pop("weights", None),
        )
        self._set(left)

    def _take_alphas(self, alpha: float | Sequence[float] | None) -> float | None:
        """Set the list of several alphas; return a single alpha."""
        if alpha is None or isinstance(alpha, (int, float)) or np.ndim(alpha) == 0:
            return alpha  # type: ignore[return-value]
        values = [float(a) for a in alpha]
        job = self.struct
        if not values:
            raise ValueError("alpha is an empty list")
        self.alpha_regions = (ctypes.c_uint64 * len(values))()
        job.alphas = (ctypes.c_double * len(values))(*values)
        job.n_alphas = len(values)
        job.alpha_regions = self.alpha_regions
        return None

    def _set(self, options: dict[str, Any]) -> None:
        job = self.struct
        progress = options.pop("progress", None)
        self.progress = _Bar() if progress is True else progress or None
        for name, value in options.items():
            if name in _PLAIN:
                member, convert = _PLAIN[name]
                setattr(job, member, convert(value))
            elif name in ("nodata", "background"):
                setattr(job, f"has_{name}", True)
                setattr(job, name, value)
            elif name in ("bands", "gpus", "stats_bands"):
                setattr(job, name, _ints(value))
                setattr(job, f"n_{name}", len(value))
            elif name == "part":
                job.part, job.n_parts = value
            else:
                raise TypeError(f"{name!r} is no option of this function")

    def run(self) -> Report:
        """Run the job."""
        report = _structs.Report(ctypes.sizeof(_structs.Report))
        self._call(self.library.qfz_job_run, self.struct, report)
        return replace(_report_of(report), alpha_regions=tuple(self.alpha_regions))

    def check(self, check: _structs.Check) -> CheckReport:
        """Check a raster that this job would have made."""
        report = _structs.CheckReport(ctypes.sizeof(_structs.CheckReport))
        check.job = ctypes.pointer(self.struct)
        self._call(self.library.qfz_check_run, check, report)
        return _check_report_of(report)

    def _call(self, function: Any, what: ctypes.Structure, report: ctypes.Structure) -> None:
        """Call the library.  An exception of the main thread, such as KeyboardInterrupt, cancels.

        Python handles signals in the main thread only, and between its own instructions: the call
        takes place in a thread of its own while the main thread waits.
        """
        error = _structs.Error()
        raised: list[BaseException] = []
        cancelled = threading.Event()

        def on_progress(progress: Any, _: object) -> int:
            if cancelled.is_set():
                return 1
            try:
                if self.progress is not None:
                    p = progress.contents
                    self.progress(Progress(p.done, p.step.decode(), p.tiles_done, p.tiles))
            except BaseException as exception:
                raised.append(exception)
                return 1
            return 0

        self.struct.progress = _structs.ProgressFunction(on_progress)
        status: list[int] = []
        done = threading.Event()

        def work() -> None:
            try:
                status.append(function(byref(what), byref(report), byref(error)))
            finally:
                done.set()

        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=work, name="qfz").start()
            _wait(done, cancelled, raised)
        else:
            work()
        if isinstance(self.progress, _Bar):
            self.progress.bar.close()
        if raised:
            raise raised[0]
        _library.check(status[0], error)


def _wait(done: threading.Event, cancelled: threading.Event, raised: list[BaseException]) -> None:
    """Wait for the job; after an exception, for the job's end as well."""
    while not done.is_set():
        try:
            done.wait()
        except BaseException as exception:
            raised.append(exception)
            cancelled.set()


def _report_of(report: _structs.Report) -> Report:
    phases = {number: name for name, number in _PHASES.items()}
    return Report(
        regions=report.regions,
        pixels=report.pixels,
        width=report.width,
        height=report.height,
        tiles=report.tiles,
        engine=report.engine.decode(),
        gpus=report.n_gpus,
        warning=report.warning.decode(errors="replace"),
        seconds=report.seconds,
        steps={s.name.decode(): s.seconds for s in report.steps[: report.n_steps]},
        retries=report.retries,
        peak_rss_bytes=report.peak_rss_bytes,
        next_phase=phases[report.next],
        alpha=report.alpha,
        wide_pixels=report.wide_pixels,
    )


def _check_report_of(report: _structs.CheckReport) -> CheckReport:
    tasks = {number: name for name, number in _structs.TASKS.items()}
    return CheckReport(
        faults=report.faults,
        x=report.x,
        y=report.y,
        what=report.what.decode(errors="replace"),
        regions=report.regions,
        pixels=report.pixels,
        width=report.width,
        height=report.height,
        task=tasks[report.task],
        compared=bool(report.compared),
        seconds=report.seconds,
        peak_rss_bytes=report.peak_rss_bytes,
    )


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
    >>> report = label_file("scene.tif", "labels.tif", alpha=8, overwrite=True)  # doctest: +SKIP
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
    return _Job("label", src, dst, {"alpha": alpha}, {**options, **more}).run()


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

    Parameters are those of `label_file`, and:

    Parameters
    ----------
    alpha, omega : float, optional
        Limits of a region as those of `label`; None: no limit.  One of them is required.
    labels : str or path, optional
        Also write the labels of the regions into this raster.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = simplify_file("scene.tif", "simple.tif", omega=24)  # doctest: +SKIP
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
    return _Job("simplify", src, dst, rule, {**options, **more}).run()


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

    Parameters are those of `label_file`, and:

    Parameters
    ----------
    layout : {"edges", "pixel", "khalimsky"}
        `cut_file` reads "edges" only.
    quicklook : str or path, optional
        Also draw the hierarchy as lines into this PNG image.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = saliency_file("scene.tif", "saliency.tif")  # doctest: +SKIP
    """
    more = {
        "layout": layout,
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "quicklook": quicklook,
    }
    return _Job("saliency", src, dst, {}, {**options, **more}).run()


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

    Parameters are those of `label_file`; alpha or regions_target is required.  The connectivity is
    that of the file.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = cut_file("saliency.tif", "labels.tif", alpha=8)  # doctest: +SKIP
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
    return _Job("cut", src, dst, {"alpha": alpha}, {**options, **more}).run()


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

    Parameters are those of `label_file`; at least one output is needed.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = regions_file("labels.tif", regions="r.csv", stats="dem.tif")  # doctest: +SKIP
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
    return _Job("regions", src, None, {}, {**options, **more}).run()


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

    Parameters are those of `label_file`, and:

    Parameters
    ----------
    dst : str or path
        Raster of the labels of the regions of level 0.
    forest : str or path
        Table of the edges of the minimum spanning forest between these regions.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = tree_file("scene.tif", "zones.tif", "forest.csv")  # doctest: +SKIP
    """
    more = {
        "forest": forest,
        "min_area": min_area,
        "min_area_m2": min_area_m2,
        "regions": regions,
        "quicklook": quicklook,
        "quicklook_style": quicklook_style,
    }
    return _Job("forest", src, dst, {}, {**options, **more}).run()


def curve_file(
    src: Name,
    *,
    plot: Name | None = None,
    min_area: int | None = None,
    min_area_m2: float | None = None,
    **options: Unpack[Options],
) -> FileCurve:
    """Count the alpha-components of a raster file for every alpha; ``qfz curve``.

    Parameters are those of `label_file`, and:

    Parameters
    ----------
    plot : str or path, optional
        Also draw the curve into this PNG image.

    Returns
    -------
    FileCurve

    Examples
    --------
    >>> curve = curve_file("scene.tif")  # doctest: +SKIP
    """
    more = {"min_area": min_area, "min_area_m2": min_area_m2}
    job = _Job("curve", src, None, {}, {**options, **more})
    curve = _structs.Curve(ctypes.sizeof(_structs.Curve), exact_below=math.inf)
    job.struct.curve = ctypes.pointer(curve)
    report, error = job.run(), _structs.Error()
    try:
        if plot is not None:
            status = job.library.qfz_curve_plot(
                byref(curve), _bytes_of(plot), job.struct.overwrite, byref(error)
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

    Parameters are those of `label_file`, and:

    Parameters
    ----------
    raster : str, path, or open rasterio dataset
        Labels or saliency to check.
    src : str, path, or open rasterio dataset, optional
        The raster that they were made of.  None: labels are checked for themselves: whether each
        region is connected, and numbered by its first pixel.
    alpha, omega, min_area, min_area_m2, distance, connectivity
        Each that is given holds; for the others the metadata of the raster does.
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
    >>> assert check_file("labels.tif", "scene.tif").faults == 0  # doctest: +SKIP
    """
    more = {"min_area": min_area, "min_area_m2": min_area_m2, "background": background}
    job = _Job("label", src, None, {"alpha": alpha, "omega": omega}, {**options, **more})
    job.struct.count_only = False
    check = _structs.Check(
        ctypes.sizeof(_structs.Check),
        _bytes_of(raster),
        has_connectivity=int(options.get("connectivity") is not None),
        has_distance=int(options.get("distance") is not None),
        table=None if table is None else _bytes_of(table),
    )
    return job.check(check)

# SPDX-License-Identifier: MIT
"""A job of the C library on files: its options, its run, and how it is stopped."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int
from dataclasses import replace
from typing import Any, TypedDict, Union

import numpy as np

from . import _library, _structs
from ._reports import PHASES, CheckReport, Progress, Report, check_report_of, report_of
from ._session import choose, criterion

Name = Union[str, "os.PathLike[str]", Any]


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


def bytes_of(name: Name) -> bytes:
    """Return the name of a raster: a string, a path, or an open rasterio dataset."""
    own: Any = name if isinstance(name, (str, os.PathLike)) else getattr(name, "name", name)
    try:
        return os.fsencode(own)
    except TypeError:
        raise TypeError(
            f"a {type(name).__name__} in place of the name of a file; for arrays there are the "
            "functions without _file"
        ) from None


def _list_of(options: Mapping[str, object]) -> Any:
    items = [f"{key}={value}".encode() for key, value in options.items()]
    return (c_char_p * (len(items) + 1))(*items, None)


# Options whose values go into one member of the struct: the member, and the conversion.
PLAIN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "edges": ("edges", bytes_of),
    "mask": ("mask", bytes_of),
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
    "work": ("work", bytes_of),
    "phase": ("phase", lambda v: choose(PHASES, "phase", v)),
    "labels": ("labels", bytes_of),
    "regions": ("regions", bytes_of),
    "neighbours": ("neighbours", bytes_of),
    "stats": ("stats", bytes_of),
    "colors": ("colors", bytes_of),
    "quicklook": ("quicklook", bytes_of),
    "quicklook_style": (
        "quicklook_style",
        lambda v: choose(_structs.QUICKLOOK_STYLES, "quicklook_style", v),
    ),
    "forest": ("forest", bytes_of),
    "columns": ("columns", str.encode),
    "attribute_table": ("attribute_table", bool),
    "overviews": ("overviews", lambda v: choose(_structs.OVERVIEWS, "overviews", v)),
    "polygons": ("polygons", bytes_of),
    "simplify_tolerance": ("simplify_tolerance", float),
    "min_area_m2": ("min_area_m2", float),
    "layout": ("layout", lambda v: choose(_structs.LAYOUTS, "layout", v)),
}


def _ints(values: Sequence[int]) -> Any:
    return (c_int * len(values))(*values)


@contextmanager
def _named(name: str, value: object) -> Iterator[None]:
    """Name the option in the error of a value of the wrong type."""
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        if name in str(error):
            raise
        raise TypeError(
            f"{name} is {value!r} ({error}); help(qfz.Options) describes what it takes"
        ) from error


class Job:
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
            job.src = bytes_of(src)
        if dst is not None:
            job.dst = bytes_of(dst)
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
            with _named(name, value):
                self._set_one(job, name, value)

    @staticmethod
    def _set_one(job: _structs.Job, name: str, value: Any) -> None:
        if name in PLAIN:
            member, convert = PLAIN[name]
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
        return replace(report_of(report), alpha_regions=tuple(self.alpha_regions))

    def check(self, check: _structs.Check) -> CheckReport:
        """Check a raster that this job would have made."""
        report = _structs.CheckReport(ctypes.sizeof(_structs.CheckReport))
        check.job = ctypes.pointer(self.struct)
        self._call(self.library.qfz_check_run, check, report)
        return check_report_of(report)

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

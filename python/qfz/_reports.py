# SPDX-License-Identifier: MIT
"""What jobs on files report: progress, counts, curves, faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _structs

PHASES = {"all": 0, "summarise": 1, "stitch": 2, "resolve": 3}


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


def report_of(report: _structs.Report) -> Report:
    phases = {number: name for name, number in PHASES.items()}
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


def check_report_of(report: _structs.CheckReport) -> CheckReport:
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

# SPDX-License-Identifier: MIT
"""Exact quasi-flat zones of rasters of any size.

Functions on arrays: `label`, `simplify`, `saliency`, `cut`, `regions`, `neighbours`, `colors`,
`tree`, `hierarchy`, `linkage`, `curve`.
Functions on files of any size: `label_file`, `simplify_file`, `saliency_file`, `cut_file`,
`curve_file`, `regions_file`, `tree_file`, `check_file`, `explore_file`.
Modules: `qfz.chunks` and `qfz.dask` for images larger than memory, `qfz.xr` for xarray.
The GIL is released while the C library computes; the functions can run in several threads at the
same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._arrays import cut, label, saliency, simplify
from ._colors import colors
from ._explore import explore_file
from ._files import (
    check_file,
    curve_file,
    cut_file,
    label_file,
    regions_file,
    saliency_file,
    simplify_file,
    tree_file,
)
from ._hierarchy import Curve, Hierarchy, Tree, curve, hierarchy, linkage, tree
from ._job import Options
from ._regions import neighbours, regions
from ._reports import CheckReport, FileCurve, Progress, Report
from .errors import (
    QfzArgumentError,
    QfzCancelled,
    QfzError,
    QfzFileError,
    QfzGpuError,
    QfzLibraryError,
    QfzMemoryError,
)

if TYPE_CHECKING:
    from . import chunks as chunks
    from . import dask as dask
    from . import xr as xr
else:

    def __getattr__(name: str):
        """Import a module of the package when it is first used: Dask and xarray load slowly."""
        if name in ("chunks", "dask", "xr"):
            import importlib

            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "1.0.0"

__all__ = [
    "CheckReport",
    "Curve",
    "FileCurve",
    "Hierarchy",
    "Options",
    "Progress",
    "QfzArgumentError",
    "QfzCancelled",
    "QfzError",
    "QfzFileError",
    "QfzGpuError",
    "QfzLibraryError",
    "QfzMemoryError",
    "Report",
    "Tree",
    "check_file",
    "colors",
    "curve",
    "curve_file",
    "cut",
    "cut_file",
    "explore_file",
    "hierarchy",
    "label",
    "label_file",
    "linkage",
    "neighbours",
    "regions",
    "regions_file",
    "saliency",
    "saliency_file",
    "simplify",
    "simplify_file",
    "tree",
    "tree_file",
]

# SPDX-License-Identifier: MIT
"""Exact quasi-flat zones of rasters of any size.

Functions on arrays: `label`, `simplify`, `saliency`, `cut`, `regions`, `neighbours`, `tree`,
`curve`, `linkage`.
Functions on files of any size: `label_file`, `simplify_file`, `saliency_file`, `cut_file`,
`curve_file`, `regions_file`, `tree_file`, `check_file`, `explore_file`.
Modules: `qfz.chunks` and `qfz.dask` for images larger than memory, `qfz.xr` for xarray.
The GIL is released while the C library computes; the functions can run in several threads at the
same time.
"""

from ._arrays import cut, label, saliency, simplify
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
from ._hierarchy import Curve, Tree, curve, linkage, tree
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

__version__ = "1.0.0"

__all__ = [
    "CheckReport",
    "Curve",
    "FileCurve",
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
    "curve",
    "curve_file",
    "cut",
    "cut_file",
    "explore_file",
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

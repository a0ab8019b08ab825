# SPDX-License-Identifier: MIT
"""Exact quasi-flat zones of rasters of any size.

Functions on arrays: `label`, `simplify`, `saliency`, `cut`, `regions`, `neighbours`, `tree`, `curve`.
The GIL is released while the C library computes; the functions can run in several threads at the
same time.
"""

from ._arrays import cut, label, saliency, simplify
from ._hierarchy import Curve, Tree, curve, tree
from ._regions import neighbours, regions
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
    "Curve",
    "QfzArgumentError",
    "QfzCancelled",
    "QfzError",
    "QfzFileError",
    "QfzGpuError",
    "QfzLibraryError",
    "QfzMemoryError",
    "Tree",
    "cut",
    "curve",
    "label",
    "neighbours",
    "regions",
    "saliency",
    "simplify",
    "tree",
]

# SPDX-License-Identifier: MIT
"""Exceptions of qfz: one class per status of the C library, with the message of the library.

A message that names an option of the command names its keyword here: ``--gpu-memory`` is gpu_memory.
"""

from __future__ import annotations

import re


class QfzError(Exception):
    """Any failure of the library."""


class QfzArgumentError(QfzError, ValueError):
    """A parameter is out of range or contradicts another (QFZ_EARG)."""


class QfzMemoryError(QfzError, MemoryError):
    """Memory of the machine or of the GPU ran out (QFZ_ENOMEM)."""


class QfzFileError(QfzError, OSError):
    """A raster or table could not be opened, read or written (QFZ_EIO)."""


class QfzGpuError(QfzError, RuntimeError):
    """There is no usable GPU, or a kernel failed (QFZ_EGPU)."""


class QfzCancelled(QfzError):
    """The progress function returned a true value (QFZ_ECANCEL)."""


class QfzLibraryError(QfzError, ImportError):
    """The C library is missing, or lacks what the function needs."""


_CLASSES: dict[int, type[QfzError]] = {
    1: QfzArgumentError,
    2: QfzMemoryError,
    3: QfzFileError,
    4: QfzGpuError,
    5: QfzCancelled,
}


#: Keywords that are True or False.
_FLAGS = ["overwrite", "merge", "resume", "allow_network", "trust_source", "attribute_table"]
#: An option of the command in a message; a name of a file does not begin so.
_OPTION = re.compile(r"(?<![^\s(])--(?!mpi\b|version\b)([a-z][a-z-]+)")


def _keyword(option: re.Match[str]) -> str:
    name = option[1].replace("-", "_")
    return f"{name}=True" if name in _FLAGS else name


def of_status(status: int, message: str) -> QfzError:
    """Return the exception of a status other than QFZ_OK."""
    return _CLASSES.get(status, QfzError)(_OPTION.sub(_keyword, message))

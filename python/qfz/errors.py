# SPDX-License-Identifier: MIT
"""Exceptions of qfz: one class per status of the C library, with the message of the library."""

from __future__ import annotations


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


def of_status(status: int, message: str) -> QfzError:
    """Return the exception of a status other than QFZ_OK."""
    return _CLASSES.get(status, QfzError)(message)

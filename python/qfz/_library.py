# SPDX-License-Identifier: MIT
"""Finds and opens libqfz.

A wheel holds the in-memory library beside this file: it computes on arrays.  Functions on files
need a libqfz that was built with GDAL, and arrays on a GPU one with CUDA.  It is, in this order, the file that the environment
variable QFZ_LIBRARY names, the library beside this file, or ``libqfz.so.1`` of the system.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

from . import _structs
from .errors import QfzLibraryError, of_status

# Python would take the name libqfz.so for an extension module.
_INSIDE = os.path.join(os.path.dirname(__file__), "libqfz.so.1")
_SYSTEM = "libqfz.so.1"
_MAJOR = 1


class Library:
    """An open libqfz; its functions release the GIL."""

    def __init__(self, name: str) -> None:
        self.name = name
        try:
            self._dll = ctypes.CDLL(name)
        except OSError as error:
            raise QfzLibraryError(f"{name}: {error}") from None
        for function, (result, parameters) in _structs.FUNCTIONS.items():
            address: Any = getattr(self._dll, function, None)
            if address is None:  # an older 1.x
                continue
            address.restype = result
            address.argtypes = parameters
            setattr(self, function, address)
        version = self.qfz_version_number()
        if version // 10000 != _MAJOR:
            raise QfzLibraryError(f"{name} is libqfz {version // 10000}; qfz needs libqfz {_MAJOR}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("qfz_"):
            raise QfzLibraryError(f"{self.name} has no function {name}; a newer libqfz has it")
        raise AttributeError(name)

    @property
    def build_info(self) -> dict[str, str]:
        """Names and versions of what the library was built with; "none" for what it lacks."""
        lines = self.qfz_build_info().decode().splitlines()
        return dict(line.partition(" ")[::2] for line in lines)

    def has(self, part: str) -> bool:
        """Return whether the library was built with "GDAL" or "CUDA"."""
        return self.build_info.get(part, "none") != "none"


def check(status: int, error: _structs.Error) -> None:
    """Raise the exception of a failed call."""
    if status != _structs.OK:
        raise of_status(status, error.message.decode(errors="replace"))


_lock = threading.Lock()
_arrays: Library | None = None
_files: Library | None = None
_devices: Library | None = None


def _candidates() -> list[str]:
    names = [os.environ["QFZ_LIBRARY"]] if os.environ.get("QFZ_LIBRARY") else []
    return names + ([_INSIDE] if os.path.exists(_INSIDE) else []) + [_SYSTEM]


def for_arrays() -> Library:
    """Return the library that computes on arrays."""
    global _arrays
    if _arrays is None:
        with _lock:
            if _arrays is None:
                _arrays = Library(_candidates()[0])
    return _arrays


def _first_with(part: str, what: str) -> Library:
    """Return the first library that was built with a part."""
    tried = []
    for name in _candidates():
        try:
            library = Library(name)
        except QfzLibraryError as error:
            tried.append(str(error))
            continue
        if library.has(part):
            return library
        tried.append(f"{name} was built without {part}")
    raise QfzLibraryError(
        f"{what} need a libqfz with {part}; install it, or name it in the "
        f"environment variable QFZ_LIBRARY ({'; '.join(tried)})"
    )


def for_files() -> Library:
    """Return a library that was built with GDAL."""
    global _files
    with _lock:
        if _files is None:
            _files = _first_with("GDAL", "functions on files")
    return _files


def for_devices() -> Library:
    """Return a library that was built with CUDA."""
    global _devices
    with _lock:
        if _devices is None:
            _devices = _first_with("CUDA", "arrays on a GPU")
    return _devices

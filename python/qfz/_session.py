# SPDX-License-Identifier: MIT
"""A session of the C library on one image."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_double, c_void_p
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _library, _structs
from ._image import Edges, Source

_CONNECTIVITY = {4: 4, 8: 8, 1: 4, 2: 8}
_sizeof = ctypes.sizeof
_Name = TypeVar("_Name", int, str)


def address(array: npt.NDArray[Any]) -> int:
    """Return the address of the first element."""
    where: int = array.__array_interface__["data"][0]
    return where


def choose(names: dict[_Name, int], what: str, name: _Name) -> int:
    """Return the number that a name stands for."""
    try:
        return names[name]
    except (KeyError, TypeError):
        choices = ", ".join(str(n) for n in names)
        raise ValueError(f"{what} is {name!r}; it can be {choices}") from None


def doubles(values: float | Sequence[float] | npt.NDArray[Any]) -> tuple[Any, int]:
    """Return a C array of doubles, and its length, from one number or several."""
    if isinstance(values, (int, float)):
        return (c_double * 1)(values), 1
    listed = np.asarray(values, dtype=np.float64).ravel().tolist()
    return (c_double * len(listed))(*listed), len(listed)


def criterion(
    connectivity: int,
    distance: str,
    alpha: float | None,
    omega: float | Sequence[float] | None,
    min_area: int | None,
    weights: Sequence[float] | None,
) -> _structs.Criterion:
    """Return the criterion of these regions; alpha None: flat zones, or no limit."""
    made = _structs.Criterion(
        _CONNECTIVITY.get(connectivity) or choose(_CONNECTIVITY, "connectivity", connectivity),
        choose(_structs.DISTANCES, "distance", distance),
    )
    if alpha is not None:
        made.has_alpha = True
        try:
            made.alpha = alpha
        except TypeError:
            raise TypeError(f"alpha is {alpha!r}; it must be one number, or None") from None
    if omega is not None:
        made.omega, made.n_omega = doubles(omega)
    if min_area is not None:
        if min_area != int(min_area) or min_area < 0:
            raise ValueError(f"min_area is {min_area}; it must be a number of pixels")
        made.min_area = int(min_area)
    if weights is not None:
        made.weights, made.n_weights = doubles(weights)
    return made


def has_float_levels(pixel_type: int, rule: _structs.Criterion) -> bool:
    """Return whether levels are the bits of singles."""
    return pixel_type == 6 or rule.distance in (1, 3) or bool(rule.weights)


class Session:
    """One image and one criterion; results go to arrays of the caller."""

    __slots__ = ("library", "source", "_handle", "_error", "_edges", "float_levels", "n_directions")

    def __init__(
        self,
        source: Source,
        rule: _structs.Criterion,
        edges: Edges | None = None,
        threads: int = 1,
        engine: str = "auto",
    ) -> None:
        self.library = _library.for_arrays()
        self.source = source
        self._handle = c_void_p()
        self._error = _structs.Error()
        self.n_directions = rule.connectivity // 2
        self._edges = edges
        self.float_levels = has_float_levels(source.type, rule)
        image = _structs.Image(
            _sizeof(_structs.Image),
            source.h,
            source.w,
            source.n_bands,
            source.type,
            address(source.pixels),
            None if source.valid is None else address(source.valid),
        )
        if edges is not None:
            self._take_edges(image, edges)
        options = None
        if threads != 1 or engine != "auto":
            options = _structs.SessionOptions(
                _sizeof(_structs.SessionOptions),
                choose(_structs.ENGINES, "engine", engine),
                threads,
            )
        self._open(image, rule, options)

    def _open(
        self,
        image: _structs.Image,
        rule: _structs.Criterion,
        options: _structs.SessionOptions | None,
    ) -> None:
        self._check(
            self.library.qfz_session_open(
                byref(self._handle),
                byref(image),
                byref(rule),
                None if options is None else byref(options),
                byref(self._error),
            )
        )

    def _take_edges(self, image: _structs.Image, edges: Edges) -> None:
        levels, self.float_levels = edges
        expected = (self.n_directions, self.source.h, self.source.w)
        if levels.shape != expected:
            raise ValueError(f"edges have shape {levels.shape}; the image needs {expected}")
        image.edges = address(levels)
        image.edges_are_float = int(self.float_levels)

    def _check(self, status: int) -> None:
        if status:
            _library.check(status, self._error)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.qfz_session_close(self._handle)

    def _run(self, part: int, into: _structs.Buffers) -> None:
        self._check(
            self.library.qfz_session_run(self._handle, part, byref(into), byref(self._error))
        )

    def labels(self, part: int) -> tuple[npt.NDArray[np.uint32], int]:
        """Run LABEL, ALPHA_OMEGA or FEATURES."""
        labels = np.empty((self.source.h, self.source.w), np.uint32)
        self._run(part, _structs.Buffers(_sizeof(_structs.Buffers), 0, address(labels)))
        return labels, self.library.qfz_session_n_regions(self._handle)

    def cut(
        self, alpha: float, levels: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.uint32], int]:
        """Cut the hierarchy that saliency levels hold."""
        labels = np.empty((self.source.h, self.source.w), np.uint32)
        into = _structs.Buffers(_sizeof(_structs.Buffers), 0, address(labels))
        self._check(
            self.library.qfz_session_cut(
                self._handle, alpha, address(levels), byref(into), byref(self._error)
            )
        )
        return labels, self.library.qfz_session_n_regions(self._handle)

    def _as_levels(self, words: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """Levels of singles are their bits, and NO_EDGE is the bits of a NaN."""
        return words.view(np.float32) if self.float_levels else words

    def saliency(self) -> npt.NDArray[Any]:
        """Run SALIENCY."""
        levels = np.empty((self.n_directions, self.source.h, self.source.w), np.uint32)
        into = _structs.Buffers(_sizeof(_structs.Buffers), 0, None, address(levels))
        self._run(_structs.PART_SALIENCY, into)
        return self._as_levels(levels)

    def tree(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[Any]]:
        """Run TREE: the parents and levels of the nodes."""
        room = self.library.qfz_session_tree_room(self._handle)
        parent, level = np.empty(room, np.uint32), np.empty(room, np.uint32)
        into = _structs.Buffers(
            _sizeof(_structs.Buffers), 0, None, None, address(parent), address(level), room
        )
        self._run(_structs.PART_TREE, into)
        n = self.library.qfz_session_tree(self._handle).n_nodes
        return parent[:n], self._as_levels(level[:n])

    def features(self, n: int) -> dict[str, npt.NDArray[Any]]:
        """Return the features of all n regions of the last run, one array each."""
        bands = self.source.n_bands
        columns: dict[str, npt.NDArray[Any]] = {
            "pixels": np.empty(n, np.uint64),
            **{name: np.empty(n, np.float64) for name in ("x", "y")},
            **{name: np.empty(n, np.int64) for name in ("x0", "y0", "x1", "y1")},
            **{name: np.empty((n, bands), np.float64) for name in ("mean", "min", "max", "stddev")},
        }
        wanted = _structs.Features(
            _sizeof(_structs.Features), *(address(column) for column in columns.values())
        )
        self._check(
            self.library.qfz_session_features(self._handle, 0, n, byref(wanted), byref(self._error))
        )
        return columns

    def paint(self) -> npt.NDArray[Any]:
        """Return the pixels, each valid one replaced by the mean of its region."""
        painted = np.empty_like(self.source.pixels)
        bands = painted.reshape(self.source.n_bands, self.source.h, self.source.w)
        for band in range(self.source.n_bands):
            self._check(
                self.library.qfz_session_paint(
                    self._handle, band, None, 0, address(bands[band]), byref(self._error)
                )
            )
        if self.source.valid is not None:
            np.copyto(painted, self.source.pixels, where=~self.source.valid)
        return painted


class DeviceSession(Session):
    """One image in device memory; results go to device memory."""

    __slots__ = ()

    def __init__(
        self, image: _structs.Image, number: int, stream: int | None, rule: _structs.Criterion
    ) -> None:
        self.library = _library.for_devices()
        self._handle = c_void_p()
        self._error = _structs.Error()
        options = _structs.SessionOptions(
            _sizeof(_structs.SessionOptions), _structs.ENGINES["cuda"], 0, number
        )
        options.cuda_stream = stream or None
        self._open(image, rule, options)

    def __enter__(self) -> DeviceSession:
        return self

    def labels_into(self, part: int, labels: int) -> int:
        """Write labels to an address; return the number of regions."""
        into = _structs.Buffers(_sizeof(_structs.Buffers), _structs.MEMORY_DEVICE, labels)
        self._run(part, into)
        n: int = self.library.qfz_session_n_regions(self._handle)
        return n

    def cut_into(self, alpha: float, levels: int, labels: int) -> int:
        """Write the labels of a cut to an address; return the number of regions."""
        into = _structs.Buffers(_sizeof(_structs.Buffers), _structs.MEMORY_DEVICE, labels)
        self._check(
            self.library.qfz_session_cut(
                self._handle, alpha, levels, byref(into), byref(self._error)
            )
        )
        n: int = self.library.qfz_session_n_regions(self._handle)
        return n

    def levels_into(self, levels: int) -> None:
        """Write the saliency to an address."""
        into = _structs.Buffers(_sizeof(_structs.Buffers), _structs.MEMORY_DEVICE, None, levels)
        self._run(_structs.PART_SALIENCY, into)

    def paint_into(self, band: int, out: int) -> None:
        """Write one band of means to an address."""
        self._check(
            self.library.qfz_session_paint(
                self._handle, band, None, _structs.MEMORY_DEVICE, out, byref(self._error)
            )
        )

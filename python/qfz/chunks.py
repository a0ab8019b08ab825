# SPDX-License-Identifier: MIT
"""One image as a grid of chunks, for schedulers: exact, with the numbers of one pass.

Three steps, of which the first and the last run on each chunk alone, in any process:

1. `summarise` each chunk: bytes, whose number grows with the border of the chunk;
2. `stitch` the summaries of all chunks: an exterior for each chunk, bytes too;
3. `resolve` each chunk, given its exterior: its labels, or the saliency of its edges.

With omega or a minimum area, steps 1 and 2 are made in `Grid.n_rounds` rounds: from the second round
on, `summarise` takes the chunk's exterior of the round before.

`qfz.dask` does this for Dask arrays.  Summaries and exteriors have a version, and are checked before
use: damaged ones, and those of another chunk or another `Grid`, raise `QfzArgumentError`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library, _structs
from ._image import Source, pixel_type, read_levels
from ._session import address, criterion, has_float_levels

__all__ = ["Grid", "resolve", "stitch", "summarise"]

_PARTS = {"label": _structs.PART_LABEL, "saliency": _structs.PART_SALIENCY}
_sizeof = ctypes.sizeof


@dataclass(frozen=True)
class Grid:
    """What all chunks of an image share.

    Chunk (row, column) begins at pixel (row * chunk_shape[0], column * chunk_shape[1]); the last row
    and the last column of chunks may be smaller.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns of the whole image.
    chunk_shape : tuple of int
        Rows and columns of a chunk.
    dtype : numpy type
        Of the pixels: bool, an integer of up to 32 bits, or float32.
    n_bands : int
        Number of bands.
    result : {"label", "saliency"}
        What `resolve` returns.
    alpha, distance, connectivity, weights, omega, min_area
        As those of `qfz.label`; saliency ignores alpha, and has no omega.
    edges : numpy type, optional
        Type of the levels of edges that every chunk has; None: chunks have none.

    Examples
    --------
    >>> grid = Grid((5, 7), (2, 4), "uint8")
    >>> grid.n_rows, grid.n_columns, grid.slices(2, 1)
    (3, 2, (slice(4, 5, None), slice(4, 7, None)))
    """

    shape: tuple[int, int]
    chunk_shape: tuple[int, int]
    dtype: Any
    n_bands: int = 1
    result: str = "label"
    alpha: float | None = 0
    distance: str = "linf"
    connectivity: int = 4
    weights: tuple[float, ...] | None = None
    edges: Any = None
    omega: float | tuple[float, ...] | None = None
    min_area: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no chunk could be computed with."""
        if self.result not in _PARTS:
            raise ValueError(f"result is {self.result!r}; it can be label, saliency")
        if self.omega is not None and self.result != "label":
            raise ValueError(f"omega needs the result label, not {self.result}")
        pixel_type(self.dtype)
        self._criterion()

    @property
    def n_rows(self) -> int:
        """Rows of chunks."""
        return -(-self.shape[0] // self.chunk_shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of chunks."""
        return -(-self.shape[1] // self.chunk_shape[1])

    @property
    def n_rounds(self) -> int:
        """Rounds of steps 1 and 2: 1, one more with a minimum area, and one more with omega."""
        library, error, n = _library.for_arrays(), _structs.Error(), ctypes.c_int()
        _library.check(
            library.qfz_chunks_rounds(byref(self._struct(1)), byref(n), byref(error)), error
        )
        return n.value

    @property
    def n_directions(self) -> int:
        """Planes of levels: 2, or 4 for 8-connected pixels."""
        return 4 if self.connectivity in (8, 2) else 2

    @property
    def result_dtype(self) -> Any:
        """Type of the result: labels have 64 bits if the image has 2**32 pixels or more."""
        if self.result == "label":
            wide = self.shape[0] * self.shape[1] >= 1 << 32
            return np.dtype(np.uint64 if wide else np.uint32)
        return np.dtype(np.float32 if self._has_float_levels else np.uint32)

    def slices(self, row: int, column: int) -> tuple[slice, slice]:
        """Return the rows and columns of the image that a chunk holds."""
        (h, w), (chunk_h, chunk_w) = self.shape, self.chunk_shape
        return (
            slice(row * chunk_h, min((row + 1) * chunk_h, h)),
            slice(column * chunk_w, min((column + 1) * chunk_w, w)),
        )

    @property
    def _has_float_levels(self) -> bool:
        if self.edges is not None:
            return bool(np.dtype(self.edges).kind == "f")
        return has_float_levels(pixel_type(self.dtype), self._criterion())

    def _criterion(self) -> _structs.Criterion:
        alpha = self.alpha if self.result == "label" else None
        return criterion(
            self.connectivity, self.distance, alpha, self.omega, self.min_area, self.weights
        )

    def _struct(self, threads: int) -> _structs.Chunks:
        return _structs.Chunks(
            _sizeof(_structs.Chunks),
            _PARTS[self.result] if self.omega is None else _structs.PART_ALPHA_OMEGA,
            pixel_type(self.dtype),
            self._criterion(),
            *self.shape,
            *self.chunk_shape,
            self.n_bands,
            int(self.edges is not None),
            int(self.edges is not None and self._has_float_levels),
            threads,
        )


class _Chunk:
    """The image of one chunk as the library reads it; keeps its arrays."""

    def __init__(
        self,
        grid: Grid,
        image: npt.ArrayLike,
        mask: npt.ArrayLike | None,
        background: float | None,
        channel_axis: int | None,
        edges: npt.ArrayLike | None,
    ) -> None:
        self.source = source = Source(image, channel_axis, mask, background, grid.dtype)
        self.struct = _structs.Image(
            _sizeof(_structs.Image),
            source.h,
            source.w,
            source.n_bands,
            source.type,
            address(source.pixels),
            None if source.valid is None else address(source.valid),
        )
        if edges is not None:
            self.levels, are_float = read_levels(edges)
            expected = (grid.n_directions, source.h, source.w)
            if self.levels.shape != expected:
                raise ValueError(f"edges have shape {self.levels.shape}, not {expected}")
            self.struct.edges = address(self.levels)
            self.struct.edges_are_float = int(are_float)


def _take(library: _library.Library, made: _structs.Bytes) -> bytes:
    """Copy bytes of the library, and release them."""
    copy = ctypes.string_at(made.data, made.size)
    library.qfz_bytes_release(byref(made))
    return copy


def _view(message: bytes) -> _structs.Bytes:
    if not isinstance(message, bytes):
        raise TypeError(f"{type(message).__name__} in place of bytes that qfz.chunks returned")
    pointer = ctypes.cast(ctypes.c_char_p(message), ctypes.c_void_p)
    return _structs.Bytes(pointer, len(message))


def summarise(
    grid: Grid,
    row: int,
    column: int,
    image: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
    *,
    background: float | None = None,
    channel_axis: int | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    exterior: bytes | None = None,
) -> bytes:
    """Summarise a chunk: step 1.

    Parameters
    ----------
    grid : Grid
        What all chunks share.
    row, column : int
        Which chunk, from 0.
    image, mask, background, channel_axis, edges, threads
        As those of `qfz.label`, of this chunk.  An edge that ends in another chunk has its level in
        `edges` as all others.
    exterior : bytes, optional
        Of this chunk, from `stitch` in the round before; None: the first round.

    Returns
    -------
    summary : bytes

    Raises
    ------
    QfzArgumentError, ValueError, TypeError
        A parameter is out of range, or the chunk does not fit the grid.

    Examples
    --------
    >>> grid = Grid((2, 4), (2, 2), "uint8", alpha=1)
    >>> image = np.array([[1, 1, 2, 9], [7, 7, 7, 9]], dtype=np.uint8)
    >>> parts = [summarise(grid, 0, 0, image[:, :2]), summarise(grid, 0, 1, image[:, 2:])]
    >>> (left, right), n = stitch(grid, [parts])[0][0], stitch(grid, [parts])[1]
    >>> print(resolve(grid, 0, 1, image[:, 2:], right), n)
    [[1 2]
     [3 2]] 3
    """
    library, error, made = _library.for_arrays(), _structs.Error(), _structs.Bytes()
    chunk = _Chunk(grid, image, mask, background, channel_axis, edges)
    where = byref(grid._struct(threads)), row, column, byref(chunk.struct)
    if exterior is None:
        status = library.qfz_chunk_summarise(*where, byref(made), byref(error))
    else:
        before = byref(_view(exterior))
        status = library.qfz_chunk_continue(*where, before, byref(made), byref(error))
    _library.check(status, error)
    return _take(library, made)


def stitch(
    grid: Grid, summaries: Sequence[Sequence[bytes]], threads: int = 1
) -> tuple[list[list[bytes]], int]:
    """Stitch the summaries of all chunks: step 2.

    Parameters
    ----------
    grid : Grid
        As in step 1.
    summaries : sequence of sequences of bytes
        summaries[row][column] of each chunk, all of one round.
    threads : int
        Number of threads.  The result does not depend on it.

    Returns
    -------
    exteriors : list of lists of bytes
        exteriors[row][column], for `resolve`, or for `summarise` in the next round.
    n : int
        The number of regions of the image, after the last round; 0 before, and for saliency.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError
        A summary is missing, damaged, or of another chunk or grid.

    Examples
    --------
    >>> grid = Grid((1, 2), (1, 2), "uint8")
    >>> stitch(grid, [[summarise(grid, 0, 0, np.array([[3, 4]], dtype=np.uint8))]])[1]
    2
    """
    rows = [list(row) for row in summaries]
    if [len(row) for row in rows] != [grid.n_columns] * grid.n_rows:
        raise ValueError(
            f"summaries of {len(rows)} rows of chunks with {sorted({len(row) for row in rows})} "
            f"columns; the grid has {grid.n_rows} rows and {grid.n_columns} columns"
        )
    library, error = _library.for_arrays(), _structs.Error()
    count, n = grid.n_rows * grid.n_columns, ctypes.c_uint64()
    given = (_structs.Bytes * count)(*(_view(summary) for row in rows for summary in row))
    made = (_structs.Bytes * count)()
    status = library.qfz_chunks_stitch(
        byref(grid._struct(threads)), given, made, byref(n), byref(error)
    )
    _library.check(status, error)
    flat = [_take(library, part) for part in made]
    columns = grid.n_columns
    return [flat[i : i + columns] for i in range(0, count, columns)], n.value


def resolve(
    grid: Grid,
    row: int,
    column: int,
    image: npt.ArrayLike,
    exterior: bytes,
    mask: npt.ArrayLike | None = None,
    *,
    background: float | None = None,
    channel_axis: int | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
) -> npt.NDArray[Any]:
    """Compute the result of a chunk: step 3.

    Parameters
    ----------
    grid, row, column, image, mask, background, channel_axis, edges, threads
        As in step 1.
    exterior : bytes
        Of this chunk, from `stitch` in the last round.

    Returns
    -------
    labels : uint32 or uint64 array, (H, W)
        As those of `qfz.label`, of the whole image; uint64 for images of 2**32 pixels or more.  Or,
        for the result "saliency":
    levels : uint32 or float32 array, (2, H, W) or (4, H, W)
        As those of `qfz.saliency`.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError
        The exterior is damaged, of another chunk or grid, or does not fit the pixels.

    Examples
    --------
    >>> grid = Grid((1, 2), (1, 2), "uint8", result="saliency")
    >>> image = np.array([[3, 7]], dtype=np.uint8)
    >>> exteriors, _ = stitch(grid, [[summarise(grid, 0, 0, image)]])
    >>> int(resolve(grid, 0, 0, image, exteriors[0][0])[0, 0, 0])
    4
    """
    library, error = _library.for_arrays(), _structs.Error()
    chunk = _Chunk(grid, image, mask, background, channel_axis, edges)
    into = _structs.ChunkBuffers(_sizeof(_structs.ChunkBuffers))
    plane = (chunk.source.h, chunk.source.w)
    if grid.result == "saliency":
        made: npt.NDArray[Any] = np.empty((grid.n_directions, *plane), np.uint32)
        into.levels = address(made)
    else:
        made = np.empty(plane, grid.result_dtype)
        setattr(into, "labels" if made.itemsize == 4 else "wide_labels", address(made))
    status = library.qfz_chunk_resolve(
        byref(grid._struct(threads)),
        row,
        column,
        byref(chunk.struct),
        byref(_view(exterior)),
        byref(into),
        byref(error),
    )
    _library.check(status, error)
    return made.view(grid.result_dtype)

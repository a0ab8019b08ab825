# SPDX-License-Identifier: MIT
"""`label`, `simplify`, `saliency` and `cut` of Dask arrays that are larger than memory; needs Dask.

The results equal those of one pass over the whole image, with the same numbers of regions.  A graph
reads each chunk twice: for its summary, and, after the summaries of all chunks have been stitched,
for its result; once more with a minimum area, once more with omega, and once more to simplify.  In
between no chunk needs to stay in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dask.array
import dask.graph_manipulation
import numpy as np
import numpy.typing as npt
from dask.delayed import delayed

from . import _painting
from . import chunks as _chunks
from ._image import ends_of_edges
from ._structs import NO_EDGE

__all__ = ["cut", "label", "saliency", "simplify"]

# Dask's functions have no type hints, or not in every version.
da: Any = dask.array
_bind: Any = dask.graph_manipulation.bind
_delayed: Any = delayed


def _is_regular(sizes: Sequence[int]) -> bool:
    return all(size == sizes[0] for size in sizes[:-1]) and sizes[-1] <= sizes[0]


def _in_regular_chunks(array: Any, channel_axis: int | None) -> Any:
    """Return the image (H, W) or (B, H, W) in chunks that a grid describes."""
    image = da.asarray(array)
    if channel_axis is None and image.ndim != 2 or channel_axis is not None and image.ndim != 3:
        raise ValueError(
            f"an image of shape {image.shape} and channel_axis {channel_axis}; two axes are "
            "needed, and one of bands that channel_axis names"
        )
    if np.isnan(np.array(image.shape, float)).any():
        raise ValueError("the sizes of the chunks are unknown; call compute_chunk_sizes() first")
    if channel_axis is not None:
        image = da.moveaxis(image, channel_axis, 0)
    wanted = [sizes if _is_regular(sizes) else max(sizes) for sizes in image.chunks]
    if image.ndim == 3:
        wanted[0] = image.shape[0]
    return image.rechunk(tuple(wanted))


def _parts(array: Any) -> Any:
    """Return the chunks as delayed arrays, by row and column.

    The graph is optimised as a whole, later: otherwise the first pass would be in it twice.
    """
    return array.to_delayed(optimize_graph=False).reshape(array.numblocks[-2:])


def _read_after(arrays: dict[str, Any], stitched: Any) -> dict[str, Any]:
    """Return the chunks by row and column.

    Each pass has tasks of its own that read the chunks, after what has been stitched before.
    """
    return {
        name: _parts(array if stitched is None else _bind(array, stitched))
        for name, array in arrays.items()
    }


def _of_each_chunk(
    function: Any,
    grid: _chunks.Grid,
    arrays: dict[str, Any],
    options: dict[str, Any],
    after: Any,
    **given: Any,
) -> list[list[Any]]:
    """Return function(grid, row, column, ...) of each chunk.

    after: what has been computed before; given: results for each chunk, by row and column.
    """
    task, parts = _delayed(function, pure=False), _read_after(arrays, after)

    def call(y: int, x: int) -> Any:
        chunk = {name: part[y, x] for name, part in parts.items()}
        results = {name: result[y][x] for name, result in given.items()}
        return task(grid, y, x, **chunk, **results, **options)

    return [[call(y, x) for x in range(grid.n_columns)] for y in range(grid.n_rows)]


def _stitch(
    grid: _chunks.Grid, arrays: dict[str, Any], options: dict[str, Any], before: Any
) -> Any:
    """Return the exteriors and the number of regions of one round; before: of the one before it."""
    given = {} if before is None else {"exterior": before[0]}
    summaries = _of_each_chunk(_chunks.summarise, grid, arrays, options, before, **given)
    return _delayed(_chunks.stitch, pure=False, nout=2)(grid, summaries)


def _stitch_all(grid: _chunks.Grid, arrays: dict[str, Any], options: dict[str, Any]) -> Any:
    """Return the exteriors, and the number of regions, of the last round."""
    stitched: Any = None
    for _ in range(grid.n_rounds):
        stitched = _stitch(grid, arrays, options, stitched)
    return stitched


def _join(grid: _chunks.Grid, parts: list[list[Any]], planes: Sequence[int], dtype: Any) -> Any:
    """Return the results of chunks as one array; planes: its axes before rows and columns."""

    def block(y: int, x: int) -> Any:
        rows, columns = grid.slices(y, x)
        shape = (*planes, rows.stop - rows.start, columns.stop - columns.start)
        return da.from_delayed(parts[y][x], shape, dtype)

    return da.block([[block(y, x) for x in range(grid.n_columns)] for y in range(grid.n_rows)])


def _run(grid: _chunks.Grid, arrays: dict[str, Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the result, and the number of regions, as Dask arrays."""
    stitched = _stitch_all(grid, arrays, options)
    exteriors, n = stitched
    resolved = _of_each_chunk(_chunks.resolve, grid, arrays, options, stitched, exterior=exteriors)
    planes = () if grid.result == "label" else (grid.n_directions,)
    return _join(grid, resolved, planes, grid.result_dtype), da.from_delayed(n, (), np.uint64)


def _image_and_mask(array: Any, mask: Any, channel_axis: int | None) -> dict[str, Any]:
    arrays = {"image": _in_regular_chunks(array, channel_axis)}
    if mask is not None:
        image = arrays["image"]
        mask = da.asarray(mask)
        if mask.shape != image.shape[-2:]:
            raise ValueError(f"mask has shape {mask.shape}; the image has {image.shape[-2:]}")
        arrays["mask"] = mask.rechunk(image.chunks[-2:])
    return arrays


def _grid_of(image: Any, **rule: Any) -> _chunks.Grid:
    weights, omega = rule.pop("weights", None), rule.pop("omega", None)
    return _chunks.Grid(
        image.shape[-2:],
        image.chunksize[-2:],
        image.dtype,
        image.shape[0] if image.ndim == 3 else 1,
        weights=None if weights is None else tuple(weights),
        omega=omega if omega is None or np.ndim(omega) == 0 else tuple(omega),
        **rule,
    )


def label(
    array: Any,
    alpha: float | None = 0,
    distance: str = "linf",
    connectivity: int = 4,
    mask: Any = None,
    omega: float | Sequence[float] | None = None,
    min_area: int | None = None,
    *,
    background: float | None = None,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
) -> tuple[Any, Any]:
    """Label the quasi-flat zones of a Dask array.

    Parameters
    ----------
    array : dask.array.Array, (H, W), or three axes and `channel_axis`
        Chunks of different sizes are rechunked to one size, and the axis of the bands to one chunk.
        Its type is bool, an integer of up to 32 bits, or float32; pixels with NaN are invalid.
    alpha, distance, connectivity, omega, min_area, background, channel_axis, weights
        As those of `qfz.label`.
    mask : array_like, (H, W), optional
        Pixels where it is 0 or False are invalid.

    Returns
    -------
    labels : dask.array.Array, (H, W)
        The labels of `qfz.label` for the whole image; uint64 for images of 2**32 pixels or more.
    n : dask.array.Array of no axes
        The number of regions.

    Examples
    --------
    >>> image = da.from_array(np.array([[1, 1, 2, 9], [7, 7, 7, 9]]), (2, 2)).astype("u1")
    >>> labels, n = label(image, alpha=1)
    >>> print(labels.compute(), n.compute())
    [[1 1 1 2]
     [3 3 3 2]] 3
    """
    arrays = _image_and_mask(array, mask, channel_axis)
    grid = _grid_of(
        arrays["image"],
        alpha=alpha,
        distance=distance,
        connectivity=connectivity,
        weights=weights,
        omega=omega,
        min_area=min_area,
    )
    axis = None if channel_axis is None else 0
    return _run(grid, arrays, {"background": background, "channel_axis": axis})


def simplify(
    array: Any,
    alpha: float | None = None,
    distance: str = "linf",
    connectivity: int = 4,
    mask: Any = None,
    omega: float | Sequence[float] | None = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
) -> Any:
    """Paint each (alpha, omega)-component of a Dask array with its mean.

    Parameters
    ----------
    array, distance, connectivity, mask, min_area, channel_axis, weights
        As those of `label`.
    alpha, omega : float or None; omega also one float per band
        As those of `qfz.simplify`.

    Returns
    -------
    painted : dask.array.Array
        The image that `qfz.simplify` gives for the whole image, to the bit, in the shape and type of
        `array`.  Invalid pixels keep their values.

    Examples
    --------
    >>> image = da.from_array(np.array([[10, 12, 50], [11, 52, 51]], dtype="u1"), (1, 2))
    >>> print(simplify(image, omega=5).compute())
    [[11 11 51]
     [11 51 51]]
    """
    if alpha is None and omega is None:
        raise ValueError("simplify needs alpha, omega or both")
    arrays = _image_and_mask(array, mask, channel_axis)
    image = arrays["image"]
    grid = _grid_of(
        image,
        alpha=math.inf if alpha is None else alpha,
        distance=distance,
        connectivity=connectivity,
        weights=weights,
        omega=omega,
        min_area=min_area,
    )
    options = {"channel_axis": None if channel_axis is None else 0}
    stitched = _stitch_all(grid, arrays, options)
    exteriors, _ = stitched
    sums = _of_each_chunk(_painting.sum_shared, grid, arrays, options, stitched, exterior=exteriors)
    means = _delayed(_painting.means_of, pure=False)(grid, sums)
    parts = _of_each_chunk(
        _painting.paint, grid, arrays, options, means, exterior=exteriors, means=means
    )
    painted = _join(grid, parts, image.shape[:-2], image.dtype)
    return painted if channel_axis is None else da.moveaxis(painted, 0, channel_axis)


def saliency(
    array: Any,
    distance: str = "linf",
    connectivity: int = 4,
    mask: Any = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
) -> Any:
    """Compute the saliency of every edge of a Dask array.

    Parameters
    ----------
    array, distance, connectivity, mask, min_area, channel_axis, weights
        As those of `label`.

    Returns
    -------
    levels : dask.array.Array, (2, H, W), or (4, H, W) for 8-connected pixels
        The levels of `qfz.saliency` for the whole image.

    Examples
    --------
    >>> image = da.from_array(np.array([[1, 2, 9, 8]], dtype="u1"), (1, 2))
    >>> print(saliency(image)[0, 0, :3].compute())
    [1 7 1]
    """
    arrays = _image_and_mask(array, mask, channel_axis)
    grid = _grid_of(
        arrays["image"],
        result="saliency",
        distance=distance,
        connectivity=connectivity,
        weights=weights,
        min_area=min_area,
    )
    return _run(grid, arrays, {"channel_axis": None if channel_axis is None else 0})[0]


def _ends_of_block(there: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return ends_of_edges(there)[np.newaxis]


def _valid_of(levels: Any) -> Any:
    """Return the pixels at which at least one edge begins or ends."""
    there = ~da.isnan(levels) if levels.dtype.kind == "f" else levels != NO_EDGE
    n, h, w = levels.shape
    inside_rows, inside_columns = np.ones((n, h, 1), bool), np.ones((n, 1, w), bool)
    inside_rows[1:, -1] = False
    inside_columns[0, :, -1] = False
    if n == 4:
        inside_columns[2, :, -1] = False
        inside_columns[3, :, 0] = False
    there = (there & inside_rows & inside_columns).rechunk(levels.chunks)
    ends = da.overlap.overlap(there, {0: 0, 1: 1, 2: 1}, {1: False, 2: False})
    ends = ends.map_blocks(_ends_of_block, dtype=bool, chunks=((1,), *ends.chunks[1:]))
    return da.overlap.trim_internal(ends, {0: 0, 1: 1, 2: 1}, {1: False, 2: False})[0]


def _no_pixels(levels: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.zeros(levels.shape[1:], np.uint8)


def cut(levels: Any, alpha: float, mask: Any = None) -> tuple[Any, Any]:
    """Label the alpha-components of a hierarchy.

    Parameters
    ----------
    levels : dask.array.Array, (2, H, W) or (4, H, W)
        Levels of edges, as `saliency` returns them; or any, at least 0.
    alpha : float
        Largest level of joined neighbours.
    mask : array_like, (H, W), optional
        Pixels where it is 0 or False are invalid.  None: pixels without any edge are invalid.

    Returns
    -------
    labels, n
        As those of `label`.

    Examples
    --------
    >>> levels = saliency(da.from_array(np.array([[1, 2, 9, 8]], dtype="u1"), (1, 2)))
    >>> print(cut(levels, 1)[0].compute())
    [[1 1 2 2]]
    """
    levels = da.asarray(levels)
    if levels.ndim != 3 or levels.shape[0] not in (2, 4):
        raise ValueError(f"levels of shape {levels.shape}; it must be (2, H, W) or (4, H, W)")
    levels = _in_regular_chunks(levels, 0)
    pixels = levels.map_blocks(_no_pixels, drop_axis=0, dtype=np.uint8)
    valid = _valid_of(levels) if mask is None else da.asarray(mask)
    arrays = {**_image_and_mask(pixels, valid, None), "edges": levels}
    grid = _grid_of(pixels, alpha=alpha, connectivity=2 * levels.shape[0], edges=levels.dtype)
    return _run(grid, arrays, {})

# SPDX-License-Identifier: MIT
"""The chunks of an image, with each region painted by its mean: what follows `qfz.chunks.stitch`.

1. `sum_shared` for each chunk: the sums of the regions that may have pixels in other chunks, no more
   than its border has;
2. `means_of` all these sums: the means of the shared regions, for each chunk;
3. `paint` each chunk: a region of its own has its mean within the chunk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrays, _means
from . import chunks as _chunks

__all__ = ["means_of", "paint", "sum_shared"]


def _shared(grid: _chunks.Grid, row: int, column: int, labels: npt.NDArray[Any]) -> Any:
    """Return the labels, ascending, of the regions of a chunk that may have pixels in others."""
    sides = [labels[:0, 0]]
    sides += [labels[0]] if row > 0 else []
    sides += [labels[-1]] if row + 1 < grid.n_rows else []
    sides += [labels[:, 0]] if column > 0 else []
    sides += [labels[:, -1]] if column + 1 < grid.n_columns else []
    found = np.unique(np.concatenate(sides))
    return found[found > 0]


def _as_bands(image: Any) -> npt.NDArray[Any]:
    """Return a view (B, H, W) of a chunk."""
    array = np.asarray(image)
    return array.reshape(-1, *array.shape[-2:])


def sum_shared(
    grid: _chunks.Grid, row: int, column: int, image: Any, exterior: bytes, **options: Any
) -> _means.Sums:
    """Return the sums of the regions that a chunk shares with others."""
    labels = _chunks.resolve(grid, row, column, image, exterior, **options)
    return _means.add(labels, _shared(grid, row, column, labels), _as_bands(image))


def means_of(grid: _chunks.Grid, sums: list[list[_means.Sums]]) -> list[list[_means.Means]]:
    """Return, for each chunk, the means of the regions that it shares with others."""
    merged = _means.merge([part for row in sums for part in row])
    found = _means.means(merged, grid.dtype)
    return [[_means.take(found, part.labels) for part in row] for row in sums]


def _edges_between(labels: npt.NDArray[Any], n_directions: int) -> npt.NDArray[np.uint32]:
    """Return levels of edges: 0 within a region, 1 between two."""
    levels = np.zeros((n_directions, *labels.shape), np.uint32)
    levels[0, :, :-1] = labels[:, :-1] != labels[:, 1:]
    levels[1, :-1] = labels[:-1] != labels[1:]
    if n_directions == 4:
        levels[2, :-1, :-1] = labels[:-1, :-1] != labels[1:, 1:]
        levels[3, :-1, 1:] = labels[:-1, 1:] != labels[1:, :-1]
    return levels


def paint(
    grid: _chunks.Grid,
    row: int,
    column: int,
    image: Any,
    exterior: bytes,
    means: _means.Means,
    channel_axis: int | None,
    **options: Any,
) -> Any:
    """Paint a chunk: regions of its own by their means within it, shared ones by those given."""
    labels = _chunks.resolve(
        grid, row, column, image, exterior, channel_axis=channel_axis, **options
    )
    painted = _arrays.simplify(
        image,
        0,
        connectivity=grid.connectivity,
        mask=labels != 0,
        channel_axis=channel_axis,
        edges=_edges_between(labels, grid.n_directions),
    )
    _means.paint(labels, means, _as_bands(painted))
    return painted

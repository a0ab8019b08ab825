# SPDX-License-Identifier: MIT
"""Tables of regions: their features, and which are neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from . import _structs
from ._image import Source, host_array, read_edges
from ._session import Session, criterion

if TYPE_CHECKING:
    import pandas

Labels = npt.NDArray[np.uint32]
_STATISTICS = ("mean", "min", "max", "stddev")


def _as_structured(columns: dict[str, npt.NDArray[Any]], n_bands: int | None) -> npt.NDArray[Any]:
    """Join columns; n_bands None: the image has no axis of bands; statistics are numbers."""
    shape = () if n_bands is None else (n_bands,)
    fields = [
        (name, column.dtype, shape if name in _STATISTICS else ())
        for name, column in columns.items()
    ]
    table = np.empty(len(columns["label"]), np.dtype(fields))
    for name, column in columns.items():
        table[name] = column.reshape(table[name].shape)
    return table


def _as_frame(columns: dict[str, npt.NDArray[Any]]) -> pandas.DataFrame:
    import pandas

    flat: dict[str, npt.NDArray[Any]] = {}
    for name, column in columns.items():
        if name in _STATISTICS:
            flat.update({f"{name}_{b + 1}": column[:, b] for b in range(column.shape[1])})
        else:
            flat[name] = column
    return pandas.DataFrame(flat)


@overload
def regions(
    image: npt.ArrayLike,
    alpha: float | None = ...,
    distance: str = ...,
    connectivity: int = ...,
    mask: npt.ArrayLike | None = ...,
    omega: float | Sequence[float] | None = ...,
    min_area: int | None = ...,
    *,
    as_frame: Literal[False] = ...,
    background: float | None = ...,
    channel_axis: int | None = ...,
    weights: Sequence[float] | None = ...,
    edges: npt.ArrayLike | None = ...,
    threads: int = ...,
    engine: str = ...,
) -> tuple[Labels, npt.NDArray[Any]]: ...


@overload
def regions(
    image: npt.ArrayLike,
    alpha: float | None = ...,
    distance: str = ...,
    connectivity: int = ...,
    mask: npt.ArrayLike | None = ...,
    omega: float | Sequence[float] | None = ...,
    min_area: int | None = ...,
    *,
    as_frame: Literal[True],
    background: float | None = ...,
    channel_axis: int | None = ...,
    weights: Sequence[float] | None = ...,
    edges: npt.ArrayLike | None = ...,
    threads: int = ...,
    engine: str = ...,
) -> tuple[Labels, pandas.DataFrame]: ...


def regions(
    image: npt.ArrayLike,
    alpha: float | None = 0,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    omega: float | Sequence[float] | None = None,
    min_area: int | None = None,
    *,
    as_frame: bool = False,
    background: float | None = None,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> tuple[Labels, Any]:
    """Label the quasi-flat zones of an image, and describe each of them.

    Parameters
    ----------
    image, alpha, distance, connectivity, mask, omega, min_area
        As those of `label`.
    background, channel_axis, weights, edges, threads, engine
        As those of `label`.
    as_frame : bool
        Return the table as a pandas.DataFrame, with a column mean_B for band B, from 1, and so on.

    Returns
    -------
    labels : uint32 array, (H, W)
        As `label` returns it.
    table : structured array, (N,), or DataFrame
        Row i describes the region with label i + 1: `label`; `pixels`, their number; `x`, `y`, the
        centroid in pixels, where the centre of the first pixel is (0.5, 0.5); `x0`, `y0`, `x1`,
        `y1`, the bounding box, columns x0 to x1 - 1 and rows y0 to y1 - 1; `mean`, `min`, `max`,
        `stddev` of the pixel values, in their unit, of each band where the image has bands; the
        deviation is that of the population.  Sums are exact.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[1, 2, 9], [2, 9, 9]], dtype=np.uint8)
    >>> labels, table = regions(image, alpha=1)
    >>> table["pixels"].tolist(), table["max"].tolist()
    ([3, 3], [2.0, 9.0])
    """
    source = Source(image, channel_axis, mask, background)
    rule = criterion(connectivity, distance, alpha, omega, min_area, weights)
    part = _structs.PART_FEATURES if omega is None else _structs.PART_ALPHA_OMEGA
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        labels, n = session.labels(part)
        columns = {"label": np.arange(1, n + 1, dtype=np.uint32), **session.features(n)}
    if as_frame:
        return labels, _as_frame(columns)
    return labels, _as_structured(columns, None if channel_axis is None else source.n_bands)


def _pairs(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return, for each edge between two regions, both labels in one number."""
    between = (a != b) & (a != 0) & (b != 0)
    a, b = a[between].astype(np.uint64), b[between].astype(np.uint64)
    keys: npt.NDArray[np.uint64] = np.minimum(a, b) << np.uint64(32) | np.maximum(a, b)
    return keys


def read_labels(labels: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return labels of 32 bits, as an array in host memory; refuse others."""
    array = host_array(labels, "labels")
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"labels of shape {array.shape} and type {array.dtype}; 2-D integers are needed"
        )
    if array.size and (array.min() < 0 or array.max() >= 1 << 32):
        raise ValueError("labels must be from 0 to 2**32 - 1")
    return array


def neighbours(labels: npt.ArrayLike, connectivity: int = 4) -> npt.NDArray[Any]:
    """List the pairs of neighbouring regions.

    Parameters
    ----------
    labels : array_like, (H, W)
        Labels from 0 to 2**32 - 1; 0 is no region.
    connectivity : {4, 8}
        As that of `label`.

    Returns
    -------
    pairs : structured array
        Fields `a` and `b`, two labels, a < b, and `edges`, the number of edges between the two
        regions; sorted by a, then b.

    Raises
    ------
    ValueError, TypeError
        `labels` has an unsuitable shape, type or range.

    Examples
    --------
    >>> import numpy as np
    >>> neighbours(np.array([[1, 1, 2], [3, 3, 2]])).tolist()
    [(1, 2, 1), (1, 3, 2), (2, 3, 1)]
    """
    array = read_labels(labels)
    if connectivity not in (4, 8, 1, 2):
        raise ValueError(f"connectivity is {connectivity!r}; it can be 4, 8, 1, 2")
    edges = [_pairs(array[:, :-1], array[:, 1:]), _pairs(array[:-1], array[1:])]
    if connectivity in (8, 2):
        edges.append(_pairs(array[:-1, :-1], array[1:, 1:]))
        edges.append(_pairs(array[:-1, 1:], array[1:, :-1]))
    keys, counts = np.unique(np.concatenate(edges), return_counts=True)
    pairs = np.empty(len(keys), [("a", np.uint32), ("b", np.uint32), ("edges", np.int64)])
    pairs["a"], pairs["b"], pairs["edges"] = (
        keys >> np.uint64(32),
        keys & np.uint64(0xFFFFFFFF),
        counts,
    )
    return pairs

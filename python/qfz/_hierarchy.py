# SPDX-License-Identifier: MIT
"""The whole hierarchy of an image: its alpha-tree, and the number of regions for every alpha."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library, _structs
from ._image import Edges, Source, read_edges, read_levels
from ._session import Session, address, criterion
from ._structs import NO_EDGE
from .errors import QfzArgumentError


class Tree(NamedTuple):
    """An alpha-tree; see `tree`."""

    parent: npt.NDArray[np.uint32]
    level: npt.NDArray[Any]


class Curve(NamedTuple):
    """The number of regions for every alpha; see `curve`."""

    alpha: npt.NDArray[np.float64]
    regions: npt.NDArray[np.int64]


class Hierarchy(NamedTuple):
    """Regions of level 0, and SciPy's linkage matrix of them; see `hierarchy`."""

    labels: npt.NDArray[np.uint32]
    linkage: npt.NDArray[np.float64]


def _n_edges(there: npt.NDArray[np.bool_], n_planes: int) -> int:
    """Return the number of pairs of valid neighbours; two planes of levels: 4-connected."""
    pairs = [(there[:, :-1], there[:, 1:]), (there[:-1], there[1:])]
    if n_planes == 4:
        pairs += [(there[:-1, :-1], there[1:, 1:]), (there[:-1, 1:], there[1:, :-1])]
    return sum(int(np.count_nonzero(a & b)) for a, b in pairs)


def _refuse_top_level(source: Source, levels: npt.NDArray[np.uint32]) -> None:
    """Refuse a saliency of 2**32 - 1, which as a level of edges would be no edge."""
    there = np.ones((source.h, source.w), np.bool_) if source.valid is None else source.valid
    if np.count_nonzero(levels != NO_EDGE) < _n_edges(there, len(levels)):
        raise QfzArgumentError(
            "min_area: components of this image join at the level 4294967295, which as a level of "
            "edges means no edge; mask the pixels of the least or of the greatest value, or use "
            "the functions on files"
        )


def _filtered(
    image: npt.ArrayLike,
    channel_axis: int | None,
    mask: npt.ArrayLike | None,
    rule: _structs.Criterion,
    edges: npt.ArrayLike | None,
    threads: int,
    engine: str,
) -> tuple[Source, Edges | None]:
    """Return the image, and levels of edges whose hierarchy is that of a rule with a least area.

    The library's tree has no least area.  But the saliency is of the filtered hierarchy, and the
    tree of edges of these levels is the hierarchy itself.  Clears the least area of the rule.
    """
    source, given = Source(image, channel_axis, mask), read_edges(edges)
    if rule.min_area <= 1:
        return source, given
    with Session(source, rule, given, threads, engine) as session:
        levels = read_levels(session.saliency())
    if given is None and source.pixels.dtype.kind in "iu" and source.pixels.dtype.itemsize == 4:
        _refuse_top_level(source, levels[0])
    rule.min_area = 0
    return source, levels


def tree(
    image: npt.ArrayLike,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> Tree:
    """Compute the canonical alpha-tree of an image.

    Parameters
    ----------
    image, distance, connectivity, mask, min_area, channel_axis, weights, edges, threads, engine
        As those of `label`.

    Returns
    -------
    parent : uint32 array
        The parent of each node; a root is its own parent.  Node y * W + x is pixel (y, x); nodes
        from H * W on are inner nodes.  Inner nodes that are not in use are roots without children.
    level : uint32 or float32 array
        The level of each node, in the type of `saliency`: 0 for pixels; an inner node's level is
        higher than those of its children, except that flat zones are inner nodes of level 0.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> parent, level = tree(np.array([[1, 2, 9]], dtype=np.uint8))
    >>> top = parent[0]
    >>> print(level[top], level[parent[top]])
    1 7
    """
    rule = criterion(connectivity, distance, None, None, min_area, weights)
    source, levels = _filtered(image, channel_axis, mask, rule, edges, threads, engine)
    with Session(source, rule, levels, threads, engine) as session:
        return Tree(*session.tree())


def _pixels_below(parent: npt.NDArray[Any], has_parent: npt.NDArray[np.bool_]) -> Any:
    """Return the first child of each node, and the pixel that first children lead to."""
    nodes = np.arange(len(parent), dtype=parent.dtype)
    first = nodes.copy()
    first[parent[has_parent][::-1]] = nodes[has_parent][::-1]
    pixel, further = first, first[first]
    while not np.array_equal(pixel, further):
        pixel, further = further, further[further]
    return first, pixel


def _joins(
    parent: npt.NDArray[Any], level: npt.NDArray[Any], labels: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the table of a tree: each child of an inner node but the first one joins the first."""
    nodes = np.arange(len(parent), dtype=parent.dtype)
    has_parent = parent != nodes
    first, pixel = _pixels_below(parent, has_parent)
    joined = has_parent & (level[parent] > 0) & (first[parent] != nodes)
    above, flat = parent[joined], labels.ravel()
    return flat[pixel[above]], flat[pixel[joined]], level[above]


def hierarchy(
    image: npt.ArrayLike,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> Hierarchy:
    """Compute SciPy's linkage matrix of the hierarchy of an image.

    The matrix is that of the minimum spanning forest between the regions of level 0, for
    scipy.cluster.hierarchy: fcluster(linkage, alpha, "distance")[labels - 1] are the
    alpha-components.

    Parameters
    ----------
    image, distance, connectivity, mask, min_area, channel_axis, weights, edges, threads, engine
        As those of `label`.

    Returns
    -------
    labels : uint32 array, (H, W)
        Those of `label` with alpha = 0.
    linkage : float64 array, (N - 1, 4)
        As that of the function `linkage`.  Cluster k is the region with label k + 1.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> labels, matrix = hierarchy(np.array([[1, 2, 9, 9]], dtype=np.uint8))
    >>> labels.tolist(), matrix.tolist()
    ([[1, 2, 3, 3]], [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 7.0, 3.0]])
    """
    rule = criterion(connectivity, distance, 0, None, min_area, weights)
    source, levels = _filtered(image, channel_axis, mask, rule, edges, threads, engine)
    with Session(source, rule, levels, threads, engine) as session:
        parent, level = session.tree()
        labels, n = session.labels(_structs.PART_LABEL)
    return Hierarchy(labels, linkage(*_joins(parent, level, labels), n))


def curve(
    image: npt.ArrayLike,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> Curve:
    """Count the alpha-components of an image for every alpha.

    Parameters
    ----------
    image, distance, connectivity, mask, min_area, channel_axis, weights, edges, threads, engine
        As those of `label`.

    Returns
    -------
    alpha : float64 array
        0, and each larger alpha at which the number of regions changes, ascending.
    regions : int64 array
        The number of regions from this alpha on, up to the next one.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> alpha, n = curve(np.array([[1, 2, 9, 9]], dtype=np.uint8))
    >>> alpha.tolist(), n.tolist()
    ([0.0, 1.0, 7.0], [3, 2, 1])
    """
    parent, level = tree(
        image,
        distance,
        connectivity,
        mask,
        min_area,
        channel_axis=channel_axis,
        weights=weights,
        edges=edges,
        threads=threads,
        engine=engine,
    )
    source = Source(image, channel_axis, mask)
    n_pixels = source.h * source.w
    n_valid = n_pixels if source.valid is None else int(np.count_nonzero(source.valid))
    children = np.bincount(parent[parent != np.arange(len(parent))], minlength=len(parent))
    joins = children > 1  # a node with k children leaves k - 1 regions fewer
    levels, which = np.unique(level[joins], return_inverse=True)
    alpha = levels.astype(np.float64)
    fewer = np.bincount(which, children[joins] - 1, len(levels)).astype(np.int64)
    if not len(alpha) or alpha[0] > 0:
        alpha, fewer = np.insert(alpha, 0, 0.0), np.insert(fewer, 0, 0)
    return Curve(alpha, n_valid - np.cumsum(fewer))


def linkage(
    a: npt.ArrayLike, b: npt.ArrayLike, level: npt.ArrayLike, n_regions: int
) -> npt.NDArray[np.float64]:
    """Turn the table of a hierarchy into SciPy's linkage matrix.

    Parameters
    ----------
    a, b : array_like, (M,)
        Labels of two regions, 1 to n_regions, that each row joins: columns of `tree_file`'s table.
    level : array_like, (M,)
        Dissimilarity at which the two regions meet.
    n_regions : int
        Number of regions of level 0.

    Returns
    -------
    linkage : float64 array, (n_regions - 1, 4)
        Each row: two clusters, their distance, and the number of regions in the new cluster, for
        scipy.cluster.hierarchy.  Areas that no row joins meet last, at infinity.

    Raises
    ------
    QfzArgumentError, ValueError
        The arrays have different shapes, or the rows are no forest: the message names the row.

    Examples
    --------
    >>> linkage([2, 1], [3, 2], [5.0, 1.0], 3).tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 5.0, 3.0]]
    """
    first, second = (np.ascontiguousarray(ends, np.uint64) for ends in (a, b))
    levels = np.ascontiguousarray(level, np.float64)
    if not first.shape == second.shape == levels.shape == (first.size,):
        raise ValueError(
            f"a, b and level have shapes {first.shape}, {second.shape}, {levels.shape}"
        )
    library, error = _library.for_arrays(), _structs.Error()
    made = np.empty((max(n_regions - 1, 0), 4))
    rows = _structs.TreeTable(
        ctypes.sizeof(_structs.TreeTable),
        n_regions,
        first.size,
        address(first),
        address(second),
        address(levels),
    )
    status = library.qfz_tree_table_linkage(ctypes.byref(rows), address(made), ctypes.byref(error))
    _library.check(status, error)
    return made

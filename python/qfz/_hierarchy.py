# SPDX-License-Identifier: MIT
"""The whole hierarchy of an image: its alpha-tree, and the number of regions for every alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._image import Source, read_edges
from ._session import Session, criterion


class Tree(NamedTuple):
    """An alpha-tree; see `tree`."""

    parent: npt.NDArray[np.uint32]
    level: npt.NDArray[Any]


class Curve(NamedTuple):
    """The number of regions for every alpha; see `curve`."""

    alpha: npt.NDArray[np.float64]
    regions: npt.NDArray[np.int64]


def tree(
    image: npt.ArrayLike,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> Tree:
    """Compute the canonical alpha-tree of an image.

    Parameters are those of `label`.

    Returns
    -------
    parent : uint32 array
        The parent of each node; a root is its own parent.  Node y * W + x is pixel (y, x); nodes
        from H * W on are inner nodes.  Inner nodes that are not in use are roots without children.
    level : uint32 or float32 array
        The level of each node, in the type of `saliency`: 0 for pixels; an inner node's level is
        higher than those of its children, except that flat zones are inner nodes of level 0.

    Examples
    --------
    >>> import numpy as np
    >>> parent, level = tree(np.array([[1, 2, 9]], dtype=np.uint8))
    >>> top = parent[0]
    >>> print(level[top], level[parent[top]])
    1 7
    """
    source = Source(image, channel_axis, mask)
    rule = criterion(connectivity, distance, None, None, None, weights)
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        return Tree(*session.tree())


def curve(
    image: npt.ArrayLike,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> Curve:
    """Count the alpha-components of an image for every alpha.

    Parameters are those of `label`.

    Returns
    -------
    alpha : float64 array
        0, and each larger alpha at which the number of regions changes, ascending.
    regions : int64 array
        The number of regions from this alpha on, up to the next one.

    Examples
    --------
    >>> import numpy as np
    >>> alpha, n = curve(np.array([[1, 2, 9, 9]], dtype=np.uint8))
    >>> alpha.tolist(), n.tolist()
    ([0.0, 1.0, 7.0], [3, 2, 1])
    """
    source = Source(image, channel_axis, mask)
    rule = criterion(connectivity, distance, None, None, None, weights)
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        parent, level = session.tree()
    n_pixels = source.h * source.w
    n_valid = n_pixels if source.valid is None else int(np.count_nonzero(source.valid))
    children = np.bincount(parent[parent != np.arange(len(parent))], minlength=len(parent))
    joins = children > 1  # a node with k children leaves k - 1 regions fewer
    levels, which = np.unique(level[joins], return_inverse=True)
    alpha = levels.astype(np.float64)
    fewer = np.bincount(which, children[joins] - 1, len(levels)).astype(np.int64)
    if not len(alpha) or alpha[0] > 0:
        alpha, fewer = np.concatenate(([0.0], alpha)), np.concatenate(([0], fewer))
    return Curve(alpha, n_valid - np.cumsum(fewer))

# SPDX-License-Identifier: MIT
"""Few colours for many regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._regions import neighbours, read_labels

_MOST = 255  # colours that uint8 holds beside 0


def _least_colors(pairs: npt.NDArray[Any], names: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return a colour of each name: the least one that no neighbour of a lower name has."""
    lower, upper = (np.searchsorted(names, pairs[end]) for end in ("a", "b"))
    order = np.argsort(upper, kind="stable")
    neighbours_of = lower[order].tolist()
    ends = np.searchsorted(upper[order], np.arange(1, len(names) + 1)).tolist()
    chosen: list[int] = []  # a power of 2 for each name
    start = 0
    for end in ends:
        taken = 0
        for neighbour in neighbours_of[start:end]:
            taken |= chosen[neighbour]
        chosen.append(~taken & (taken + 1))
        start = end
    numbers = [bit.bit_length() for bit in chosen]
    if max(numbers, default=0) > _MOST:
        raise ValueError(f"{_MOST} colours do not suffice for these regions")
    return np.array(numbers, np.uint8)


def colors(labels: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Give regions few colours, such that regions that touch differ.

    In ascending order of labels, each region gets the least colour that no neighbour of a lower
    label has; neighbours share a side or a corner.  These are the colours of ``qfz label --colors``.

    Parameters
    ----------
    labels : array_like of integers, (H, W)
        Labels from 0 to 2**32 - 1, in any order and with any gaps; 0 is no region.

    Returns
    -------
    colors : uint8 array, (H, W)
        1, 2, 3, ...; 0 where `labels` is 0.

    Raises
    ------
    ValueError, TypeError
        `labels` has an unsuitable shape, type or range; or 255 colours do not suffice.

    Examples
    --------
    >>> import numpy as np
    >>> print(colors(np.array([[1, 1, 2], [7, 7, 2], [9, 9, 9]])))
    [[1 1 2]
     [3 3 2]
     [1 1 1]]
    """
    array = read_labels(labels)
    names, which = np.unique(array, return_inverse=True)
    first = int(len(names) > 0 and names[0] == 0)
    table = np.zeros(len(names), np.uint8)
    table[first:] = _least_colors(neighbours(array, 8), names[first:])
    painted: npt.NDArray[np.uint8] = table[which.reshape(array.shape)]
    return painted

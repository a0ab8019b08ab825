# SPDX-License-Identifier: MIT
"""Functions on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _structs
from ._image import Source, ends_of_edges, is_device_array, masked, read_edges, read_levels
from ._session import Session, criterion

Labels = npt.NDArray[np.uint32]


def _on_device(image: Any, engine: str) -> bool:
    """Return whether an image is in the memory of a GPU; refuse the CPU engine then."""
    if not is_device_array(image):
        return False
    if engine not in ("auto", "cuda"):
        raise ValueError(f"engine is {engine!r}; an image on a GPU needs auto or cuda")
    return True


def label(
    image: npt.ArrayLike,
    alpha: float | None = 0,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    omega: float | Sequence[float] | None = None,
    min_area: int | None = None,
    *,
    background: float | None = None,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> tuple[Labels, int]:
    """Label the quasi-flat zones of an image.

    A region is an alpha-component: a largest set of pixels joined by paths whose neighbours differ
    by at most `alpha`.  With alpha = 0, regions are the connected components of equal values.

    Parameters
    ----------
    image : array_like, (H, W), or (H, W, B) or (B, H, W) with `channel_axis`
        At most 2**29 pixels, of bool, integers up to 32 bits or float32: read without a copy if
        rows and bands are contiguous, (H, W) or (B, H, W).  Integers of 64 bits whose values fit 32
        bits, and float16, are converted.  A pixel with a NaN, or a masked value of a masked array,
        in any band is invalid.
    alpha : float or None
        Largest dissimilarity of joined neighbours, in the unit of the pixels; numpy.inf is allowed.
        None: two neighbours join if their values are equal.
    distance : {"linf", "l1", "l2", "sam"}
        Dissimilarity of two pixels: largest absolute difference over the bands, sum of absolute
        differences, Euclidean distance, or spectral angle in radians.
    connectivity : {4, 8}
        Neighbours share an edge (4), or an edge or a corner (8).  1 and 2 mean the same, as in
        scikit-image.
    mask : array_like, (H, W), optional
        Pixels where it is 0 or False are invalid.
    omega : float or one float per band, optional
        The region of a pixel is its largest alpha'-component, alpha' <= alpha, whose maximum less
        minimum is at most omega in every band [1]_.
    min_area : int, optional
        Least number of pixels of a region: a smaller one joins its most similar neighbour.  Only a
        whole area of valid pixels can be smaller.
    background : float, optional
        Pixels with this value in every band are invalid.
    channel_axis : int, optional
        The axis of `image` that holds the bands; None: the image has one band and two axes.
    weights : one float per band, optional
        Absolute differences are multiplied by them; not for "sam".
    edges : array_like, (2, H, W) or (4, H, W), optional
        Levels of the edges from each pixel to the right, below, and for 8-connected pixels below
        right and below left, in place of the dissimilarities of `image`; see `saliency`.
    threads : int
        Number of threads.  The result does not depend on it.
    engine : {"auto", "cpu", "cuda"}
        Engine that computes.  The result does not depend on it.

    Returns
    -------
    labels : uint32 array, (H, W)
        1 to N by the first pixel of each region in raster-scan order; 0 where a pixel is invalid.
    n : int
        N, the number of regions.

        Of an image on a GPU (CuPy, PyTorch, JAX): an array of the same library on that GPU, int32
        for PyTorch.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError
        A parameter is out of range, or an array has an unsuitable shape or type.
    QfzMemoryError
        Memory ran out.
    QfzGpuError, QfzLibraryError
        The GPU failed; or, for an image on a GPU, the library was built without CUDA.

    References
    ----------
    .. [1] P. Soille, "Constrained connectivity for hierarchical image partitioning and
       simplification", IEEE TPAMI 30(7), 2008.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[1, 2, 9], [2, 9, 9]], dtype=np.uint8)
    >>> labels, n = label(image, alpha=1)
    >>> print(labels)
    [[1 1 2]
     [1 2 2]]
    >>> n
    2
    """
    rule = criterion(connectivity, distance, alpha, omega, min_area, weights)
    part = _structs.PART_LABEL if omega is None else _structs.PART_ALPHA_OMEGA
    if type(image) is not np.ndarray and _on_device(image, engine):
        from . import _device

        made: tuple[Any, int] = _device.label(
            image, rule, part, channel_axis, mask, background, edges
        )
        return made
    source = Source(image, channel_axis, mask, background)
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        return session.labels(part)


def simplify(
    image: npt.ArrayLike,
    alpha: float | None = None,
    distance: str = "linf",
    connectivity: int = 4,
    mask: npt.ArrayLike | None = None,
    omega: float | Sequence[float] | None = None,
    min_area: int | None = None,
    *,
    channel_axis: int | None = None,
    weights: Sequence[float] | None = None,
    edges: npt.ArrayLike | None = None,
    threads: int = 1,
    engine: str = "auto",
) -> npt.NDArray[Any]:
    """Paint each (alpha, omega)-component of an image with its mean.

    Parameters
    ----------
    image, distance, connectivity, mask, min_area, channel_axis, weights, edges, threads, engine
        As those of `label`.
    alpha, omega : float or None; omega also one float per band
        Limits of a region, as those of `label`; None: no limit.  One of them is required.

    Returns
    -------
    painted : array of the shape and type of `image`
        The mean of the pixel's region in each band; means of integers are rounded to nearest,
        halves up.  Invalid pixels keep their values.  A masked array if `image` is one.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[10, 12, 50], [11, 52, 51]], dtype=np.uint8)
    >>> print(simplify(image, omega=5))
    [[11 11 51]
     [11 51 51]]
    """
    if alpha is None and omega is None:
        raise ValueError("simplify needs alpha, omega or both")
    rule = criterion(connectivity, distance, alpha, omega, min_area, weights)
    if type(image) is not np.ndarray and _on_device(image, engine):
        from . import _device

        on_device: npt.NDArray[Any] = _device.simplify(image, rule, channel_axis, mask, edges)
        return on_device
    source = Source(image, channel_axis, mask)
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        session.labels(_structs.PART_ALPHA_OMEGA)
        painted = session.paint()
    original = np.asarray(image)
    painted = painted.astype(original.dtype, copy=False)
    if channel_axis is not None:
        painted = np.moveaxis(painted, 0, channel_axis)
    if isinstance(image, np.ma.MaskedArray):
        with_mask: npt.NDArray[Any] = masked.MaskedArray(painted, mask=image.mask)
        return with_mask
    return painted


def saliency(
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
) -> npt.NDArray[Any]:
    """Compute the saliency of every edge: the least alpha that joins its two pixels.

    The result holds the whole hierarchy of quasi-flat zones; `cut` gives the regions of any alpha.

    Parameters
    ----------
    image, distance, connectivity, mask, min_area, channel_axis, weights, edges, threads, engine
        As those of `label`.

    Returns
    -------
    levels : array, (2, H, W), or (4, H, W) for 8-connected pixels
        Levels of the edges from each pixel to the right and below, and for 8-connected pixels below
        right and below left.  uint32, and 4294967295 where there is no edge, for integer images
        under "l1" and "linf" without weights; otherwise float32, and NaN where there is no edge.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[1, 2, 9, 8]], dtype=np.float32)
    >>> print(saliency(image)[0])
    [[ 1.  7.  1. nan]]
    """
    rule = criterion(connectivity, distance, None, None, min_area, weights)
    if type(image) is not np.ndarray and _on_device(image, engine):
        from . import _device

        on_device: npt.NDArray[Any] = _device.saliency(image, rule, channel_axis, mask, edges)
        return on_device
    source = Source(image, channel_axis, mask)
    with Session(source, rule, read_edges(edges), threads, engine) as session:
        return session.saliency()


def cut(
    levels: npt.ArrayLike,
    alpha: float,
    mask: npt.ArrayLike | None = None,
    *,
    threads: int = 1,
) -> tuple[Labels, int]:
    """Label the alpha-components of a hierarchy.

    Parameters
    ----------
    levels : array_like, (2, H, W) or (4, H, W)
        The saliency of an image, as `saliency` returns it; or any levels of edges, at least 0: the
        regions are then the alpha-components of that graph.  On a GPU: uint32, int32 or float32.
    alpha : float
        Largest level of joined neighbours.
    mask : array_like, (H, W), optional
        Pixels where it is 0 or False are invalid.  None: pixels without any edge are invalid.
    threads : int
        Number of threads.

    Returns
    -------
    labels : uint32 array, (H, W)
    n : int
        As those of `label`.

    Raises
    ------
    QfzArgumentError, ValueError, TypeError, QfzMemoryError, QfzGpuError, QfzLibraryError
        As those of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> levels = saliency(np.array([[1, 2, 9, 8]], dtype=np.uint8))
    >>> for alpha in 0, 1, 7:
    ...     print(cut(levels, alpha)[0])
    [[1 2 3 4]]
    [[1 1 2 2]]
    [[1 1 1 1]]
    """
    if type(levels) is not np.ndarray and is_device_array(levels):
        from . import _device

        on_device: tuple[Any, int] = _device.cut(levels, alpha, mask)
        return on_device
    edges = words, _ = read_levels(levels)
    _, h, w = words.shape
    # A cut does not read pixels: the first bytes of the levels stand in for them.
    pixels = words.reshape(-1)[: (h * w + 3) // 4].view(np.uint8)[: h * w].reshape(h, w)
    source = Source(
        pixels, None, ends_of_edges(words != _structs.NO_EDGE) if mask is None else mask
    )
    rule = criterion(2 * len(words), "linf", alpha, None, None, None)
    with Session(source, rule, edges, threads, "cpu") as session:
        return session.cut(alpha, words)

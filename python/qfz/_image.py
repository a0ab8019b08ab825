# SPDX-License-Identifier: MIT
"""From arrays of the caller to the layout that the C library reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._structs import NO_EDGE

#: Pixel types of the library (qfz_type), and what is read as one of them without a copy.
_TYPES: dict[Any, int] = {
    np.dtype(np.uint8): 0,
    np.dtype(np.int8): 1,
    np.dtype(np.uint16): 2,
    np.dtype(np.int16): 3,
    np.dtype(np.uint32): 4,
    np.dtype(np.int32): 5,
    np.dtype(np.float32): 6,
    np.dtype(np.bool_): 0,
}
_INTEGERS = [np.dtype(t) for t in ("u1", "i1", "u2", "i2", "u4", "i4")]
_FLOAT32 = np.dtype(np.float32)

#: Levels of edges, and whether they are the bits of singles.
Edges = tuple[npt.NDArray[np.uint32], bool]

Bools = npt.NDArray[np.bool_]

#: NumPy's masked arrays, which have no type hints before NumPy 2.
masked: Any = np.ma

_CUDA = (2, 13)  # DLPack's numbers of CUDA devices: CUDA, managed memory


def is_device_array(image: Any) -> bool:
    """Return whether an object is in the memory of an NVIDIA GPU."""
    if hasattr(image, "__cuda_array_interface__"):
        return True
    if isinstance(image, (np.ndarray, list, tuple)) or not hasattr(image, "__dlpack_device__"):
        return False
    return int(image.__dlpack_device__()[0]) in _CUDA


def host_array(value: Any, what: str) -> npt.NDArray[Any]:
    """Return an array in host memory; refuse one on a GPU."""
    if type(value) is not np.ndarray and is_device_array(value):
        raise TypeError(
            f"{what}: the array is in the memory of a GPU, and is needed in that of the host; copy "
            "it (cupy.asnumpy(array), tensor.cpu(), numpy.asarray(array) of JAX)"
        )
    return np.asarray(value)


def _smallest_integers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copy 64-bit integers into the smallest type that holds them."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for dtype in _INTEGERS:
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return array.astype(dtype)
    raise ValueError(f"{array.dtype} values from {low} to {high}: 32 bits cannot hold them")


def _to_supported(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Copy an array of another type into a supported type, if nothing is lost."""
    native = array.dtype.newbyteorder("=")
    if native in _TYPES:
        return array.astype(native)
    if array.dtype.kind in "iu":
        return _smallest_integers(array)
    if native == np.dtype(np.float16):
        return array.astype(np.float32)
    remedy = "; astype(numpy.float32) rounds them to 24 bits" if array.dtype.kind == "f" else ""
    raise TypeError(f"{what} of type {array.dtype} are not supported{remedy}")


def _bands_first(array: npt.NDArray[Any], channel_axis: int | None) -> npt.NDArray[Any]:
    if channel_axis is None:
        if array.ndim != 2:
            remedy = "; channel_axis says which axis holds the bands" if array.ndim == 3 else ""
            raise ValueError(f"an image of shape {array.shape} has no two axes{remedy}")
        return array
    if array.ndim != 3:
        raise ValueError(f"channel_axis needs an image of 3 axes, not of shape {array.shape}")
    if not -3 <= channel_axis < 3:
        raise ValueError(f"channel_axis is {channel_axis}; the image has 3 axes")
    return array if channel_axis in (0, -3) else np.moveaxis(array, channel_axis, 0)


def _in_all_bands(condition: Bools) -> Bools:
    found: Bools = condition if condition.ndim == 2 else np.all(condition, axis=0)
    return found


def _in_any_band(condition: Bools) -> Bools:
    found: Bools = condition if condition.ndim == 2 else np.any(condition, axis=0)
    return found


def pixel_type(dtype: npt.DTypeLike) -> int:
    """Return the library's number of a pixel type."""
    try:
        return _TYPES[np.dtype(dtype).newbyteorder("=")]
    except KeyError:
        raise TypeError(
            f"pixels of type {np.dtype(dtype)}; convert them to bool, an integer of up to 32 bits "
            "or float32, for example by astype(numpy.float32)"
        ) from None


class Source:
    """An image as the library reads it.

    Attributes
    ----------
    pixels : contiguous array of a supported type, (H, W) or (B, H, W)
    valid : contiguous bool array (H, W), or None if every pixel is valid
    """

    __slots__ = ("pixels", "valid", "h", "w", "n_bands", "type")

    def __init__(
        self,
        image: npt.ArrayLike,
        channel_axis: int | None = None,
        mask: npt.ArrayLike | None = None,
        background: float | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        """Read an image; dtype: the only type that it may have."""
        valid: Bools | None = None
        array = host_array(image, "image")
        if dtype is not None and array.dtype != dtype:
            raise TypeError(f"pixels of type {array.dtype} in place of {np.dtype(dtype)}")
        if array.ndim == 0:
            raise TypeError(
                f"a {type(image).__name__} in place of an image; a file is read by its package, or by "
                "the functions with _file"
            )
        kind = _TYPES.get(array.dtype)
        bands = _bands_first(array, channel_axis)
        if kind is None:
            bands = _to_supported(bands, "pixels")
            kind = _TYPES[bands.dtype]
        if not bands.flags.c_contiguous:
            bands = np.ascontiguousarray(bands)
        self.pixels = bands
        self.type = kind
        self.h, self.w = bands.shape[-2:]
        self.n_bands = bands.shape[0] if bands.ndim == 3 else 1
        if isinstance(image, np.ma.MaskedArray) and image.mask is not np.ma.nomask:
            valid = ~_in_any_band(_bands_first(masked.getmaskarray(image), channel_axis))
        if bands.dtype == _FLOAT32:
            nan = np.isnan(bands)
            if nan.any():
                valid = _and(valid, ~_in_any_band(nan))
        if mask is not None:
            valid = _and(valid, _read_mask(mask, self.h, self.w))
        if background is not None:
            valid = _and(valid, ~_in_all_bands(bands == background))
        self.valid = None if valid is None else np.ascontiguousarray(valid)


def _and(valid: Bools | None, more: Bools) -> Bools:
    return more if valid is None else valid & more


def _read_mask(mask: npt.ArrayLike, h: int, w: int) -> Bools:
    array = host_array(mask, "mask")
    if array.shape != (h, w):
        raise ValueError(f"mask has shape {array.shape}; the image has {h} rows and {w} columns")
    there: Bools = array if array.dtype == np.bool_ else array != 0
    return there


def _level_bits(levels: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Copy single-precision levels into their bits; NaN becomes NO_EDGE."""
    if (levels < 0).any():
        raise ValueError("levels of edges must be at least 0")
    bits: npt.NDArray[np.uint32] = (levels + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    bits[np.isnan(levels)] = NO_EDGE
    return bits


def read_edges(edges: npt.ArrayLike | None) -> Edges | None:
    """Return levels of edges as the library reads them, or None."""
    return None if edges is None else read_levels(edges)


def read_levels(levels: npt.ArrayLike) -> Edges:
    """Return levels of edges as the library reads them; contiguous uint32 is not copied."""
    array = host_array(levels, "levels of edges")
    if array.ndim != 3 or array.shape[0] not in (2, 4):
        raise ValueError(
            f"levels of edges have shape {array.shape}; it must be (2, H, W) for 4-connected "
            "pixels and (4, H, W) for 8-connected pixels"
        )
    if array.dtype not in _TYPES:
        array = _to_supported(array, "levels of edges")
    if array.dtype == _FLOAT32:
        return np.ascontiguousarray(_level_bits(array)), True
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        raise ValueError("levels of edges must be at least 0")
    return np.ascontiguousarray(array, dtype=np.uint32), False


def ends_of_edges(there: Bools) -> Bools:
    """Return the pixels at which at least one edge begins or ends; changes `there`."""
    there[0, :, -1] = False
    there[1:, -1, :] = False
    ends: Bools = there[0] | there[1]
    ends[:, 1:] |= there[0, :, :-1]
    ends[1:] |= there[1, :-1]
    if len(there) == 4:
        there[2, :, -1] = False
        there[3, :, 0] = False
        ends |= there[2] | there[3]
        ends[1:, 1:] |= there[2, :-1, :-1]
        ends[1:, :-1] |= there[3, :-1, 1:]
    return ends

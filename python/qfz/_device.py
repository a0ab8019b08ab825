# SPDX-License-Identifier: MIT
"""Arrays in the memory of a GPU: what goes in on the device comes out on the device.

CuPy arrays and PyTorch tensors are read where they are, in the order of their library's current
stream; the result is complete in the order of that stream.  JAX arrays, and other objects with
``__cuda_array_interface__`` or DLPack, go through CuPy without a copy.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _structs
from ._image import ends_of_edges, is_device_array, pixel_type
from ._session import DeviceSession, criterion, has_float_levels

__all__ = ["cut", "is_device_array", "label", "library_of", "saliency", "simplify"]


class CuPy:
    """CuPy's arrays; xp: the module, or one like it."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.label_type = self.level_type = "uint32"

    def take(self, image: Any) -> Any:
        """Return the object as an array of this library."""
        return image

    def give(self, array: Any) -> Any:
        """Return a result in the type of the caller's object."""
        return array

    def device(self, array: Any) -> int:
        """Return the number of the GPU."""
        return int(array.device.id)

    def stream(self, _: int) -> int:
        """Return the current stream of a GPU."""
        return int(self.xp.cuda.get_current_stream().ptr)

    def on(self, number: int) -> Any:
        """Return a context in which a GPU is the current one."""
        return self.xp.cuda.Device(number)

    def empty(self, shape: Sequence[int], dtype: str, _: Any) -> Any:
        """Return new memory on the device."""
        return self.xp.empty(shape, dtype)

    def empty_like(self, array: Any) -> Any:
        """Return new memory on the device, for a contiguous array of this shape and type."""
        return self.xp.empty_like(array)

    def contiguous(self, array: Any) -> Any:
        """Return the array itself, or a copy."""
        return self.xp.ascontiguousarray(array)

    def bands_first(self, array: Any, axis: int) -> Any:
        """Return a view with the axis of bands first."""
        return self.xp.moveaxis(array, axis, 0)

    def bands_at(self, array: Any, axis: int) -> Any:
        """Return a view with the first axis elsewhere."""
        return self.xp.moveaxis(array, 0, axis)

    def isnan(self, array: Any) -> Any:
        """Return where an array is not a number."""
        return self.xp.isnan(array)

    def mask(self, mask: Any, _: Any) -> Any:
        """Return where a mask is not 0, on the device."""
        return self.xp.asarray(mask) != 0

    def any_band(self, condition: Any) -> Any:
        """Return where a condition holds in any band."""
        return condition if condition.ndim == 2 else condition.any(0)

    def all_bands(self, condition: Any) -> Any:
        """Return where a condition holds in every band."""
        return condition if condition.ndim == 2 else condition.all(0)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        """Choose from two arrays."""
        return self.xp.where(condition, a, b)

    def view_floats(self, words: Any) -> Any:
        """Return the bits of singles as singles."""
        return words.view(self.xp.float32)

    def view_words(self, levels: Any) -> Any:
        """Return the bits of numbers of 32 bits as integers, which every operation takes."""
        return levels.view(self.xp.int32)


class Torch(CuPy):
    """PyTorch's tensors."""

    def __init__(self, xp: Any) -> None:
        super().__init__(xp)
        self.label_type = "int32"  # labels are below 2**30, and most operations lack uint32
        self.level_type = "uint32"

    def take(self, image: Any) -> Any:
        """Return the tensor without its history of gradients."""
        return image.detach()

    def device(self, array: Any) -> int:
        """Return the number of the GPU."""
        return int(array.get_device())

    def stream(self, number: int) -> int:
        """Return the current stream of a GPU."""
        return int(self.xp.cuda.current_stream(number).cuda_stream)

    def on(self, number: int) -> Any:
        """Return a context in which a GPU is the current one."""
        return self.xp.cuda.device(number)

    def empty(self, shape: Sequence[int], dtype: str, like: Any) -> Any:
        """Return new memory on the device."""
        kind = getattr(self.xp, dtype, None)
        if kind is None:
            raise TypeError(f"this PyTorch has no torch.{dtype}; version 2.3 has it")
        return self.xp.empty(tuple(shape), dtype=kind, device=like.device)

    def contiguous(self, array: Any) -> Any:
        """Return the tensor itself, or a copy."""
        return array.contiguous()

    def bands_first(self, array: Any, axis: int) -> Any:
        """Return a view with the axis of bands first."""
        return self.xp.movedim(array, axis, 0)

    def bands_at(self, array: Any, axis: int) -> Any:
        """Return a view with the first axis elsewhere."""
        return self.xp.movedim(array, 0, axis)

    def mask(self, mask: Any, like: Any) -> Any:
        """Return where a mask is not 0, on the device."""
        return self.xp.as_tensor(mask, device=like.device) != 0


class Jax(CuPy):
    """JAX's arrays, which CuPy shares; JAX has no streams of the caller."""

    def __init__(self, xp: Any, jax: Any) -> None:
        super().__init__(xp)
        self.jax = jax

    def take(self, image: Any) -> Any:
        """Return a view of the array, when it is computed."""
        return self.xp.from_dlpack(image.block_until_ready())

    def give(self, array: Any) -> Any:
        """Return the result as an array of JAX."""
        self.xp.cuda.get_current_stream().synchronize()
        return self.jax.dlpack.from_dlpack(array)


class Shared(CuPy):
    """Objects of other libraries, which CuPy shares; results are CuPy's."""

    def take(self, image: Any) -> Any:
        """Return a view of the object."""
        if hasattr(image, "__cuda_array_interface__"):
            return self.xp.asarray(image)
        return self.xp.from_dlpack(image)


def _cupy(name: str) -> Any:
    try:
        import cupy
    except ImportError:
        raise ImportError(f"arrays of {name} on a GPU need CuPy, which is not installed") from None
    return cupy


def library_of(image: Any) -> CuPy:
    """Return the library that made a device array."""
    name = type(image).__module__.partition(".")[0]
    if name == "torch":
        return Torch(sys.modules["torch"])
    if name == "cupy":
        return CuPy(sys.modules["cupy"])
    if name in ("jax", "jaxlib"):
        import jax.dlpack

        return Jax(_cupy("JAX"), jax)
    return Shared(_cupy(name))


def interface(array: Any) -> tuple[int, Any, tuple[int, ...]]:
    """Return address, type and shape of a contiguous device array."""
    there = array.__cuda_array_interface__
    dtype, shape, strides = np.dtype(there["typestr"]), tuple(there["shape"]), there.get("strides")
    expected = tuple(int(np.prod(shape[i + 1 :])) * dtype.itemsize for i in range(len(shape)))
    if strides is not None and tuple(strides) != expected:
        raise ValueError(f"a device array with strides {strides}; {expected} are needed")
    return int(there["data"][0]), dtype, shape


class Source:
    """An image in device memory as the library reads it; keeps its arrays."""

    def __init__(self, image: Any, channel_axis: int | None, mask: Any, background: Any) -> None:
        self.lib = lib = library_of(image)
        self.edges: Levels | None = None
        array = lib.take(image)
        if channel_axis is None and array.ndim != 2 or channel_axis is not None and array.ndim != 3:
            raise ValueError(
                f"an image of shape {tuple(array.shape)} and channel_axis {channel_axis}; two axes "
                "are needed, and one of bands that channel_axis names"
            )
        self.number = lib.device(array)
        with lib.on(self.number):
            self.stream = lib.stream(self.number)
            if channel_axis is not None:
                array = lib.bands_first(array, channel_axis)
            self.pixels = lib.contiguous(array)
            self.address, self.dtype, shape = interface(self.pixels)
            self.type = pixel_type(self.dtype)
            self.h, self.w = shape[-2:]
            self.n_bands = shape[0] if len(shape) == 3 else 1
            self.valid = self._valid(mask, background)

    def _valid(self, mask: Any, background: Any) -> Any:
        """Return the validity, or None if every pixel is valid."""
        lib, valid = self.lib, None
        if self.dtype.kind == "f":
            valid = ~lib.any_band(lib.isnan(self.pixels))
        if mask is not None:
            there = lib.mask(mask, self.pixels)
            if tuple(there.shape) != (self.h, self.w):
                raise ValueError(
                    f"mask has shape {tuple(there.shape)}; the image has {self.h} rows and "
                    f"{self.w} columns"
                )
            valid = there if valid is None else valid & there
        if background is not None:
            there = ~lib.all_bands(self.pixels == background)
            valid = there if valid is None else valid & there
        return None if valid is None else lib.contiguous(valid)

    def take_edges(self, edges: Any, n_directions: int) -> None:
        """Let levels of edges take the place of those of pixels."""
        lib = self.lib
        if not is_device_array(edges) or type(library_of(edges)) is not type(lib):
            raise TypeError(
                "edges of an image on a GPU are an array of the same library on that GPU "
                "(cupy.asarray(edges), torch.from_numpy(edges).cuda())"
            )
        if lib.device(lib.take(edges)) != self.number:
            raise ValueError(f"edges on another GPU than the image, which is on GPU {self.number}")
        with lib.on(self.number):
            self.edges = Levels(edges, lib)
            shape, expected = tuple(self.edges.words.shape), (n_directions, self.h, self.w)
            if shape != expected:
                raise ValueError(f"edges have shape {shape}; the image needs {expected}")
            self.edges.mark_missing(lib)

    def open(self, rule: _structs.Criterion) -> DeviceSession:
        """Return a session of the image."""
        return DeviceSession(self.struct(), self.number, self.stream, rule)

    def struct(self) -> _structs.Image:
        """Return the image as the library reads it."""
        return _structs.Image(
            ctypes.sizeof(_structs.Image),
            self.h,
            self.w,
            self.n_bands,
            self.type,
            self.address,
            None if self.valid is None else interface(self.valid)[0],
            _structs.MEMORY_DEVICE,
            0 if self.edges is None else int(self.edges.are_float),
            None,
            None if self.edges is None else interface(self.edges.words)[0],
        )

    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        """Return new memory on the device of the image."""
        return self.lib.empty(shape, dtype, self.pixels)


def _source(
    image: Any,
    rule: _structs.Criterion,
    channel_axis: int | None,
    mask: Any,
    background: float | None,
    edges: Any,
) -> Source:
    source = Source(image, channel_axis, mask, background)
    if edges is not None:
        source.take_edges(edges, rule.connectivity // 2)
    return source


def label(
    image: Any,
    rule: _structs.Criterion,
    part: int,
    channel_axis: int | None,
    mask: Any,
    background: float | None,
    edges: Any,
) -> tuple[Any, int]:
    """Label an image on the device."""
    source = _source(image, rule, channel_axis, mask, background, edges)
    with source.lib.on(source.number), source.open(rule) as session:
        labels = source.empty((source.h, source.w), source.lib.label_type)
        n = session.labels_into(part, interface(labels)[0])
    return source.lib.give(labels), n


def saliency(
    image: Any, rule: _structs.Criterion, channel_axis: int | None, mask: Any, edges: Any
) -> Any:
    """Compute the saliency of every edge on the device."""
    source = _source(image, rule, channel_axis, mask, None, edges)
    given = source.edges
    floats = has_float_levels(source.type, rule) if given is None else given.are_float
    kind = source.lib.label_type if floats else source.lib.level_type  # the bits of singles
    with source.lib.on(source.number), source.open(rule) as session:
        levels = source.empty((rule.connectivity // 2, source.h, source.w), kind)
        session.levels_into(interface(levels)[0])
        made = source.lib.view_floats(levels) if floats else levels
    return source.lib.give(made)


def simplify(
    image: Any, rule: _structs.Criterion, channel_axis: int | None, mask: Any, edges: Any
) -> Any:
    """Paint regions with their means on the device."""
    source = _source(image, rule, channel_axis, mask, None, edges)
    lib = source.lib
    with lib.on(source.number), source.open(rule) as session:
        labels = source.empty((source.h, source.w), lib.label_type)
        session.labels_into(_structs.PART_ALPHA_OMEGA, interface(labels)[0])
        painted = lib.empty_like(source.pixels)
        start, plane = interface(painted)[0], source.h * source.w * source.dtype.itemsize
        for band in range(source.n_bands):
            session.paint_into(band, start + band * plane)
        if source.valid is not None:
            painted = lib.where(source.valid, painted, source.pixels)
        if channel_axis is not None:
            painted = lib.bands_at(painted, channel_axis)
    return lib.give(painted)


class Levels:
    """Levels of edges in device memory, as words in whose unsigned order they are."""

    def __init__(self, levels: Any, lib: CuPy) -> None:
        array = lib.contiguous(lib.take(levels))
        if array.ndim != 3 or array.shape[0] not in (2, 4):
            raise ValueError(
                f"levels of shape {tuple(array.shape)}; it must be (2, H, W) for 4-connected pixels "
                "and (4, H, W) for 8-connected pixels"
            )
        dtype = interface(array)[1]
        if dtype not in (np.uint32, np.int32, np.float32):
            raise TypeError(f"levels on a GPU of type {dtype}; uint32, int32 or float32 are needed")
        self.are_float = dtype.kind == "f"
        if self.are_float:
            array = array + 0  # -0.0 becomes 0.0
        if dtype.kind != "u" and (array < 0).any():
            raise ValueError("levels of edges must be at least 0")
        self.words = lib.view_words(array)
        self.there = ~lib.isnan(array) if self.are_float else self.words != -1

    def mark_missing(self, lib: CuPy) -> None:
        """Let NaN be the word that stands for no edge."""
        if self.are_float:
            self.words = lib.contiguous(lib.where(self.there, self.words, -1))

    def word_of(self, alpha: float) -> float:
        """Return the word of the largest level that is at most alpha; the library refuses others."""
        if not alpha >= 0:
            return alpha
        if not self.are_float:
            return min(alpha, _structs.NO_EDGE - 1)
        with np.errstate(over="ignore"):
            nearest = np.float32(alpha)
        if float(nearest) > alpha:
            nearest = np.nextafter(nearest, np.float32(0))
        return float(nearest.view(np.uint32))


def cut(levels: Any, alpha: float, mask: Any) -> tuple[Any, int]:
    """Label the alpha-components of a hierarchy on the device."""
    lib = library_of(levels)
    with lib.on(lib.device(lib.take(levels))):
        given = Levels(levels, lib)
        valid = ends_of_edges(given.there) if mask is None else mask
        source = Source(given.words[0], None, valid, None)  # a cut does not read pixels
        rule = criterion(2 * len(given.words), "linf", None, None, None, None)
        with source.open(rule) as session:
            labels = source.empty((source.h, source.w), lib.label_type)
            n = session.cut_into(
                given.word_of(alpha), interface(given.words)[0], interface(labels)[0]
            )
    return lib.give(labels), n

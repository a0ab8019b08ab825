# SPDX-License-Identifier: MIT
"""Means of regions that several chunks share: exact sums, and the rounding of the library.

A sum is a row of words: word k counts units of 2**(16 k), a unit being 1 for integers and 2**-149,
the least positive single, for float32.  Every pixel is a whole number of units, so sums do not
depend on the order of addition.  Words are int64 of either sign without carries, which hold the sums
of 2**46 pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_BITS = 16
_LOW = (1 << _BITS) - 1
_SINGLE_BIAS = 149
_INTEGER_WORDS = 2
_FINITE_WORDS = 21  # 2**46 singles are below 2**174, or 2**323 units
_SINGLE_WORDS = _FINITE_WORDS + 1  # the last one counts infinities, by their sign

Array = npt.NDArray[Any]


class Sums(NamedTuple):
    """Regions in the order of their labels, their numbers of pixels, and their sums per band."""

    labels: Array  # (N,)
    pixels: npt.NDArray[np.int64]  # (N,)
    words: npt.NDArray[np.int64]  # (N, B, words)


class Means(NamedTuple):
    """Regions in the order of their labels, and their means in the type of the pixels."""

    labels: Array  # (N,)
    values: Array  # (B, N)


def places(labels: Array, listed: Array) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Return which labels are in an ascending list, and the places of those in it."""
    at = np.searchsorted(listed, labels)
    there = np.zeros(labels.shape, bool)
    inside = at < len(listed)
    there[inside] = listed[at[inside]] == labels[inside]
    return there, at[there]


def _integer_words(values: Array) -> Iterator[tuple[Any, Array]]:
    """Yield a word, of all pixels or of each, and what each pixel adds to it."""
    wide = values.astype(np.int64)
    yield 0, wide & _LOW
    yield 1, wide >> _BITS


def _single_words(values: Array) -> Iterator[tuple[Any, Array]]:
    """As _integer_words: a finite single is +-mantissa * 2**shift units."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.int64)
    sign = 1 - (bits >> 31 << 1)
    exponent = bits >> 23 & 0xFF
    infinite = exponent == 0xFF
    mantissa = np.where(infinite, 0, bits & 0x7FFFFF | (exponent > 0).astype(np.int64) << 23)
    shift = np.where(infinite, 0, np.maximum(exponent - 1, 0))
    word, part = shift // _BITS, sign * (mantissa << shift % _BITS)
    yield word, part & _LOW
    yield word + 1, part >> _BITS & _LOW
    yield word + 2, part >> 2 * _BITS
    yield _FINITE_WORDS, sign * infinite


def _add(at: npt.NDArray[np.intp], n: int, values: Array) -> npt.NDArray[np.int64]:
    """Return the sums (n, words) of values by their places."""
    is_single = values.dtype.kind == "f"
    n_words = _SINGLE_WORDS if is_single else _INTEGER_WORDS
    split = _single_words if is_single else _integer_words
    sums = np.zeros(n * n_words, np.int64)
    for word, part in split(values):
        # A chunk has at most 2**29 pixels: the doubles of bincount() are exact.
        sums += np.bincount(at * n_words + word, part, n * n_words).astype(np.int64)
    return sums.reshape(n, n_words)


def add(labels: Array, listed: Array, bands: Array) -> Sums:
    """Return the sums of the listed regions (ascending) in a chunk; bands: (B, H, W)."""
    there, at = places(labels, listed)
    words = np.stack([_add(at, len(listed), band[there]) for band in bands], axis=1)
    return Sums(listed, np.bincount(at, minlength=len(listed)), words)


def merge(parts: Sequence[Sums]) -> Sums:
    """Return the sums of regions that several chunks have summed."""
    together = Sums(*(np.concatenate(column) for column in zip(*parts)))
    order = np.argsort(together.labels, kind="stable")
    labels, pixels, words = (column[order] for column in together)
    first = np.flatnonzero(np.diff(labels, prepend=labels.dtype.type(0)))
    if len(first) == 0:
        return together
    return Sums(labels[first], np.add.reduceat(pixels, first), np.add.reduceat(words, first))


def _carried(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the same sums with all words but the last from 0 to 2**16 - 1."""
    words = words.copy()
    for k in range(words.shape[-1] - 1):
        words[..., k + 1] += words[..., k] >> _BITS
        words[..., k] &= _LOW
    return words


def _integer_means(
    words: npt.NDArray[np.int64], pixels: npt.NDArray[np.int64], dtype: npt.DTypeLike
) -> Array:
    """Return means rounded to nearest, halves up; the steps of the division fit 64 bits."""
    low, high = np.moveaxis(_carried(words), -1, 0)
    whole, rest = np.divmod(high, pixels)
    part, rest = np.divmod((rest << _BITS) + low, pixels)
    means: Array = ((whole << _BITS) + part + (2 * rest >= pixels)).astype(dtype)
    return means


def _magnitudes(words: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return sums that are at least 0 as doubles, rounded once (to nearest, ties to even)."""
    n_words = words.shape[-1]
    top = n_words - 1 - np.argmax(words[..., ::-1] > 0, axis=-1)
    # Six words from the top one are two numbers of 48 bits, both exact in a double; a bit for all
    # that is below them is enough to round by.
    padded = np.concatenate([np.zeros((*words.shape[:-1], 5), np.int64), words], axis=-1)
    taken = np.take_along_axis(padded, top[..., np.newaxis] + np.arange(6), -1)
    below = np.arange(n_words) < top[..., np.newaxis] - 5
    scale = 1 << _BITS * np.arange(3)
    low, high = taken[..., :3] @ scale, taken[..., 3:] @ scale
    low |= (below & (words > 0)).any(axis=-1)
    both = high * 2.0 ** (3 * _BITS) + low
    rounded: npt.NDArray[np.float64] = np.ldexp(both, _BITS * (top - 5) - _SINGLE_BIAS)
    return rounded


def _single_sums(words: npt.NDArray[np.int64]) -> Array:
    """Return sums rounded to doubles, or the infinity that was met more often."""
    finite, infinities = _carried(words[..., :-1]), words[..., -1]
    negative = finite[..., -1] < 0
    size = np.where(negative[..., np.newaxis], _carried(-words[..., :-1]), finite)
    sums = np.where(negative, -1.0, 1.0) * _magnitudes(size)
    return np.where(infinities != 0, np.copysign(np.inf, infinities), sums)


def means(sums: Sums, dtype: npt.DTypeLike) -> Means:
    """Return the means of regions, rounded as the library rounds them."""
    words, pixels = np.moveaxis(sums.words, 1, 0), sums.pixels
    if np.dtype(dtype).kind == "f":
        return Means(sums.labels, (_single_sums(words) / pixels).astype(np.float32))
    return Means(sums.labels, _integer_means(words, pixels, dtype))


def take(all_means: Means, listed: Array) -> Means:
    """Return the means of some regions."""
    at = np.searchsorted(all_means.labels, listed)
    return Means(listed, all_means.values[:, at])


def paint(labels: Array, found: Means, bands: Array) -> None:
    """Paint the regions that have means; bands: (B, H, W)."""
    there, at = places(labels, found.labels)
    for band, values in zip(bands, found.values):
        band[there] = values[at]

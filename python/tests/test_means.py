# SPDX-License-Identifier: MIT
"""Exact sums and rounded means of regions in chunks, against Python's integers and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from qfz import _means

INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4"]


def random_pixels(rng, dtype, n):
    if dtype == "f4":
        values = rng.integers(0, 1 << 32, n, dtype=np.uint64).astype(np.uint32).view(np.float32)
        return np.where(np.isfinite(values), values, np.float32(1e-45))
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


def mean_of(values):
    """The definition in qfz.h: halves up; of singles, one rounding of the sum, and two after it."""
    total = sum(Fraction(value.item()) for value in values)
    if values.dtype.kind == "f":
        return np.float32(float(total) / len(values))
    return (2 * total + len(values)) // (2 * len(values))


@pytest.mark.parametrize("dtype", [*INTEGERS, "f4"])
def test_means_of_regions_in_several_chunks(dtype):
    rng = np.random.default_rng(7)
    for wide in (np.uint32, np.uint64):
        names = np.array([3, 4, 9, 2**32 + 4 if wide is np.uint64 else 12], wide)
        labels = rng.choice(np.append(names, wide(0)), (6, 40))
        bands = random_pixels(rng, dtype, (2, 6, 40))
        parts = [(labels[:, :9], bands[..., :9]), (labels[:, 9:], bands[..., 9:])]
        sums = [_means.add(part, np.unique(part[part > 0])[1:], pixels) for part, pixels in parts]
        found = _means.means(_means.merge(sums), dtype)
        assert found.labels.tolist() == names[1:].tolist() and found.labels.dtype == wide
        expected = [[mean_of(band[labels == name]) for name in names[1:]] for band in bands]
        assert found.values.tobytes() == np.array(expected, dtype).tobytes()
        painted = bands.copy()
        _means.paint(labels, _means.take(found, names[2:]), painted)
        for band, before, means in zip(painted, bands, found.values):
            for name in (0, *names):
                want = means[list(names).index(name) - 1] if name in names[2:] else None
                there = labels == name
                assert (band[there] == (before[there] if want is None else want)).all()


def test_halves_go_up():
    labels = np.array([[1, 1, 2, 2, 3, 3, 3]], np.uint32)
    values = np.array([[[-1, -2, 1, 2, -1, -1, -2]]], np.int8)
    sums = _means.add(labels, np.array([1, 2, 3], np.uint32), values)
    assert _means.means(sums, "i1").values.tolist() == [[-1, 2, -1]]


def sums_of(total, pixels, n_words):
    """One region with this sum; the last word that is not of infinities takes what is left."""
    words = [total >> 16 * k & 0xFFFF for k in range(n_words - 1)] + [total >> 16 * (n_words - 1)]
    words += [0] if n_words == 21 else []
    return _means.Sums(np.array([1], np.uint32), np.array([pixels]), np.array([[words]], np.int64))


def test_integer_sums_beyond_64_bits():
    pixels = (1 << 45) - 3
    for value in (-(1 << 31), -1, (1 << 31) - 1):
        for rest in (0, pixels // 2, pixels // 2 + 1):
            total = value * pixels + rest
            mean = (2 * total + pixels) // (2 * pixels)
            assert _means.means(sums_of(total, pixels, 2), "i8").values.item() == mean


def test_sums_of_singles_are_rounded_once():
    """Numbers of up to 323 bits; many are halfway between two doubles, or a bit beside."""
    rng = np.random.default_rng(11)
    for _ in range(2000):
        top, shift = int(rng.integers(1 << 53, 1 << 54)), int(rng.integers(0, 270))
        total = (top << shift) + int(rng.integers(-1, 2)) >> int(rng.choice([0, 0, 7, 53]))
        total *= int(rng.choice([-1, 1]))
        value = total / (1 << 149)  # Python's division of integers: to nearest, ties to even
        assert _means._single_sums(sums_of(total, 1, 21).words).item() == value


def test_infinities_of_two_signs_cancel():
    inf = np.float32(np.inf)
    labels = np.array([[1, 1, 2, 2, 2, 3]], np.uint32)
    values = np.array([[[inf, 5, -inf, 6, inf, -inf]]], np.float32)
    sums = _means.add(labels, np.array([1, 2, 3], np.uint32), values)
    assert _means.means(sums, "f4").values.tolist() == [[np.inf, 2, -np.inf]]

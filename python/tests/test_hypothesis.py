# SPDX-License-Identifier: MIT
"""Images of any shape, type, layout and strides that hypothesis thinks of, against brute force."""

from __future__ import annotations

import brute
import numpy as np
import pytest
import qfz

hypothesis = pytest.importorskip("hypothesis")
numpy_of = pytest.importorskip("hypothesis.extra.numpy")
st = hypothesis.strategies

# The same images in every run: a test that fails once must fail again.
SETTINGS = hypothesis.settings(max_examples=60, deadline=None, derandomize=True, database=None)
TYPES = ["?", "u1", "i1", "u2", ">u2", "i2", "u4", "i4", ">i4", "i8", "f2", "f4", ">f4"]


@st.composite
def images(draw):
    """Return an image, and the axis of its bands or None."""
    axis = draw(st.sampled_from([None, 0, 1, 2, -1]))
    shape = draw(st.lists(st.integers(1, 6), min_size=2, max_size=2))
    if axis is not None:
        shape.insert(axis % 3, draw(st.integers(1, 3)))
    steps = draw(
        st.lists(st.sampled_from([1, 2, 3, -1, -2]), min_size=len(shape), max_size=len(shape))
    )
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    room = tuple(n * abs(step) for n, step in zip(shape, steps))
    low = 0 if dtype.kind in "u?" else -3
    values = st.booleans() if dtype.kind == "b" else st.integers(low, 3)
    elements = values.map(dtype.type) if dtype.kind == "f" else values
    array = draw(numpy_of.arrays(dtype, room, elements=elements))
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    return array[tuple(slice(None, None, step) for step in steps)], axis


def bands_of(image, axis):
    values = image[np.newaxis] if axis is None else np.moveaxis(image, axis, 0)
    return values.astype(np.float64)


@SETTINGS
@hypothesis.given(images(), st.sampled_from([4, 8]), st.integers(0, 6))
def test_label(given, connectivity, alpha):
    image, axis = given
    bands = bands_of(image, axis)
    valid = np.ones(bands.shape[1:], bool)
    expected, n = brute.label(bands, valid, alpha, "linf", connectivity)
    labels, found = qfz.label(image, alpha, connectivity=connectivity, channel_axis=axis)
    np.testing.assert_array_equal(labels, expected)
    assert found == n


@SETTINGS
@hypothesis.given(images(), st.data())
def test_masks_and_layouts(given, data):
    """A mask of any layout; a copy in C's order has the same result."""
    image, axis = given
    h, w = bands_of(image, axis).shape[1:]
    mask = data.draw(numpy_of.arrays(np.bool_, (w, h))).T
    labels, n = qfz.label(image, 1, mask=mask, channel_axis=axis)
    expected, count = brute.label(bands_of(image, axis), mask, 1)
    np.testing.assert_array_equal(labels, expected)
    assert n == count
    levels = qfz.saliency(image, mask=mask, channel_axis=axis)
    plain = np.ascontiguousarray(image.astype(image.dtype.newbyteorder("=")))
    np.testing.assert_array_equal(levels, qfz.saliency(plain, mask=mask.copy(), channel_axis=axis))

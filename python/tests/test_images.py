# SPDX-License-Identifier: MIT
"""What callers pass as images: types, layouts, masks, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import qfz
from qfz._image import Source

STRIPES = np.array([[0, 1, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "dtype",
    ["?", "u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8", "f2", "f4", ">u2", ">i4", ">f4", ">i8"],
)
def test_every_type_has_the_same_regions(dtype):
    image = STRIPES.astype(dtype)
    labels, n = qfz.label(image)
    assert n == 3 and labels.tolist() == [[1, 2, 2], [1, 2, 3]]
    assert qfz.simplify(image, omega=0).dtype == image.dtype


def test_lists_are_images():
    assert qfz.label([[1, 1], [2, 2]])[0].tolist() == [[1, 1], [2, 2]]


@pytest.mark.parametrize("top", [255, 256, 65536, 2**32 - 1])
def test_large_integers_keep_their_values(top):
    image = np.array([[0, top - 1, top]], np.int64)
    assert qfz.saliency(image)[0, 0, :2].tolist() == [top - 1, 1]
    np.testing.assert_array_equal(qfz.simplify(image, omega=0), image)


def test_contiguous_images_are_not_copied():
    image = np.zeros((5, 7), np.uint16)
    bands = np.zeros((3, 5, 7), np.float32)
    assert np.shares_memory(Source(image).pixels, image)
    assert np.shares_memory(Source(image > 0).pixels, image) is False
    assert np.shares_memory(Source(bands, 0).pixels, bands)
    assert np.shares_memory(Source(np.moveaxis(bands, 0, 2), 2).pixels, bands)
    assert not np.shares_memory(Source(bands, 2).pixels, bands)


def test_images_may_be_read_only():
    image = np.zeros((2, 2), np.uint8)
    image.flags.writeable = False
    assert qfz.label(image)[1] == 1


def test_nan_is_invalid():
    image = np.array([[1, np.nan, 1], [1, 1, 1]], np.float32)
    assert qfz.label(image)[0].tolist() == [[1, 0, 1], [1, 1, 1]]
    painted = qfz.simplify(image, omega=0)
    np.testing.assert_array_equal(painted, image)
    two = np.stack([image, np.ones_like(image)])
    assert qfz.label(two, channel_axis=0)[0][0, 1] == 0


def test_masked_values_are_invalid():
    image = np.ma.masked_equal(np.array([[1, 7, 2]], np.uint8), 7)
    assert qfz.label(image)[0].tolist() == [[1, 0, 2]]
    painted = qfz.simplify(image, omega=0)
    assert isinstance(painted, np.ma.MaskedArray)
    assert painted.mask.tolist() == [[False, True, False]]
    assert qfz.label(image, mask=np.array([[0, 1, 1]]))[0].tolist() == [[0, 0, 1]]
    bands = np.ma.stack([image, np.ma.masked_array(np.array([[1, 1, 1]], np.uint8))])
    assert qfz.label(bands, channel_axis=0)[0].tolist() == [[1, 0, 2]]


def test_background_is_invalid():
    assert qfz.label(STRIPES, background=0)[0].tolist() == [[0, 1, 1], [0, 1, 0]]
    bands = np.stack([STRIPES, np.zeros_like(STRIPES)])
    assert qfz.label(bands, background=0, channel_axis=0)[1] == 1


def test_all_invalid():
    labels, table = qfz.regions(STRIPES, mask=np.zeros((2, 3)))
    assert not labels.any() and len(table) == 0
    assert qfz.curve(STRIPES, mask=np.zeros((2, 3))).regions.tolist() == [0]


def test_labels_of_a_numpy_connectivity():
    assert qfz.label(STRIPES, connectivity=np.int64(8))[1] == qfz.label(STRIPES, connectivity=2)[1]


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (TypeError, r"float64.*astype\(numpy\.float32\)", lambda: qfz.label(STRIPES * 0.5)),
        (TypeError, "complex", lambda: qfz.label(STRIPES * 1j)),
        (TypeError, "<U1", lambda: qfz.label([["a"]])),
        (ValueError, "32 bits cannot hold", lambda: qfz.label([[0, 2**32]])),
        (ValueError, "channel_axis says", lambda: qfz.label(np.zeros((2, 3, 4), "u1"))),
        (ValueError, "3 axes", lambda: qfz.label(STRIPES, channel_axis=0)),
        (
            ValueError,
            "channel_axis is 3",
            lambda: qfz.label(np.zeros((2, 3, 4), "u1"), channel_axis=3),
        ),
        (ValueError, r"\(3,\)", lambda: qfz.label([1, 2, 3])),
        (ValueError, "mask has shape", lambda: qfz.label(STRIPES, mask=np.ones((3, 2)))),
        (ValueError, "connectivity is 6", lambda: qfz.label(STRIPES, connectivity=6)),
        (ValueError, "distance is 'l3'", lambda: qfz.label(STRIPES, distance="l3")),
        (ValueError, "engine is 'tpu'", lambda: qfz.label(STRIPES, engine="tpu")),
        (ValueError, "min_area is -1", lambda: qfz.label(STRIPES, min_area=-1)),
        (ValueError, "min_area is 1.5", lambda: qfz.label(STRIPES, min_area=1.5)),
        (qfz.QfzArgumentError, "alpha is -1", lambda: qfz.label(STRIPES, -1)),
        (qfz.QfzArgumentError, "omega", lambda: qfz.label(STRIPES, 1, omega=[1, 2])),
        (qfz.QfzArgumentError, "weight", lambda: qfz.label(STRIPES, 1, weights=[0])),
        (qfz.QfzArgumentError, "0 pixels", lambda: qfz.label(np.zeros((0, 3), "u1"))),
        (
            ValueError,
            "edges have shape",
            lambda: qfz.label(STRIPES, 1, edges=np.zeros((4, 2, 3), "u1")),
        ),
        (ValueError, "at least 0", lambda: qfz.cut(np.full((2, 2, 2), -1.0, "f4"), 1)),
        (ValueError, "at least 0", lambda: qfz.cut(np.full((2, 2, 2), -1), 1)),
        (ValueError, "must be", lambda: qfz.cut(np.zeros((3, 2, 2), "u1"), 1)),
        (ValueError, "2-D integers", lambda: qfz.neighbours(STRIPES * 0.5)),
        (ValueError, "from 0", lambda: qfz.neighbours(-STRIPES)),
        (ValueError, "2-D integers", lambda: qfz.colors(STRIPES * 0.5)),
        (TypeError, "alpha is '3'", lambda: qfz.label(STRIPES, "3")),
        (TypeError, r"alpha is \[1, 2\]", lambda: qfz.label(STRIPES, [1, 2])),
        (TypeError, "a object in place of an image", lambda: qfz.label(object())),
        (ValueError, "alpha, omega or both", lambda: qfz.simplify(STRIPES)),
    ],
)
def test_refuses(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_a_failure_of_the_library_is_a_value_error_too():
    with pytest.raises(ValueError):
        qfz.label(STRIPES, -1)


def test_float_edges_take_nan_and_minus_zero():
    edges = np.full((2, 1, 3), np.nan, np.float32)
    edges[0, 0, 0] = -0.0
    labels, n = qfz.cut(edges, 0, mask=np.ones((1, 3)))
    assert labels.tolist() == [[1, 1, 2]] and n == 2

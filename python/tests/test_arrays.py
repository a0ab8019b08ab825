# SPDX-License-Identifier: MIT
"""Functions on arrays against brute force, and against each other."""

from __future__ import annotations

import brute
import numpy as np
import pytest
import qfz


def rule(image, axis):
    return dict(
        distance=image.distance,
        connectivity=image.connectivity,
        mask=image.valid,
        channel_axis=axis,
    )


def test_label_equals_brute_force(random_image):
    im = random_image
    given, axis = im.given()
    labels, n = qfz.label(given, im.alpha, **rule(im, axis))
    expected, n_expected = brute.label(im.bands, im.valid, im.alpha, im.distance, im.connectivity)
    np.testing.assert_array_equal(labels, expected)
    assert n == n_expected and labels.dtype == np.uint32


def test_alpha_omega_equals_brute_force(random_image):
    im = random_image
    given, axis = im.given()
    labels, n = qfz.label(given, im.alpha, omega=im.omega, **rule(im, axis))
    expected, n_expected = brute.alpha_omega(
        im.bands, im.valid, im.alpha, im.omega, im.distance, im.connectivity
    )
    np.testing.assert_array_equal(labels, expected)
    assert n == n_expected


def test_saliency_equals_brute_force(random_image):
    im = random_image
    given, axis = im.given()
    levels = qfz.saliency(given, **rule(im, axis))
    expected = brute.saliency(im.bands, im.valid, im.distance, im.connectivity)
    if levels.dtype == np.uint32:
        levels = np.where(levels == 2**32 - 1, np.inf, levels.astype(np.float64))
    else:
        levels = np.where(np.isnan(levels), np.inf, levels)
    np.testing.assert_array_equal(levels, expected)


def test_cut_of_saliency_is_label(random_image):
    im = random_image
    given, axis = im.given()
    levels = qfz.saliency(given, **rule(im, axis))
    labels, n = qfz.cut(levels, im.alpha, im.valid)
    expected, n_expected = qfz.label(given, im.alpha, **rule(im, axis))
    np.testing.assert_array_equal(labels, expected)
    assert n == n_expected


def test_edges_take_the_place_of_dissimilarities(random_image):
    im = random_image
    given, axis = im.given()
    levels = qfz.saliency(given, **rule(im, axis))
    labels, _ = qfz.label(
        np.zeros(im.valid.shape, np.uint8),
        im.alpha,
        edges=levels,
        connectivity=im.connectivity,
        mask=im.valid,
    )
    np.testing.assert_array_equal(labels, qfz.label(given, im.alpha, **rule(im, axis))[0])


def test_simplify_paints_means(random_image):
    im = random_image
    given, axis = im.given()
    painted = qfz.simplify(given, im.alpha, omega=im.omega, **rule(im, axis))
    assert painted.shape == given.shape and painted.dtype == given.dtype
    labels, n = qfz.label(given, im.alpha, omega=im.omega, **rule(im, axis))
    expected = im.bands.copy()
    for k in range(1, n + 1):
        for band in expected:
            mean = band[labels == k].astype(np.float64).mean()
            band[labels == k] = mean if im.dtype.kind == "f" else np.floor(mean + 0.5)
    if axis is not None:
        expected = np.moveaxis(expected, 0, axis)
    elif given.ndim == 2:
        expected = expected[0]
    np.testing.assert_array_equal(painted, expected)


def test_regions_describe_labels(random_image):
    im = random_image
    given, axis = im.given()
    labels, table = qfz.regions(given, im.alpha, **rule(im, axis))
    np.testing.assert_array_equal(labels, qfz.label(given, im.alpha, **rule(im, axis))[0])
    assert table["label"].tolist() == list(range(1, labels.max() + 1))
    for row in table:
        y, x = np.nonzero(labels == row["label"])
        values = im.bands[:, y, x].astype(np.float64)
        assert row["pixels"] == len(y)
        assert (row["x0"], row["y0"]) == (x.min(), y.min())
        assert (row["x1"], row["y1"]) == (x.max() + 1, y.max() + 1)
        np.testing.assert_allclose(
            [row["x"], row["y"]], [x.mean() + 0.5, y.mean() + 0.5], rtol=1e-14
        )
        for name, expected in ("mean", values.mean(1)), ("stddev", values.std(1)):
            np.testing.assert_allclose(np.ravel(row[name]), expected, rtol=1e-12, atol=1e-12)
        assert np.ravel(row["min"]).tolist() == values.min(1).tolist()
        assert np.ravel(row["max"]).tolist() == values.max(1).tolist()


def test_curve_counts_labels(random_image):
    im = random_image
    given, axis = im.given()
    alpha, n = qfz.curve(given, **rule(im, axis))
    assert alpha[0] == 0
    for a, count in zip(alpha, n):
        assert qfz.label(given, a, **rule(im, axis))[1] == count
    assert (np.diff(n) < 0).all() and (np.diff(alpha) > 0).all()


def test_tree_holds_the_components(random_image):
    im = random_image
    given, axis = im.given()
    parent, level = qfz.tree(given, **rule(im, axis))
    top = np.arange(im.valid.size)
    while True:
        up = parent[top]
        up = np.where(level[up] <= im.alpha, up, top)
        if (up == top).all():
            break
        top = up
    roots = {node: i for i, node in enumerate(np.unique(top[im.valid.ravel()]))}
    labels, n = qfz.label(given, im.alpha, **rule(im, axis))
    assert len(roots) == n
    pairs = {(roots[t], k) for t, k in zip(top, labels.ravel()) if k}
    assert len(pairs) == n


@pytest.mark.parametrize("min_area", [1, 3])
def test_hierarchy_joins_the_components(random_image, min_area):
    im = random_image
    given, axis = im.given()
    options = {**rule(im, axis), "min_area": min_area}
    zones, matrix = qfz.hierarchy(given, **options)
    expected, n = qfz.label(given, 0, **options)
    np.testing.assert_array_equal(zones, expected)
    assert matrix.shape == (max(n - 1, 0), 4)
    group = {k: {k + 1} for k in range(n)}  # the labels in each cluster
    for i, (a, b, level, size) in enumerate(matrix):
        if level <= im.alpha:
            group[n + i] = group.pop(int(a)) | group.pop(int(b))
            assert len(group[n + i]) == size
    labels, count = qfz.label(given, im.alpha, **options)
    assert count == len(group)
    for members in group.values():
        assert len(np.unique(labels[np.isin(zones, list(members))])) == 1


def test_colors_are_the_least_that_lower_neighbours_leave(random_image):
    im = random_image
    labels, n = qfz.label(im.bands, im.alpha, channel_axis=0, mask=im.valid)
    labels = (7 * labels.astype(np.int64)) ^ np.where(labels > 0, 5, 0)  # other orders, and gaps
    touching = {k: set() for k in np.unique(labels)}
    for _, p, q, _ in brute.edges_of(im.bands, im.valid, "linf", 8):
        touching[labels.flat[p]].add(labels.flat[q])
        touching[labels.flat[q]].add(labels.flat[p])
    color = {0: 0}
    for k in sorted(touching):
        if k:
            taken = {color[j] for j in touching[k] if j < k}
            color[k] = min(set(range(1, 99)) - taken)
    found = qfz.colors(labels)
    assert found.dtype == np.uint8
    assert found.ravel().tolist() == [color[k] for k in labels.ravel()]


def test_more_than_255_colors_are_refused():
    """Column by column, a comb's region touches all earlier ones."""
    n = 256
    labels = np.zeros((n * n, 3), np.int64)
    pairs = [(i, j) for i in range(1, n + 1) for j in range(1, i)]
    for row, (i, j) in enumerate(pairs):
        labels[2 * row, :2] = i, j
    with pytest.raises(ValueError, match="255 colours"):
        qfz.colors(labels)
    assert qfz.colors(np.where(labels < n, labels, 0)).max() == 255


@pytest.mark.parametrize("min_area", [1, 3, 9])
def test_curve_with_a_least_area_counts_labels(random_image, min_area):
    im = random_image
    given, axis = im.given()
    options = {**rule(im, axis), "min_area": min_area}
    alpha, n = qfz.curve(given, **options)
    for a, count in zip(alpha, n):
        assert qfz.label(given, a, **options)[1] == count
    assert (np.diff(n) < 0).all() and (np.diff(alpha) > 0).all()
    parent, level = qfz.tree(given, **options)
    joins = np.bincount(parent[parent != np.arange(len(parent))], minlength=len(parent)) > 1
    assert set(level[joins].astype(float)) == set(alpha) - ({0.0} - set(level[joins].astype(float)))


@pytest.mark.parametrize("function", [qfz.tree, qfz.hierarchy, qfz.curve])
@pytest.mark.parametrize("connectivity", [4, 8])
def test_a_least_area_refuses_levels_that_mean_no_edge(function, connectivity):
    """Joins at 2**32 - 1 were lost: curve() ended with two regions, the linkage at inf."""
    image = np.zeros((3, 5), np.uint32)
    image[:, 3:] = 2**32 - 1
    with pytest.raises(qfz.QfzArgumentError, match="level 4294967295"):
        function(image, connectivity=connectivity, min_area=2)
    for dtype in (np.int32, np.uint16, np.float32):  # no such level, also beside invalid pixels
        function((image // 2).astype(dtype), "linf", connectivity, image < 2**31, min_area=2)
    image[:, 3:] -= 1
    assert qfz.curve(image, connectivity=connectivity, min_area=2).alpha[-1] == 2**32 - 2


def test_neighbours_lists_every_edge(random_image):
    im = random_image
    labels, _ = qfz.label(im.bands, im.alpha, channel_axis=0, mask=im.valid)
    count = {}
    for _, p, q, _ in brute.edges_of(im.bands, im.valid, "linf", im.connectivity):
        a, b = sorted((int(labels.flat[p]), int(labels.flat[q])))
        if a != b:
            count[a, b] = count.get((a, b), 0) + 1
    pairs = qfz.neighbours(labels, im.connectivity)
    assert [(a, b, n) for (a, b), n in sorted(count.items())] == pairs.tolist()


@pytest.mark.parametrize("connectivity", [4, 8])
def test_min_area_leaves_no_smaller_region(connectivity):
    image = np.random.default_rng(1).integers(0, 256, (40, 50), dtype=np.uint8)
    labels, _ = qfz.label(image, 3, connectivity=connectivity, min_area=12)
    assert np.bincount(labels.ravel())[1:].min() >= 12
    cut, _ = qfz.cut(qfz.saliency(image, connectivity=connectivity, min_area=12), 3)
    np.testing.assert_array_equal(labels, cut)


@pytest.mark.parametrize("distance", ["l1", "l2", "linf", "sam"])
def test_results_do_not_depend_on_threads(distance):
    image = np.random.default_rng(2).integers(0, 12, (3, 130, 170)).astype(np.uint16)
    alpha = 0.1 if distance == "sam" else 3
    for function in qfz.label, qfz.simplify:
        one, two = (
            function(image, alpha, distance, channel_axis=0, omega=6, threads=t) for t in (1, 2)
        )
        np.testing.assert_array_equal(one[0], two[0])
    one, two = (qfz.saliency(image, distance, channel_axis=0, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_weights_scale_bands():
    image = np.array([[[0, 1, 5]], [[0, 9, 9]]], np.uint8)
    assert qfz.label(image, 1, "l1", weights=[1, 0], channel_axis=0)[0].tolist() == [[1, 1, 2]]
    assert qfz.saliency(image, "l1", weights=[0.5, 1], channel_axis=0)[0, 0, :2].tolist() == [
        9.5,
        2,
    ]


def test_alpha_none_is_equal_values():
    parallel = np.array([[[1, 2, 3]], [[1, 2, 0]]], np.uint8)
    assert qfz.label(parallel, 0, "sam", channel_axis=0)[1] == 2
    assert qfz.label(parallel, None, "sam", channel_axis=0)[1] == 3


def test_cut_without_mask_takes_pixels_with_edges():
    valid = np.ones((3, 4), bool)
    valid[1, 1] = valid[0, 3] = False
    levels = qfz.saliency(np.zeros((3, 4), np.uint8), mask=valid)
    labels, n = qfz.cut(levels, 0)
    np.testing.assert_array_equal(labels != 0, valid)
    levels = qfz.saliency(np.zeros((3, 4), np.uint8), connectivity=8, mask=valid)
    np.testing.assert_array_equal(qfz.cut(levels, 0)[0] != 0, valid)

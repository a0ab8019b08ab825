# SPDX-License-Identifier: MIT
"""Equality with other packages, each where it can be imported."""

from __future__ import annotations

import numpy as np
import pytest
import qfz


def image_of(values, seed=0, shape=(60, 75)):
    return np.random.default_rng(seed).integers(0, values, shape, dtype=np.uint8)


def same_partition(a, b):
    """Do two label arrays, with 0 for no region, stand for the same regions?"""
    pairs = np.unique(np.stack([a.ravel().astype(np.int64), b.ravel().astype(np.int64)]), axis=1)
    return pairs.shape[1] == len(np.unique(a)) == len(np.unique(b))


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("values", [2, 3, 30])
def test_scikit_image(connectivity, values):
    measure = pytest.importorskip("skimage.measure")
    image = image_of(values)
    labels, n = qfz.label(image, connectivity=connectivity, background=0)
    expected, m = measure.label(
        image, background=0, return_num=True, connectivity=connectivity // 4
    )
    assert n == m
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("connectivity", [4, 8])
def test_scipy(connectivity):
    ndimage = pytest.importorskip("scipy.ndimage")
    image = image_of(2)
    labels, n = qfz.label(image, connectivity=connectivity, background=0)
    expected, m = ndimage.label(image, np.ones((3, 3)) if connectivity == 8 else None)
    assert n == m and same_partition(labels, expected)


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("alpha", [0, 3, 20])
def test_scipy_graph(connectivity, alpha):
    sparse = pytest.importorskip("scipy.sparse")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    image = image_of(100)
    number = np.arange(image.size).reshape(image.shape)
    ends = []
    for dy, dx in [(0, 1), (1, 0), (1, 1), (1, -1)][: connectivity // 2]:
        left = slice(max(0, -dx), image.shape[1] - max(0, dx))
        right = slice(max(0, dx), image.shape[1] - max(0, -dx))
        a, b = (slice(0, image.shape[0] - dy), left), (slice(dy, None), right)
        joined = np.abs(image[a].astype(int) - image[b]) <= alpha
        ends.append(np.stack([number[a][joined], number[b][joined]]))
    p, q = np.concatenate(ends, axis=1)
    matrix = sparse.coo_matrix((np.ones(len(p)), (p, q)), (image.size, image.size))
    m, expected = csgraph.connected_components(matrix, directed=False)
    labels, n = qfz.label(image, alpha, connectivity=connectivity)
    assert n == m and same_partition(labels, expected.reshape(image.shape))


@pytest.mark.parametrize("alpha", [0, 3, 20])
def test_cc3d(alpha):
    """4-connected only: 8-connected, cc3d 4.1 joins pixels whose difference is above its delta."""
    cc3d = pytest.importorskip("cc3d")
    image = image_of(100) + np.uint8(1)  # 0 is cc3d's background
    labels, n = qfz.label(image, alpha)
    expected, m = cc3d.connected_components(image, delta=alpha, connectivity=4, return_N=True)
    assert n == m and same_partition(labels, expected)


@pytest.mark.parametrize("alpha", [0, 3, 20])
@pytest.mark.parametrize("bands", [1, 3])
def test_higra(alpha, bands):
    hg = pytest.importorskip("higra")
    image = np.stack([image_of(100, seed) for seed in range(bands)], axis=2).astype(np.float64)
    shape = image.shape[:2]
    graph = hg.get_4_adjacency_graph(shape)
    weights = hg.weight_graph(graph, image.reshape(-1, bands), hg.WeightFunction.L1)
    tree, altitudes = hg.quasi_flat_zone_hierarchy(graph, weights)
    levels = hg.saliency(tree, altitudes)
    ours = qfz.saliency(image.astype(np.uint8), "l1", channel_axis=2)
    a, b = graph.edge_list()
    direction = (b - a != 1).astype(int)
    np.testing.assert_array_equal(ours[direction, a // shape[1], a % shape[1]], levels)
    expected = hg.labelisation_horizontal_cut_from_threshold(tree, altitudes, alpha + 0.5)
    assert same_partition(
        qfz.label(image.astype(np.uint8), alpha, "l1", channel_axis=2)[0], expected
    )


@pytest.mark.parametrize("connectivity", [4, 8])
def test_scipy_cuts_the_linkage_matrix(connectivity):
    cluster = pytest.importorskip("scipy.cluster.hierarchy")
    image = image_of(100)
    zones, matrix = qfz.hierarchy(image, connectivity=connectivity)
    assert cluster.is_valid_linkage(matrix)
    for alpha in 0, 3, 20:
        labels, n = qfz.label(image, alpha, connectivity=connectivity)
        found = cluster.fcluster(matrix, alpha, "distance")
        assert found.max() == n and same_partition(found[zones - 1], labels)


def test_xarray():
    xarray = pytest.importorskip("xarray")
    import qfz.xr

    values = np.stack([image_of(9), image_of(9, 1)])
    coords = {"band": [1, 2], "y": np.arange(60) * -10.0, "x": np.arange(75) * 10.0}
    da = xarray.DataArray(values, coords, ("band", "y", "x"), attrs={"units": "K"})
    labels, n = qfz.xr.label(da, 2)
    expected, m = qfz.label(values, 2, channel_axis=0)
    np.testing.assert_array_equal(labels.values, expected)
    assert (
        n == m and labels.dims == ("y", "x") and labels.y[1] == -10 and "band" not in labels.coords
    )
    turned = qfz.xr.label(da.transpose("y", "x", "band"), 2)[0]
    np.testing.assert_array_equal(turned.values, expected)
    painted = qfz.xr.simplify(da, omega=3)
    np.testing.assert_array_equal(painted.values, qfz.simplify(values, omega=3, channel_axis=0))
    assert painted.attrs == da.attrs and painted.dims == da.dims
    mask = values[1] > 2
    labels, _ = qfz.xr.label(da, 2, mask=mask)
    np.testing.assert_array_equal(labels.values, qfz.label(values, 2, mask=mask, channel_axis=0)[0])
    plain = da.drop_vars("band")
    several = xarray.Dataset({"a": plain[0], "b": plain[1]})
    joined = qfz.xr.label(several.to_array("band"), 2)[0]
    np.testing.assert_array_equal(joined.values, expected)
    with pytest.raises(TypeError, match="to_array"):
        qfz.xr.label(several)
    with pytest.raises(ValueError, match="band_dim"):
        qfz.xr.label(da.rename(band="time"))


def test_rioxarray():
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("rioxarray")
    import qfz.xr

    values = image_of(4)
    coords = {"y": np.arange(60) * -10.0, "x": np.arange(75) * 10.0}
    da = xarray.DataArray(values, coords, ("y", "x")).rio.write_crs(32618).rio.write_nodata(3)
    labels, _ = qfz.xr.label(da)
    np.testing.assert_array_equal(labels.values, qfz.label(values, mask=values != 3)[0])
    assert labels.rio.crs == da.rio.crs and labels.rio.nodata == 0
    mask = image_of(2, 1)
    labels, _ = qfz.xr.label(da, mask=mask)
    np.testing.assert_array_equal(
        labels.values, qfz.label(values, mask=(values != 3) & (mask != 0))[0]
    )


def test_pandas():
    pandas = pytest.importorskip("pandas")
    image = np.stack([image_of(3), image_of(5, 1)])
    _, table = qfz.regions(image, channel_axis=0)
    _, frame = qfz.regions(image, channel_axis=0, as_frame=True)
    assert isinstance(frame, pandas.DataFrame)
    np.testing.assert_array_equal(frame["mean_2"], table["mean"][:, 1])
    np.testing.assert_array_equal(frame["pixels"], table["pixels"])

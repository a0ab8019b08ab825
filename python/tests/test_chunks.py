# SPDX-License-Identifier: MIT
"""Chunks equal one pass over the whole image, by `qfz.chunks` and by Dask."""

from __future__ import annotations

import concurrent.futures
import pickle

import numpy as np
import pytest
import qfz
import qfz.chunks


def grid_of(image, shape, **rule):
    n_bands = image.shape[0] if image.ndim == 3 else 1
    return qfz.chunks.Grid(image.shape[-2:], shape, image.dtype, n_bands, **rule)


def all_chunks(grid):
    return [(y, x) for y in range(grid.n_rows) for x in range(grid.n_columns)]


def run(grid, image, mask=None, edges=None, **options):
    """The three steps on every chunk, one after the other."""

    def part(array, at):
        return None if array is None else array[(..., *grid.slices(*at))]

    def arguments(at):
        return {"mask": part(mask, at), "edges": part(edges, at), **options}

    exteriors = None
    for _ in range(grid.n_rounds):
        summaries = [
            [
                qfz.chunks.summarise(
                    grid,
                    y,
                    x,
                    part(image, (y, x)),
                    exterior=exteriors and exteriors[y][x],
                    **arguments((y, x)),
                )
                for x in range(grid.n_columns)
            ]
            for y in range(grid.n_rows)
        ]
        exteriors, n = qfz.chunks.stitch(grid, summaries)
    planes = () if grid.result == "label" else (grid.n_directions,)
    made = np.zeros((*planes, *image.shape[-2:]), grid.result_dtype)
    for y, x in all_chunks(grid):
        made[(..., *grid.slices(y, x))] = qfz.chunks.resolve(
            grid, y, x, part(image, (y, x)), exteriors[y][x], **arguments((y, x))
        )
    return made, n


def random_chunk(given):
    h, w = given.valid.shape
    return int(given.rng.integers(1, h + 1)), int(given.rng.integers(1, w + 1))


def rule_of(given):
    return {"distance": given.distance, "connectivity": given.connectivity}


def test_chunks_equal_one_pass(random_image):
    given = random_image
    grid = grid_of(given.bands, random_chunk(given), alpha=given.alpha, **rule_of(given))
    labels, n = run(grid, given.bands, given.valid, channel_axis=0)
    expected = qfz.label(
        given.bands, given.alpha, mask=given.valid, channel_axis=0, **rule_of(given)
    )
    np.testing.assert_array_equal(labels, expected[0])
    assert n == expected[1] and labels.dtype == np.uint32


LIMITS = [{"omega": True}, {"min_area": 4}, {"omega": True, "min_area": 3}]


def limits_of(given, limits):
    """Omega is that of the image where the limits want one."""
    return {**limits, **({"omega": given.omega} if "omega" in limits else {})}


@pytest.mark.parametrize("limits", LIMITS)
def test_omega_and_min_area_in_chunks(random_image, limits):
    given, rule = random_image, {**rule_of(random_image), **limits_of(random_image, limits)}
    grid = grid_of(given.bands, random_chunk(given), alpha=given.alpha, **rule)
    assert grid.n_rounds == 1 + len(limits)
    labels, n = run(grid, given.bands, given.valid, channel_axis=0)
    expected = qfz.label(given.bands, given.alpha, mask=given.valid, channel_axis=0, **rule)
    np.testing.assert_array_equal(labels, expected[0])
    assert n == expected[1]


def test_rounds_are_not_mixed():
    image = np.arange(48, dtype=np.uint8).reshape(6, 8)
    grid = grid_of(image, (6, 4), alpha=1, min_area=3)
    parts = [image[grid.slices(0, x)] for x in range(2)]
    first = [qfz.chunks.summarise(grid, 0, x, part) for x, part in enumerate(parts)]
    exteriors = qfz.chunks.stitch(grid, [first])[0][0]
    with pytest.raises(qfz.QfzArgumentError, match="round 0, and this call has 1"):
        qfz.chunks.resolve(grid, 0, 0, parts[0], exteriors[0])
    second = [
        qfz.chunks.summarise(grid, 0, x, part, exterior=exteriors[x])
        for x, part in enumerate(parts)
    ]
    with pytest.raises(qfz.QfzArgumentError, match="round 0, and this call has 1"):
        qfz.chunks.stitch(grid, [[second[0], first[1]]])
    last = qfz.chunks.stitch(grid, [second])[0][0]
    with pytest.raises(qfz.QfzArgumentError, match="last of 2 rounds"):
        qfz.chunks.summarise(grid, 0, 0, parts[0], exterior=last[0])
    with pytest.raises(ValueError, match="omega needs the result label"):
        grid_of(image, (6, 4), result="saliency", omega=3)


def test_saliency_in_chunks(random_image):
    given = random_image
    grid = grid_of(given.bands, random_chunk(given), result="saliency", **rule_of(given))
    levels, _ = run(grid, given.bands, given.valid, channel_axis=0)
    expected = qfz.saliency(given.bands, mask=given.valid, channel_axis=0, **rule_of(given))
    np.testing.assert_array_equal(levels, expected)
    assert levels.dtype == expected.dtype


@pytest.mark.parametrize("dtype", ["u4", "f4"])
def test_edges_in_chunks(random_image, dtype):
    given = random_image
    h, w = given.valid.shape
    image = np.zeros((h, w), np.uint8)
    edges = given.rng.integers(0, 9, (given.connectivity // 2, h, w)).astype(dtype)
    rule = {"alpha": 3, "connectivity": given.connectivity}
    grid = grid_of(image, random_chunk(given), edges=dtype, **rule)
    labels, n = run(grid, image, edges=edges)
    expected = qfz.label(image, edges=edges, **rule)
    np.testing.assert_array_equal(labels, expected[0])
    assert n == expected[1]


def test_any_processes_can_work():
    """Grids and bytes go to other processes and come back."""
    image = np.random.default_rng(3).integers(0, 30, (40, 50), dtype=np.uint8)
    grid = grid_of(image, (16, 16), alpha=4)
    grid = pickle.loads(pickle.dumps(grid))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [
            [
                pool.submit(qfz.chunks.summarise, grid, y, x, image[grid.slices(y, x)])
                for x in range(grid.n_columns)
            ]
            for y in range(grid.n_rows)
        ]
        exteriors, n = qfz.chunks.stitch(grid, [[job.result() for job in row] for row in jobs])
    labels = qfz.chunks.resolve(grid, 2, 3, image[grid.slices(2, 3)], exteriors[2][3])
    expected = qfz.label(image, 4)
    np.testing.assert_array_equal(labels, expected[0][grid.slices(2, 3)])
    assert n == expected[1]


def test_bad_bytes_are_refused():
    image = np.arange(48, dtype=np.uint8).reshape(6, 8)
    grid = grid_of(image, (6, 4), alpha=1)
    parts = [qfz.chunks.summarise(grid, 0, x, image[grid.slices(0, x)]) for x in range(2)]
    exteriors, _ = qfz.chunks.stitch(grid, [parts])
    for bad, reason in [
        (parts[0][:-1], "damaged"),
        (parts[0][:60] + b"!" + parts[0][61:], "damaged"),
        (parts[1], "column of the chunk"),
        (exteriors[0][0], "its exterior"),
        (b"", "no summary"),
    ]:
        with pytest.raises(qfz.QfzArgumentError, match=reason):
            qfz.chunks.stitch(grid, [[bad, parts[1]]])
    other = grid_of(image, (6, 4), alpha=2)
    with pytest.raises(qfz.QfzArgumentError, match="level of alpha 1, and this call has 2"):
        qfz.chunks.stitch(other, [parts])
    with pytest.raises(qfz.QfzArgumentError, match="does not fit the pixels"):
        qfz.chunks.resolve(grid, 0, 0, np.zeros((6, 4), np.uint8), exteriors[0][0])
    with pytest.raises(TypeError, match="str in place of bytes"):
        qfz.chunks.resolve(grid, 0, 0, image[:, :4], "text")


def test_bad_chunks_are_refused():
    image = np.zeros((4, 4), np.uint8)
    grid = grid_of(image, (2, 2))
    with pytest.raises(qfz.QfzArgumentError, match="3 rows"):
        qfz.chunks.summarise(grid, 0, 0, image[:3, :2])
    with pytest.raises(qfz.QfzArgumentError, match=r"chunk \(2, 0\)"):
        qfz.chunks.summarise(grid, 2, 0, image[:2, :2])
    with pytest.raises(TypeError, match="uint16 in place of uint8"):
        qfz.chunks.summarise(grid, 0, 0, image[:2, :2].astype("u2"))
    with pytest.raises(ValueError, match="the grid has 2 rows"):
        qfz.chunks.stitch(grid, [[b"", b""]])
    with pytest.raises(TypeError, match="astype"):
        qfz.chunks.summarise(grid_of(image.astype("f8"), (2, 2)), 0, 0, image.astype("f8"))
    with pytest.raises(ValueError, match="label, saliency"):
        qfz.chunks.summarise(grid_of(image, (2, 2), result="tree"), 0, 0, image)


# ------------------------------------------------------------------------------------------- Dask
@pytest.fixture
def lazy():
    pytest.importorskip("dask.array")
    return pytest.importorskip("qfz.dask")


def in_chunks(array, rng):
    """A Dask array in chunks of any sizes."""
    import dask.array as da

    def sizes(n):
        cuts = np.sort(rng.integers(1, n, int(rng.integers(0, 3)))) if n > 1 else np.array([], int)
        return tuple(np.diff(np.unique([0, *cuts, n])).tolist())

    return da.from_array(array, tuple(sizes(n) for n in array.shape))


def test_dask_equals_one_pass(lazy, random_image):
    given, rule = random_image, rule_of(random_image)
    image, mask = in_chunks(given.bands, given.rng), in_chunks(given.valid, given.rng)
    labels, n = lazy.label(image, given.alpha, mask=mask, channel_axis=0, **rule)
    expected = qfz.label(given.bands, given.alpha, mask=given.valid, channel_axis=0, **rule)
    assert (labels.shape, labels.dtype) == (expected[0].shape, np.uint32)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), expected[0])
    assert n.compute(scheduler="sync") == expected[1]
    levels = lazy.saliency(image, mask=mask, channel_axis=0, **rule)
    whole = qfz.saliency(given.bands, mask=given.valid, channel_axis=0, **rule)
    np.testing.assert_array_equal(levels.compute(scheduler="sync"), whole)
    filtered = lazy.saliency(image, mask=mask, min_area=3, channel_axis=0, **rule)
    np.testing.assert_array_equal(
        filtered.compute(scheduler="sync"),
        qfz.saliency(given.bands, mask=given.valid, min_area=3, channel_axis=0, **rule),
    )
    again, n = lazy.cut(levels, given.alpha)
    expected = qfz.cut(whole, given.alpha)
    np.testing.assert_array_equal(again.compute(scheduler="sync"), expected[0])
    assert n.compute(scheduler="sync") == expected[1]


@pytest.mark.parametrize("limits", LIMITS)
def test_dask_has_omega_and_min_area(lazy, random_image, limits):
    given, rule = random_image, {**rule_of(random_image), **limits_of(random_image, limits)}
    image, mask = in_chunks(given.bands, given.rng), in_chunks(given.valid, given.rng)
    labels, n = lazy.label(image, given.alpha, mask=mask, channel_axis=0, **rule)
    expected = qfz.label(given.bands, given.alpha, mask=given.valid, channel_axis=0, **rule)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), expected[0])
    assert n.compute(scheduler="sync") == expected[1]


def test_dask_cuts_any_levels(lazy, random_image):
    given = random_image
    shape = (given.connectivity // 2, *given.valid.shape)
    levels = given.rng.integers(0, 9, shape).astype(np.float32)
    levels[given.rng.random(shape) < 0.5] = np.nan
    labels, n = lazy.cut(in_chunks(levels, given.rng), 3)
    expected = qfz.cut(levels, 3)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), expected[0])
    assert n.compute(scheduler="sync") == expected[1]


def wild_values(given):
    """Pixels of all bits that the type has; half of the images of singles have infinities."""
    words = given.rng.integers(0, 1 << 32, given.bands.shape, dtype=np.uint64).astype(np.uint32)
    if given.dtype.kind != "f":
        return words.astype(given.dtype)
    return np.where(words % 8 < given.seed % 2, np.inf, words.view(np.float32)).astype(np.float32)


def masked(given, image, axis):
    return np.ma.MaskedArray(image, np.moveaxis(given.rng.random(given.bands.shape) < 0.1, 0, axis))


@pytest.mark.parametrize("limits", [{}, *LIMITS])
@pytest.mark.parametrize("values", ["few", "all", "masked"])
def test_dask_simplifies(lazy, random_image, limits, values):
    given, axis = random_image, int(random_image.rng.integers(-3, 3))
    rule = {**rule_of(given), **limits_of(given, limits), "channel_axis": axis}
    image = np.moveaxis(wild_values(given) if values == "all" else given.bands, 0, axis)
    if values == "masked":
        image = masked(given, image, axis)
    chunks, valid = in_chunks(image, given.rng), in_chunks(given.valid, given.rng)
    no_limit = np.inf if rule.get("omega") is None else None
    alpha = [given.alpha, np.inf, no_limit][given.seed % 3]
    expected = qfz.simplify(image, alpha, mask=given.valid, **rule)
    painted = lazy.simplify(chunks, alpha, mask=valid, **rule)
    assert (painted.shape, painted.dtype) == (expected.shape, expected.dtype)
    painted = painted.compute(scheduler="sync")
    assert np.ma.getdata(painted).tobytes() == np.ma.getdata(expected).tobytes()
    np.testing.assert_array_equal(np.ma.getmask(painted), np.ma.getmask(expected))


def test_dask_simplifies_one_band_and_bools(lazy):
    rng = np.random.default_rng(5)
    image = rng.random((9, 11)) < 0.6
    painted = lazy.simplify(in_chunks(image, rng), omega=1, min_area=20)
    expected = qfz.simplify(image, omega=1, min_area=20)
    assert painted.dtype == bool
    np.testing.assert_array_equal(painted.compute(scheduler="sync"), expected)


@pytest.mark.parametrize(
    ("function", "limits", "passes"),
    [
        ("label", {}, 2),
        ("label", {"min_area": 2}, 3),
        ("label", {"omega": 1, "min_area": 2}, 4),
        ("simplify", {"omega": 1}, 4),
        ("simplify", {"omega": 1, "min_area": 2}, 5),
    ],
)
def test_dask_keeps_no_chunk_between_the_passes(lazy, function, limits, passes):
    """Each chunk is read once in a pass, and after all summaries of the pass before."""
    import dask.array as da

    order = []

    def read(block_info=None):
        order.append(block_info[None]["chunk-location"])
        return np.zeros((4, 4), np.uint8)

    image = da.map_blocks(
        read, chunks=((4,) * 3, (4,) * 3), dtype=np.uint8, meta=np.array((), "u1")
    )
    if function == "label":
        assert (lazy.label(image, **limits)[0].compute(scheduler="sync") == 1).all()
    else:
        assert (lazy.simplify(image, **limits).compute(scheduler="sync") == 0).all()
    assert len(order) == 9 * passes
    assert all(sorted(order[:9]) == sorted(order[9 * i : 9 * i + 9]) for i in range(passes))


def test_dask_refuses(lazy):
    import dask.array as da

    image = da.zeros((4, 6, 3), chunks=2, dtype=np.uint8)
    with pytest.raises(ValueError, match="channel_axis"):
        lazy.label(image)
    with pytest.raises(ValueError, match="mask has shape"):
        lazy.label(image, mask=np.ones((4, 4)), channel_axis=-1)
    for function in lazy.label, lazy.simplify:
        with pytest.raises(TypeError, match="float64"):
            function(image[..., 0].astype(float), 0)
    with pytest.raises(ValueError, match="alpha, omega or both"):
        lazy.simplify(image[..., 0])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        lazy.label(image[..., 0][image[..., 0].max(axis=1) > 0])

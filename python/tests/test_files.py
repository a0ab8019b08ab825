# SPDX-License-Identifier: MIT
"""Functions on files against functions on arrays, and against the command (QFZ_COMMAND).

Rasters are in ENVI's format: a text header, and the bare values in a file of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import qfz
from qfz import _job, _library

COMMAND = os.environ.get("QFZ_COMMAND")
ENVI_TYPES = {"u1": 1, "u2": 12, "f4": 4}
ALL = dict(format="ENVI", creation_options={"INTERLEAVE": "BSQ"})


@pytest.fixture(scope="module", autouse=True)
def library():
    try:
        return _library.for_files()
    except qfz.QfzLibraryError as error:
        pytest.skip(str(error))


@pytest.fixture
def scene(tmp_path):
    """A raster of two bands, and its values."""
    values = np.random.default_rng(3).integers(0, 40, (2, 30, 41)).astype("u2")
    return write(tmp_path / "scene.img", values), values


def write(path, values):
    values.tofile(path)
    n, h, w = values.shape
    code = ENVI_TYPES[values.dtype.str[1:]]
    path.with_suffix(".hdr").write_text(
        f"ENVI\nsamples = {w}\nlines = {h}\nbands = {n}\nheader offset = 0\n"
        f"file type = ENVI Standard\ndata type = {code}\ninterleave = bsq\nbyte order = 0\n"
    )
    return path


def read(path, dtype, shape):
    return np.fromfile(path, dtype).reshape(shape)


def test_report_counts_what_exceeds_omega(tmp_path):
    """The minimum area joins two halves that differ by more than omega; a third stays within."""
    values = np.zeros((1, 6, 9), "u1")
    values[0, :, 3:6] = 9
    values[0, :, 6:] = 200
    src, dst = write(tmp_path / "src.img", values), tmp_path / "dst.img"
    rule = {"distance": "linf", "alpha": 2, "omega": 5, "tile": 4, "overwrite": True}
    assert qfz.simplify_file(src, dst, min_area=18, **rule, **ALL).wide_pixels == 0
    report = qfz.simplify_file(src, dst, min_area=19, **rule, **ALL)
    assert (report.wide_pixels, report.pixels) == (54, 54)
    assert qfz.simplify_file(src, dst, **rule, **ALL).wide_pixels == 0


def test_label_file(scene, tmp_path):
    src, values = scene
    dst = tmp_path / "labels.img"
    report = qfz.label_file(src, dst, 9, connectivity=8, tile=7, threads=2, **ALL)
    labels, n = qfz.label(values, 9, connectivity=8, channel_axis=0)
    np.testing.assert_array_equal(read(dst, "u4", labels.shape), labels)
    assert report.regions == n and report.pixels == labels.size
    assert (report.width, report.height, report.tiles) == (41, 30, 30)
    assert report.engine == "cpu" and report.next_phase == "all" and sum(report.steps.values()) > 0


def test_options_of_pixels(scene, tmp_path):
    src, values = scene
    mask = write(tmp_path / "mask.img", (values[:1] % 3).astype("u1"))
    dst = tmp_path / "labels.img"
    qfz.label_file(src, dst, 4, bands=[2], mask=mask, nodata=7, min_area=3, **ALL)
    valid = (values[0] % 3 != 0) & (values[1] != 7)
    labels, _ = qfz.label(values[1], 4, mask=valid, min_area=3)
    np.testing.assert_array_equal(read(dst, "u4", labels.shape), labels)


def test_count_only(scene):
    src, values = scene
    assert qfz.label_file(src, None).regions == qfz.label(values, channel_axis=0)[1]


def test_simplify_file(scene, tmp_path):
    src, values = scene
    dst, names, table = (tmp_path / n for n in ("simple.img", "labels.img", "regions.csv"))
    report = qfz.simplify_file(
        src, dst, omega=[12, 20], labels=names, regions=table, columns="label,pixels", **ALL
    )
    assert table.read_text().startswith("label,pixels\n")
    painted = qfz.simplify(values, omega=[12, 20], channel_axis=0)
    labels, n = qfz.label(values, np.inf, omega=[12, 20], channel_axis=0)
    np.testing.assert_array_equal(read(dst, "u2", painted.shape), painted)
    np.testing.assert_array_equal(read(names, "u4", labels.shape), labels)
    assert report.regions == n == len(table.read_text().splitlines()) - 1


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("distance", ["linf", "l2"])
def test_saliency_and_cut(scene, tmp_path, connectivity, distance):
    src, values = scene
    levels, dst = tmp_path / "levels.tif", tmp_path / "labels.img"
    qfz.saliency_file(src, levels, distance=distance, connectivity=connectivity, tile=11)
    report = qfz.cut_file(levels, dst, 6, **ALL)
    labels, n = qfz.label(values, 6, distance, connectivity, channel_axis=0)
    np.testing.assert_array_equal(read(dst, "u4", labels.shape), labels)
    assert report.regions == n


def test_a_number_of_regions_instead_of_alpha(scene, tmp_path):
    src, values = scene
    curve = qfz.curve(values, channel_axis=0)
    report = qfz.label_file(src, tmp_path / "labels.tif", regions_target=500)
    first = np.argmax(curve.regions <= 500)
    assert (report.alpha, report.regions) == (curve.alpha[first], curve.regions[first])


def test_a_number_of_regions_of_a_hierarchy(scene, tmp_path):
    src, values = scene
    levels = tmp_path / "levels.tif"
    qfz.saliency_file(src, levels)
    report = qfz.cut_file(levels, tmp_path / "labels.img", regions_target=500, **ALL)
    curve = qfz.curve(values, channel_axis=0)
    first = np.argmax(curve.regions <= 500)
    assert (report.alpha, report.regions) == (curve.alpha[first], curve.regions[first])
    labels, _ = qfz.label(values, report.alpha, channel_axis=0)
    np.testing.assert_array_equal(read(tmp_path / "labels.img", "u4", labels.shape), labels)
    with pytest.raises(ValueError, match="alpha or regions_target"):
        qfz.cut_file(levels, tmp_path / "other.img")


def test_several_alphas(scene, tmp_path):
    src, values = scene
    levels, alphas = tmp_path / "levels.tif", [3, 6.5, 20]
    qfz.saliency_file(src, levels, tile=11)
    for job, of in (qfz.label_file, src), (qfz.cut_file, levels):
        report = job(of, tmp_path / "l_{alpha}.img", alphas, tile=13, overwrite=True, **ALL)
        for alpha, regions in zip(alphas, report.alpha_regions):
            labels, n = qfz.label(values, alpha, channel_axis=0)
            np.testing.assert_array_equal(read(tmp_path / f"l_{alpha}.img", "u4", (30, 41)), labels)
            assert regions == n
    with pytest.raises(qfz.QfzArgumentError, match="must contain {alpha}"):
        qfz.label_file(src, tmp_path / "l.img", alphas, **ALL)
    with pytest.raises(ValueError, match="empty"):
        qfz.label_file(src, tmp_path / "l_{alpha}.img", [], **ALL)


def test_curve_file(scene, tmp_path):
    src, values = scene
    curve = qfz.curve_file(src, connectivity=8)
    expected = qfz.curve(values, connectivity=8, channel_axis=0)
    assert curve.alpha.tolist() == expected.alpha.tolist()
    assert curve.regions.tolist() == expected.regions.tolist()
    assert curve.exact_below == np.inf and curve.report.pixels == values[0].size
    plot = tmp_path / "curve.png"
    qfz.curve_file(src, plot=plot)
    assert plot.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(qfz.QfzError, match="curve.png"):
        qfz.curve_file(src, plot=plot)
    qfz.curve_file(src, plot=plot, overwrite=True)


def test_curve_file_with_a_least_area(scene):
    src, values = scene
    curve = qfz.curve_file(src, min_area=6)
    expected = qfz.curve(values, min_area=6, channel_axis=0)
    assert curve.alpha.tolist() == expected.alpha.tolist()
    assert curve.regions.tolist() == expected.regions.tolist()


def test_check_file(scene, tmp_path):
    src, values = scene
    dst, table = tmp_path / "labels.tif", tmp_path / "regions.csv"
    n = qfz.label_file(src, dst, 9, connectivity=8, regions=table).regions
    report = qfz.check_file(dst, src, table=table)
    assert (report.faults, report.regions, report.task) == (0, n, "label")
    assert (report.width, report.height, report.pixels) == (41, 30, values[0].size)
    report = qfz.check_file(dst, src, 8)
    assert report.faults > 0 and "no path joins" in report.what and report.y >= 0
    assert qfz.check_file(dst, src, connectivity=4).faults > 0
    assert qfz.check_file(dst, connectivity=8).faults == 0
    rows = table.read_text().splitlines()
    table.write_text("\n".join(rows[:-1]) + "\n")
    assert qfz.check_file(dst, src, table=table).faults == 1
    with pytest.raises(qfz.QfzFileError, match="none.tif"):
        qfz.check_file(tmp_path / "none.tif", src)
    with pytest.raises(TypeError, match="no option"):
        qfz.check_file(dst, src, beta=2)


def test_a_check_is_cancelled(scene, tmp_path):
    src, _ = scene
    dst = tmp_path / "labels.tif"
    qfz.label_file(src, dst, 9)

    def stop(progress):
        raise KeyError(progress.step)

    with pytest.raises(KeyError):
        qfz.check_file(dst, src, progress=stop)


def test_tree_file_and_linkage(scene, tmp_path):
    src, values = scene
    zones, forest = tmp_path / "zones.tif", tmp_path / "forest.csv"
    n = qfz.tree_file(src, zones, forest).regions
    rows = np.genfromtxt(forest, delimiter=",", names=True)
    matrix = qfz.linkage(rows["a"], rows["b"], rows["level"], n)
    assert matrix.shape == (n - 1, 4) and matrix[-1, 3] == n
    for alpha in 0, 3, 12:
        joins = np.count_nonzero(matrix[:, 2] <= alpha)
        assert n - joins == qfz.label(values, alpha, channel_axis=0)[1]
    with pytest.raises(qfz.QfzArgumentError, match="row 1"):
        qfz.linkage([1, 2], [2, 1], [1, 2], 3)


def test_colors_and_quicklook(scene, tmp_path):
    src, _ = scene
    colors, picture = tmp_path / "colors.tif", tmp_path / "look.png"
    qfz.label_file(src, tmp_path / "labels.img", 9, colors=colors, quicklook=picture, **ALL)
    labels = read(tmp_path / "labels.img", "u4", (30, 41))
    qfz.simplify_file(colors, tmp_path / "colors.img", alpha=0, **ALL)  # the same values
    painted = read(tmp_path / "colors.img", "u1", labels.shape)
    np.testing.assert_array_equal(painted, qfz.colors(labels))
    assert picture.read_bytes()[:4] == b"\x89PNG"
    looks = [tmp_path / f"{name}.png" for name in ("means", "lines", "zones")]
    qfz.label_file(src, tmp_path / "l.tif", 9, quicklook=looks[0], quicklook_style="means")
    qfz.saliency_file(src, tmp_path / "s.tif", quicklook=looks[1])
    qfz.tree_file(
        src,
        tmp_path / "z.tif",
        tmp_path / "f.csv",
        quicklook=looks[2],
        quicklook_style="image",
    )
    assert len({picture.read_bytes(), *(look.read_bytes() for look in looks)}) == 4
    with pytest.raises(ValueError, match="quicklook_style"):
        qfz.label_file(src, tmp_path / "n.tif", quicklook=picture, quicklook_style="dots")


def test_regions_file(scene, tmp_path):
    src, values = scene
    names, rows, pairs = (tmp_path / n for n in ("labels.tif", "regions.csv", "pairs.csv"))
    n = qfz.label_file(src, names, 9, neighbours=tmp_path / "same.csv").regions
    report = qfz.regions_file(names, regions=rows, neighbours=pairs, stats=src, stats_bands=[2])
    labels, _ = qfz.label(values, 9, channel_axis=0)
    table = np.genfromtxt(rows, delimiter=",", names=True)
    assert report.regions == n == len(table)
    means = [values[1][labels == k].mean() for k in range(1, n + 1)]
    np.testing.assert_allclose(table["stats_mean_2"], means)
    for path in pairs, tmp_path / "same.csv":
        found = np.genfromtxt(path, delimiter=",", names=True)
        expected = qfz.neighbours(labels)
        for name in "a", "b", "edges":
            assert found[name].tolist() == expected[name].tolist()


@pytest.mark.skipif(not COMMAND, reason="needs the command, as QFZ_COMMAND")
def test_the_command_writes_the_same(scene, tmp_path):
    src, values = scene
    ours, theirs = tmp_path / "ours.img", tmp_path / "theirs.img"
    qfz.label_file(src, ours, 9, distance="l1", weights=[1, 0.5], **ALL)
    subprocess.run(
        [COMMAND, "label", "-q", "--alpha", "9", "--weights", "1,0.5", "-of", "ENVI", src, theirs],
        check=True,
    )
    assert ours.read_bytes() == theirs.read_bytes()
    qfz.simplify_file(src, ours, 9, 20, overwrite=True, **ALL)
    subprocess.run(
        [
            COMMAND,
            "simplify",
            "-q",
            "--alpha",
            "9",
            "--omega",
            "20",
            "--distance",
            "linf",
            "-of",
            "ENVI",
            "--overwrite",
            src,
            theirs,
        ],
        check=True,
    )
    assert ours.read_bytes() == theirs.read_bytes()


# Options of the command that have no keyword, or one of another name.
NAMES = {
    "b": "bands",
    "mask": "mask",
    "of": "format",
    "ot": "type",
    "co": "creation_options",
    "oo": "open_options",
    "j": "threads",
    "gpus": "gpus",
    "table": "regions",
    "colours": "colors",
    "count-only": "dst",
}
IGNORED = {
    ("saliency", "alpha"),  # the hierarchy is of all alphas
    ("check", "table"),  # there the keyword is table, too
    ("curve", "o"),  # the table is the result
    ("curve", "output"),
}
# What the command prints, or writes beside its outputs: functions return a Report.
NOT_HERE = {"quiet", "q", "json", "help", "h", "version", "log", "metrics"}


@pytest.mark.skipif(not COMMAND, reason="needs the command, as QFZ_COMMAND")
@pytest.mark.parametrize(
    "task",
    ["label", "simplify", "saliency", "cut", "regions", "tree", "curve", "check", "explore"],
)
def test_every_option_of_the_command_is_a_keyword(task):
    table = subprocess.run([COMMAND, "help", "--table"], check=True, capture_output=True, text=True)
    function = getattr(qfz, f"{task}_file")
    keywords = set(function.__annotations__)
    if "options" in keywords:
        keywords |= set(qfz.Options.__annotations__)
    missing = []
    for line in table.stdout.splitlines():
        command, option = line.split("\t")[:2]
        name = option.lstrip("-")
        if command == task and name not in NOT_HERE and (task, name) not in IGNORED:
            if NAMES.get(name, name.replace("-", "_")) not in keywords:
                missing.append(option)
    assert missing == [], "options without a keyword of this function"


def test_every_keyword_is_documented_and_known():
    for name in qfz.Options.__annotations__:
        assert name in qfz.Options.__doc__
        assert name in _job.PLAIN or name in (
            "bands",
            "gpus",
            "nodata",
            "part",
            "progress",
            "connectivity",
            "distance",
            "weights",
        )


def test_failures(scene, tmp_path):
    src, _ = scene
    with pytest.raises(qfz.QfzFileError, match="none.tif"):
        qfz.label_file(tmp_path / "none.tif", None)
    with pytest.raises(OSError):
        qfz.label_file(tmp_path / "none.tif", None)
    with pytest.raises(qfz.QfzArgumentError, match="scene.img: the output would replace an input"):
        qfz.label_file(src, src, **ALL)
    (tmp_path / "there.tif").touch()
    with pytest.raises(qfz.QfzError, match="there.tif.*exists"):
        qfz.label_file(src, tmp_path / "there.tif")
    with pytest.raises(ValueError, match="alpha, omega or both"):
        qfz.simplify_file(src, tmp_path / "out.tif")
    with pytest.raises(TypeError, match="tiles"):
        qfz.label_file(src, None, tiles=3)
    with pytest.raises(ValueError, match="layout is 'x'"):
        qfz.saliency_file(src, tmp_path / "out.tif", layout="x")
    with pytest.raises(TypeError, match="a ndarray in place of the name of a file"):
        qfz.label_file(np.zeros((2, 2)), None)
    for option in {"bands": 1}, {"memory": "2GB"}, {"creation_options": ["A=B"]}, {"nodata": "x"}:
        with pytest.raises(TypeError, match=f"{next(iter(option))} is .*Options"):
            qfz.label_file(src, None, **option)


def test_messages_name_keywords(scene, tmp_path):
    src, _ = scene
    dst = tmp_path / "a--overwrite.tif"
    qfz.label_file(src, dst)
    with pytest.raises(qfz.QfzError, match=r"a--overwrite.tif: already .*; use overwrite=True$"):
        qfz.label_file(src, dst)
    with pytest.raises(qfz.QfzError, match="^resume=True needs work"):
        qfz.label_file(src, tmp_path / "b.tif", resume=True)


def test_progress(scene, tmp_path):
    src, _ = scene
    seen = []
    qfz.label_file(src, tmp_path / "labels.tif", tile=8, progress=seen.append)
    assert [p.done for p in seen] == sorted(p.done for p in seen) and seen[-1].done == 1
    assert {p.step for p in seen} >= {"pass 1 of 2", "pass 2 of 2"}
    assert max(p.tiles for p in seen) == 24


def test_a_bar_of_tqdm(scene, tmp_path, capsys, monkeypatch):
    src, _ = scene
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="needs tqdm"):
        qfz.label_file(src, None, progress=True)
    monkeypatch.undo()
    qfz.label_file(src, None, progress=False)
    pytest.importorskip("tqdm")
    qfz.label_file(src, tmp_path / "labels.tif", tile=8, progress=True)
    assert "100%" in capsys.readouterr().err


class Stop(Exception):
    pass


def test_an_exception_of_progress_cancels(scene, tmp_path):
    src, _ = scene
    calls = []

    def progress(p):
        calls.append(p)
        if p.done > 0.3:
            raise Stop

    with pytest.raises(Stop):
        qfz.saliency_file(src, tmp_path / "levels.tif", tile=8, progress=progress)
    assert calls[-1].done < 0.6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scene.hdr", "scene.img"]


def test_an_interrupt_cancels(tmp_path):
    """SIGINT comes while a tile is done; the job must end before many more tiles are."""
    values = np.random.default_rng(4).integers(0, 200, (1, 400, 400)).astype("u1")
    src = write(tmp_path / "large.img", values)
    calls = []

    def progress(p):
        calls.append(p)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        if len(calls) > 5:
            time.sleep(0.01)  # the main thread may be waiting for a processor

    with pytest.raises(KeyboardInterrupt):
        qfz.saliency_file(src, tmp_path / "levels.tif", tile=20, threads=1, progress=progress)
    assert len(calls) < 100  # of 800
    assert sorted(p.name for p in tmp_path.iterdir()) == ["large.hdr", "large.img"]


def test_jobs_in_two_threads(scene):
    src, values = scene
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(qfz.label_file(src, None, 5).regions))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == 2 * [qfz.label(values, 5, channel_axis=0)[1]]


def test_a_library_without_gdal_is_refused(monkeypatch):
    monkeypatch.setattr(_library, "_files", None)
    monkeypatch.setattr(_library.Library, "has", lambda *_: False)
    with pytest.raises(qfz.QfzLibraryError, match="built without GDAL"):
        qfz.label_file("scene.tif", None)


def test_rasterio_datasets_are_sources(scene):
    rasterio = pytest.importorskip("rasterio")
    src, values = scene
    with rasterio.open(src) as dataset:
        assert qfz.label_file(dataset, None, 5).regions == qfz.label(values, 5, channel_axis=0)[1]

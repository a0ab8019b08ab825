# SPDX-License-Identifier: MIT
"""`explore_file`: the command line, and the page where this build of the command has one."""

from __future__ import annotations

import json
import os
import re
import subprocess

import numpy as np
import pytest
import qfz

COMMAND = os.environ.get("QFZ_COMMAND")


@pytest.fixture
def scene(tmp_path):
    np.random.default_rng(3).integers(0, 40, (2, 30, 41)).astype("u2").tofile(
        tmp_path / "scene.img"
    )
    (tmp_path / "scene.hdr").write_text(
        "ENVI\nsamples = 41\nlines = 30\nbands = 2\nheader offset = 0\n"
        "file type = ENVI Standard\ndata type = 12\ninterleave = bsq\nbyte order = 0\n"
    )
    return tmp_path / "scene.img"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_keywords_are_options(tmp_path, monkeypatch):
    said = tmp_path / "said"
    monkeypatch.setenv("QFZ_COMMAND", script(tmp_path / "say", f'printf "%s\\n" "$@" >{said}'))
    page = qfz.explore_file(
        "a b.tif",
        tmp_path / "p.html",
        window=[(0, 1, 2, 3), (4, 5, 6, 7)],
        no_curve=True,
        connectivity=2,
        weights=[1, 0.5],
        bands=[2, 1],
        nodata=0,
        config={"A": "B", "C": 1},
    )
    assert page == str(tmp_path / "p.html")
    assert said.read_text().splitlines() == (
        "explore --quiet --no-curve --distance linf --connectivity 8 --weights 1,0.5 -b 2,1 "
        "--nodata 0 --config A=B --config C=1 --window 0,1,2,3 --window 4,5,6,7 --"
    ).split() + ["a b.tif", page]


def test_failures(tmp_path, monkeypatch):
    dst = tmp_path / "p.html"
    monkeypatch.setenv("QFZ_COMMAND", script(tmp_path / "no", "echo qfz explore: why >&2; exit 1"))
    with pytest.raises(qfz.QfzError, match="^why$"):
        qfz.explore_file("a.tif", dst)
    monkeypatch.setenv("QFZ_COMMAND", script(tmp_path / "mute", "exit 3"))
    with pytest.raises(qfz.QfzError, match="mute: exit status 3"):
        qfz.explore_file("a.tif", dst)
    monkeypatch.setenv("QFZ_COMMAND", str(tmp_path / "none"))
    with pytest.raises(qfz.QfzLibraryError, match="none cannot be run: No such file"):
        qfz.explore_file("a.tif", dst)
    monkeypatch.delenv("QFZ_COMMAND")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(qfz.QfzLibraryError, match="install qfz, or name the program"):
        qfz.explore_file("a.tif", dst)


@pytest.mark.skipif(not COMMAND, reason="needs the command, as QFZ_COMMAND")
def test_the_page_of_the_command(scene, tmp_path):
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    options = ["--distance", "linf", "--window", "3,4,20,10", "-b", "2"]
    done = subprocess.run(
        [COMMAND, "explore", *options, scene, theirs], capture_output=True, text=True
    )
    if "has no page" in done.stderr:
        with pytest.raises(qfz.QfzError, match="has no page"):
            qfz.explore_file(scene, ours)
        pytest.skip("the command was built without Emscripten: it has no page")
    assert qfz.explore_file(scene, ours, window=(3, 4, 20, 10), bands=[2]) == str(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    with pytest.raises(qfz.QfzError, match="ours.html.*--overwrite"):
        qfz.explore_file(scene, ours)

# SPDX-License-Identifier: MIT
"""The example programs, on a raster of QFZ_TEST_DATA."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCENE = Path(os.environ.get("QFZ_TEST_DATA", "none"), "demo", "s2_aberystwyth_10band_u16.tif")


def run(tmp_path, name, *arguments):
    """Run an example that draws a picture of the scene; return the lines that it prints."""
    if not SCENE.exists():
        pytest.skip(f"needs {SCENE}")
    pytest.importorskip("osgeo.gdal_array")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    command = [sys.executable, EXAMPLES / name, SCENE, picture, *arguments]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert picture.read_bytes().startswith(b"\x89PNG")
    return result.stdout.splitlines()


def test_fields(tmp_path):
    lines = run(tmp_path, "fields.py", "40", "300", "9")
    assert lines[0].startswith("1522 regions, 209 of")


def test_boundaries(tmp_path):
    numbers = [int(line.split()[0]) for line in run(tmp_path, "boundaries.py", "30")]
    assert len(numbers) == 3 and numbers == sorted(numbers, reverse=True) and numbers[-1] > 1


def test_superpixels(tmp_path):
    for line in run(tmp_path, "superpixels.py", "900", "90"):
        words = line.replace(":", "").split()
        assert 1 < int(words[4]) <= int(words[2]), line


def test_chunks(tmp_path):
    command = [sys.executable, EXAMPLES / "chunks.py", tmp_path / "labels.npy", "300", "70"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    first, second = result.stdout.splitlines()
    assert "in 25 chunks" in first and second == "equal to one pass"

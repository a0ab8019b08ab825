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


@pytest.mark.skipif(not SCENE.exists(), reason=f"needs {SCENE}")
def test_fields(tmp_path):
    pytest.importorskip("osgeo.gdal_array")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "fields.png"
    command = [sys.executable, EXAMPLES / "fields.py", SCENE, picture, "40", "300", "9"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.startswith("1522 regions, 209 of")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_chunks(tmp_path):
    command = [sys.executable, EXAMPLES / "chunks.py", tmp_path / "labels.npy", "300", "70"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    first, second = result.stdout.splitlines()
    assert "in 25 chunks" in first and second == "equal to one pass"

# SPDX-License-Identifier: MIT
"""compare.py REFERENCE_DIR < output of dump: the oracle in C against oracle.py."""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from oracle import HALF, Raster  # noqa: E402


def read(words, name):
    line = words.readline().split()
    assert line[0] == name, (line[0], name)
    return [float(v) for v in line[1:]]


def saliency_planes(raster):
    """Planes of h x w as in the library, -1 where there is no edge."""
    sal, _ = raster.saliency_and_nodes()
    names = {(0, 1): "sal_h", (1, 0): "sal_v", (1, 1): "sal_dr", (1, -1): "sal_dl"}
    out = []
    for dy, dx in HALF[raster.conn]:
        plane = np.full((raster.H, raster.W), -1.0)
        part = sal[names[dy, dx]]
        left = 1 if dx < 0 else 0
        plane[: part.shape[0], left:left + part.shape[1]] = np.where(np.isinf(part), -1.0, part)
        out.append(plane)
    return np.stack(out)


def main():
    n = 0
    while line := sys.stdin.readline():
        _, h, w, bands, conn, dist, alpha = line.split()
        h, w, bands = int(h), int(w), int(bands)
        omega = read(sys.stdin, "omega")
        values = np.array(read(sys.stdin, "values")).reshape(bands, h, w)
        valid = np.array(read(sys.stdin, "valid")).reshape(h, w)
        if np.all(values == np.floor(values)) and np.abs(values).max() < 2**53:
            values = values.astype(np.int64)
        raster = Raster(values, valid, int(conn), dist)
        want = {"flat": raster.flat(), "alpha": raster.alpha(float(alpha)),
                "alpha_omega": raster.alpha_omega(float(alpha), omega)}
        for name, answer in want.items():
            got = np.array(read(sys.stdin, name)).reshape(h, w)
            assert np.array_equal(got, answer), (n, name, line, got, answer)
        planes = saliency_planes(raster)
        got = np.array(read(sys.stdin, "saliency")).reshape(planes.shape)
        if dist == "l2":  # a level is a single here
            planes = planes.astype(np.float32).astype(float)
        assert np.array_equal(got, planes), (n, "saliency", line, got, planes)
        n += 1
    print(f"{n} rasters, all equal")
    return 0 if n else 1


if __name__ == "__main__":
    sys.exit(main())

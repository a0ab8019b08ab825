# SPDX-License-Identifier: MIT
"""check.py REFERENCE_DIR CASE...: the results of the cases against the oracle in Python."""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from oracle import HALF, Raster  # noqa: E402

NAMES = {(0, 1): "right", (1, 0): "below", (1, 1): "below_right", (1, -1): "below_left"}
SALS = {(0, 1): "sal_h", (1, 0): "sal_v", (1, 1): "sal_dr", (1, -1): "sal_dl"}


def read(path):
    words = iter(w for line in open(path) for w in line.split("#")[0].split())
    case = {"bands": [], "painted": [], "omega": [], "connectivity": 4, "distance": "l1",
            "alpha": "inf", "type": "UInt8"}
    for word in words:
        if word == "pixels":
            w, h = int(next(words)), int(next(words))
            case["shape"] = (h, w)
        if word in ("pixels", "labels", "painted") or word in NAMES.values():
            h, w = case["shape"]
            grid = [{".": "nan", "-": "-1"}.get(v, v) for v in (next(words) for _ in range(h * w))]
            grid = np.array([float(v) for v in grid]).reshape(h, w)
            if word in ("pixels", "painted"):
                case["bands" if word == "pixels" else word].append(grid)
            else:
                case[word] = grid
        elif word == "omega":
            case["omega"].append(float(next(words)))
        else:
            case[word] = next(words)
    return case


def painted(band, labels, whole):
    out = np.zeros(band.shape)
    for k in range(1, int(labels.max()) + 1):
        mean = band[labels == k].mean()
        out[labels == k] = np.floor(mean + 0.5) if whole else np.float32(mean)
    return out


def answers(case):
    bands = np.stack(case["bands"])
    whole = not case["type"].startswith("Float")
    mask = ~np.isnan(bands).any(axis=0)
    if "background" in case:
        mask &= (bands != float(case["background"])).any(axis=0)
    if whole:
        bands = np.where(np.isnan(bands), 0, bands).astype(np.int64)
    r = Raster(bands, mask, int(case["connectivity"]), case["distance"])
    alpha = float(case["alpha"])
    if case["op"] == "flat":
        return {"labels": r.flat()}
    if case["op"] == "alpha":
        return {"labels": r.alpha(alpha)}
    if case["op"] == "alpha_omega":
        omega = case["omega"] * (len(bands) if len(case["omega"]) == 1 else 1)
        labels = r.alpha_omega(alpha, omega or [np.inf] * len(bands))
        return {"labels": labels, "painted": [painted(b, labels, whole) for b in bands]}
    sal, _ = r.saliency_and_nodes()
    out = {}
    for dy, dx in HALF[r.conn]:
        part = sal[SALS[dy, dx]]
        plane = np.full((r.H, r.W), -1.0)
        left = 1 if dx < 0 else 0
        plane[: part.shape[0], left:left + part.shape[1]] = np.where(np.isinf(part), -1, part)
        out[NAMES[dy, dx]] = plane if case["distance"] != "l2" else plane.astype(np.float32)
    return out


def same(a, b):
    return np.array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32), equal_nan=True)


def main():
    for path in sys.argv[2:]:
        case = read(path)
        if "by hand:" in open(path).readline().lower():  # arithmetic that the oracle in Python has not
            continue
        want = answers(case)
        for name, grid in want.items():
            if name == "painted":
                hidden = np.isnan(np.stack(case["bands"])).any(axis=0)
                for got, band in zip(case["painted"], grid):
                    assert same(np.where(hidden, 0, got), band), (path, name, got, band)
            elif name in case:
                assert same(case[name], grid), (path, name, case[name], grid)
        assert any(n in case and len(case[n]) for n in want), (path, "no answer")
    print(f"{len(sys.argv) - 2} cases, answers confirmed")


if __name__ == "__main__":
    main()

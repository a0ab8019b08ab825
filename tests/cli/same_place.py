# SPDX-License-Identifier: MIT
"""same_place.py SRC OUT...: compares the georeference of every OUT with the one of SRC, by gdalinfo
-json.  Prints each difference on stderr; the exit status is 0 if there is none.

An OUT of (2w-1) x (2h-1) cells has the khalimsky layout, pixels and the edges between them: its
cells are half a pixel wide, and the centre of its first cell is the centre of the first pixel."""
import json
import subprocess
import sys


def info(path):
    return json.loads(subprocess.run(["gdalinfo", "-json", path], check=True,
                                     capture_output=True).stdout)


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def check(src, out):
    sw, sh = src["size"]
    khalimsky = out["size"] == [2 * sw - 1, 2 * sh - 1] and (sw, sh) != (1, 1)
    assert khalimsky or out["size"] == src["size"], ("size", src["size"], out["size"])
    wkt = [d.get("coordinateSystem", {}).get("wkt") for d in (src, out)]
    assert wkt[0] == wkt[1], ("CRS", wkt)
    point = [d.get("metadata", {}).get("", {}).get("AREA_OR_POINT", "Area") for d in (src, out)]
    assert point[0] == point[1], ("AREA_OR_POINT", point)
    a, b = src.get("geoTransform"), out.get("geoTransform")
    assert (a is None) == (b is None), ("geotransform", a, b)
    if a:
        want = a
        if khalimsky:  # cell (0, 0) is pixel (0, 0): same middle, half the size
            want = [a[0] + (a[1] + a[2]) / 4, a[1] / 2, a[2] / 2,
                    a[3] + (a[4] + a[5]) / 4, a[4] / 2, a[5] / 2]
        assert all(near(v, u) for v, u in zip(want, b)), ("geotransform", want, b)
    gcps = [d.get("gcps", {}) for d in (src, out)]
    lists = [g.get("gcpList", []) for g in gcps]
    assert len(lists[0]) == len(lists[1]), ("number of GCPs", lists)
    for p, q in zip(*lists):
        assert near(p["x"], q["x"]) and near(p["y"], q["y"]), ("GCP", p, q)
        if not khalimsky:
            assert near(p["pixel"], q["pixel"]) and near(p["line"], q["line"]), ("GCP", p, q)
    assert [g.get("coordinateSystem", {}).get("wkt") for g in gcps][0] == \
        [g.get("coordinateSystem", {}).get("wkt") for g in gcps][1], "CRS of the GCPs"


def main():
    wrong = 0
    src = info(sys.argv[1])
    for path in sys.argv[2:]:
        try:
            check(src, info(path))
        except (AssertionError, subprocess.CalledProcessError) as why:
            print(f"{path}: {why}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())

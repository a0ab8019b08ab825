# SPDX-License-Identifier: MIT
"""Labels of a raster that no process holds: chunks, any pool of processes, one result.

chunks.py LABELS.npy [SIDE [CHUNK]]

The image is a file of random hills, SIDE x SIDE pixels (default 1200).  Each process maps the files
and looks at chunks of CHUNK x CHUNK pixels (default 256).  Dask users call qfz.dask.label instead.
"""

import concurrent.futures
import sys
import tempfile

import numpy as np
import qfz
import qfz.chunks

ALPHA = 6


def make_image(path, side):
    rng = np.random.default_rng(1)
    hills = rng.integers(0, 12, (side, side)).cumsum(0).cumsum(1) % 251
    np.save(path, hills.astype(np.uint8))


def summarise(grid, source, at):
    image = np.load(source, mmap_mode="r")[grid.slices(*at)]
    return qfz.chunks.summarise(grid, *at, image)


def resolve(grid, source, target, at, exterior):
    image = np.load(source, mmap_mode="r")[grid.slices(*at)]
    labels = np.load(target, mmap_mode="r+")
    labels[grid.slices(*at)] = qfz.chunks.resolve(grid, *at, image, exterior)


def main():
    target = sys.argv[1]
    side, chunk = (int(a) for a in sys.argv[2:] + ["1200", "256"][len(sys.argv) - 2 :])
    with tempfile.NamedTemporaryFile(suffix=".npy") as source:
        make_image(source.name, side)
        grid = qfz.chunks.Grid((side, side), (chunk, chunk), "uint8", alpha=ALPHA)
        chunks = [(y, x) for y in range(grid.n_rows) for x in range(grid.n_columns)]
        np.lib.format.open_memmap(target, "w+", grid.result_dtype, grid.shape).flush()
        with concurrent.futures.ProcessPoolExecutor() as pool:
            jobs = [pool.submit(summarise, grid, source.name, at) for at in chunks]
            flat = [job.result() for job in jobs]
            rows = [flat[i : i + grid.n_columns] for i in range(0, len(flat), grid.n_columns)]
            exteriors, n = qfz.chunks.stitch(grid, rows)
            jobs = [
                pool.submit(resolve, grid, source.name, target, (y, x), exteriors[y][x])
                for y, x in chunks
            ]
            for job in jobs:
                job.result()
        print(f"{n} regions in {len(chunks)} chunks, {sum(map(len, flat))} bytes of summaries")
        labels, n_whole = qfz.label(np.load(source.name), ALPHA)
        same = n == n_whole and (labels == np.load(target)).all()
        print("equal to one pass" if same else "DIFFERENT from one pass")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Random images for every test that takes `random_image`, from fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "f4"]


class RandomImage:
    """A small image, its validity, and what a caller would pass."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        h, w, b = (int(n) for n in rng.integers(1, 8, 3))
        self.seed, self.rng = seed, rng
        self.dtype = np.dtype(TYPES[seed % len(TYPES)])
        top = int(rng.choice([2, 4, 20, 120]))
        low = -top if self.dtype.kind in "if" else 0
        self.bands = rng.integers(low, top, (1 + b // 3, h, w)).astype(self.dtype)
        if self.dtype.kind == "f":
            self.bands *= np.float32(0.25)
        self.connectivity = int(rng.choice([4, 8]))
        self.distance = str(rng.choice(["linf", "l1"]))
        if self.dtype.itemsize == 4 and self.dtype.kind != "f":
            self.distance = "linf"  # l1 of two bands would need 33 bits, and is refused
        self.alpha = float(rng.integers(0, top))
        self.omega = float(rng.integers(0, 2 * top))
        self.valid = rng.random((h, w)) < rng.choice([0.6, 1.0])

    def given(self):
        """Return the image with its bands at a random axis, in a random layout, and that axis."""
        axis = int(self.rng.integers(-3, 3))
        if len(self.bands) == 1 and axis < 0:
            return self._laid_out(self.bands[0]), None
        return self._laid_out(np.moveaxis(self.bands, 0, axis)), axis

    def _laid_out(self, array):
        """The same values: as they are, in Fortran's order, reversed, or every other element."""
        way = int(self.rng.integers(0, 4))
        if way == 0:
            return array
        if way == 1:
            return np.asfortranarray(array)
        if way == 2:
            return array[::-1].copy()[::-1]
        wide = np.zeros([2 * n for n in array.shape], array.dtype)
        inner = wide[tuple(slice(None, None, 2) for _ in array.shape)]
        inner[...] = array
        return inner


@pytest.fixture(params=range(28))
def random_image(request):
    return RandomImage(request.param)

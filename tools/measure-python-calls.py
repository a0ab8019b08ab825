#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure-python-calls.py - what the Python package costs beside the C library.

Prints the time to import NumPy, the time that `import qfz` adds, and the time of a call on 32 x 32
pixels of 8 bits: of the function, and of the same calls in C through ctypes alone.  Each is the
fastest of many, so that other programs on the machine matter little.
"""

import ctypes
import subprocess
import sys
import timeit
from ctypes import byref

import numpy as np
import qfz
from qfz import _library, _structs

IMPORTS = (
    "import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import qfz; "
    "c = time.perf_counter(); print(b - a, c - b)"
)


def imports():
    """Return the least seconds to import NumPy, and then qfz."""
    words = [sys.executable, "-c", IMPORTS]
    runs = [subprocess.run(words, check=True, capture_output=True).stdout for _ in range(20)]
    return np.array([run.split() for run in runs], float).min(0)


def fastest(function):
    """Return the least microseconds of a call, of 300 batches of 50."""
    return min(timeit.repeat(function, number=50, repeat=300)) / 50 * 1e6


def in_c(image, labels):
    """Return a function that makes the calls of the C library, with everything prepared."""
    library, session = _library.for_arrays(), ctypes.c_void_p()
    height, width = image.shape
    struct = _structs.Image(
        ctypes.sizeof(_structs.Image), height, width, 1, 0, image.ctypes.data, None
    )
    rule = _structs.Criterion(4, _structs.DISTANCES["linf"])
    rule.has_alpha, rule.alpha = True, 4
    into = _structs.Buffers(ctypes.sizeof(_structs.Buffers), 0, labels.ctypes.data)
    error = _structs.Error()
    arguments = byref(session), byref(struct), byref(rule), None, byref(error)
    given = byref(into), byref(error)

    def call():
        library.qfz_session_open(*arguments)
        library.qfz_session_run(session, _structs.PART_LABEL, *given)
        library.qfz_session_close(session)

    return call


def main():
    """Print the table."""
    numpy_s, qfz_s = imports()
    print(f"qfz {qfz.__version__}, NumPy {np.__version__}, Python {sys.version.split()[0]}")
    print(f"import numpy: {numpy_s * 1e3:.1f} ms; import qfz after it: {qfz_s * 1e3:.1f} ms")
    for name, image in [
        ("one value", np.zeros((32, 32), np.uint8)),
        ("random values", np.random.default_rng(1).integers(0, 256, (32, 32), np.uint8)),
    ]:
        labels = np.empty(image.shape, np.uint32)
        call, plain = fastest(lambda: qfz.label(image, 4)), fastest(in_c(image, labels))
        print(f"label of 32 x 32, {name}: {call:.1f} us, of which C and ctypes {plain:.1f} us")


main()

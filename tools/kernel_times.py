#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernel_times.py TIMES.tsv RUNS - milliseconds of each kernel in one of RUNS runs, from the output of
kernel_times.c; the least number of blocks that counts, 64, leaves out what warms a device up.

    qfz-bench gpu ... --runs 5     # six runs, the first of them not timed
    tools/kernel_times.py times.tsv 6
"""
import functools
import re
import subprocess
import sys

LEAST_BLOCKS = 64


@functools.cache
def name_of(mangled):
    """The kernel's name, k_..., without namespaces and arguments."""
    plain = subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\bk_[a-z0-9_]+", plain)
    return found[0] if found else mangled


def main(path, runs):
    kernels = {}
    with open(path, encoding="ascii") as rows:
        for row in rows:
            mangled, ns, blocks = row.rstrip("\n").split("\t")
            if int(blocks) < LEAST_BLOCKS:
                continue
            launches, total = kernels.get(name_of(mangled), (0, 0))
            kernels[name_of(mangled)] = (launches + 1, total + int(ns))
    for name, (launches, total) in kernels.items():
        print(f"{name:24} {launches / runs:6.1f} launches {total / runs / 1e6:9.3f} ms")


main(sys.argv[1], int(sys.argv[2]))

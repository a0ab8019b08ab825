# SPDX-License-Identifier: MIT
"""on_ranks.py PROGRAM N [ARGUMENT...]: a test program on N ranks."""
import subprocess
import sys

from batch import on_ranks, ranks_of

program, n, *arguments = sys.argv[1:]
on_ranks([sys.argv[0], program, "ranks"])
sys.exit(subprocess.run([*ranks_of(int(n)), program, *arguments], check=False).returncode)

#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh REFERENCE_DIR DUMP - the oracle in C against the one in Python, where both are there.
here=$(dirname "$0")
. "$here/../with_numpy.sh"
"$2" 7 150 | "$python" "$here/compare.py" "$1"

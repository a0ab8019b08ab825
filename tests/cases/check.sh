#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh REFERENCE_DIR CASE... - the cases' answers, found again by the oracle in Python.
here=$(dirname "$0")
. "$here/../with_numpy.sh"
exec "$python" "$here/check.py" "$@"

#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh DUMP REFERENCE_DIR - the oracle in C against the one in Python, where both are there.
here=$(dirname "$0")
python=
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import numpy' 2>/dev/null; then python=$p; break; fi
done
if [ ! -f "$2/oracle.py" ] || [ -z "$python" ]; then
    echo "skipped: needs $2/oracle.py and python3-numpy"
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
"$1" 7 150 | "$python" "$here/compare.py" "$2"

#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh REFERENCE_DIR CASE... - the cases' answers, found again by the oracle in Python.
here=$(dirname "$0")
python=
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import numpy' 2>/dev/null; then python=$p; break; fi
done
if [ ! -f "$1/oracle.py" ] || [ -z "$python" ]; then
    echo "skipped: needs $1/oracle.py and python3-numpy"
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec "$python" "$here/check.py" "$@"

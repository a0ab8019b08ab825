# SPDX-License-Identifier: MIT
# with_numpy.sh - to be sourced: $python, a Python with numpy that leaves no files behind; the test
# ends as skipped where there is none, or where the folder $1 has no oracle.py.
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

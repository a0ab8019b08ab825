#!/bin/bash
# SPDX-License-Identifier: MIT
# test-wheel.sh [PYTHON] - builds the wheel and runs its tests in a new virtual environment, outside
# the source tree, as cibuildwheel's recipe in pyproject.toml does in a container, and beside the
# packages that qfz works with or is compared with.  Needs pip with a package index; leaves the wheel
# in build-wheelhouse/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=$PWD python=${1:-python3}

rm -rf build-wheelhouse
"$python" -m pip wheel -q --no-deps -w build-wheelhouse .
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$(echo build-wheelhouse/qfz-*.whl)[compare,dask,pandas,test,tqdm,xarray]"
cd "$work"
unset QFZ_LIBRARY QFZ_COMMAND PYTHONPATH
"$work/venv/bin/python" - <<'END'
import os

import qfz
from qfz import _library

print("qfz", qfz.__version__, "on NumPy", __import__("numpy").__version__)
_library.for_arrays()
opened = {line.split()[-1] for line in open("/proc/self/maps") if "libqfz" in line}
assert opened == {os.path.join(os.path.dirname(qfz.__file__), "libqfz.so.1")}, opened
END
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider "$tree/python/tests"
echo "the wheel works: $(cd "$tree" && ls build-wheelhouse/*.whl)"

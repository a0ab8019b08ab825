#!/bin/bash
# SPDX-License-Identifier: MIT
# test-builds.sh [--cuda] - builds qfz with each compiler, with and without MPI and GDAL, each in a
# temporary folder, and runs the short tests of each build: those with the label unit, and those of
# the exported symbols and of the installation.  --cuda: the CUDA engine too, by nvcc, for compute
# capability 9.0.  A compiler that is missing is skipped.  Ends with a table of builds and seconds.
#
# On 2 cores, 8 builds take about 9 minutes; --cuda adds about 10.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh

with_cuda=no
case ${1-} in
'') ;;
--cuda) with_cuda=yes ;;
*)
    echo "usage: tools/test-builds.sh [--cuda]" >&2
    exit 2
    ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/qfz_builds_XXXXXX")
trap 'rm -rf "$work"' EXIT
table=()

# one NAME SETTING...: configures, builds and tests with these cmake settings.
one() {
    local name=$1 started=$SECONDS
    shift
    say "== $name"
    if ! cmake -S . -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DQFZ_WERROR=ON \
        -DQFZ_SIMULATOR=OFF "$@" >"$work/log" 2>&1 ||
        ! cmake --build "$work/build" -j "$(nproc)" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        fail "the build failed: $name"
    fi
    # Not the tests that take longest of these: ./quickstart test runs them.
    OMP_WAIT_POLICY=passive ctest --test-dir "$work/build" -j "$(jobs_of_tests)" \
        -L 'unit|house' -LE long -E '^(test_jobs|test_stops|test_tree|format|layers)$' \
        --output-on-failure >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "a test failed: $name"
    }
    grep -E 'tests passed|\(Skipped\)' "$work/log" >&2
    table+=("$(printf '%5d s  %s' $((SECONDS - started)) "$name")")
    rm -rf "$work/build"
}

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        table+=("skipped  $compiler, which is missing")
        continue
    fi
    case $compiler in gcc) plus=g++ ;; clang) plus=clang++ ;; esac
    for gdal in ON OFF; do
        for mpi in ON OFF; do
            one "$compiler, GDAL $gdal, MPI $mpi" -DCMAKE_C_COMPILER=$compiler \
                -DCMAKE_CXX_COMPILER="$plus" -DQFZ_GDAL=$gdal -DQFZ_MPI=$mpi -DQFZ_CUDA=OFF
        done
    done
done
if [ $with_cuda = yes ]; then
    one "gcc, GDAL ON, MPI ON, CUDA ON" -DCMAKE_C_COMPILER=gcc -DQFZ_GDAL=ON -DQFZ_MPI=ON \
        -DQFZ_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90
fi
printf '%s\n' "${table[@]}"

#!/bin/sh
# SPDX-License-Identifier: MIT
# test-aarch64.sh - cross-builds the rooms core, cpu and stitch and the in-memory library for aarch64,
# without GDAL, MPI and CUDA, and runs their tests in an emulator, with fewer cases than ctest does.
#
#   tools/test-aarch64.sh [FOLDER]     FOLDER: for objects and programs (default: build-aarch64)
#
# Needs aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, qemu-user), but no
# libraries for aarch64: tests/aarch64 has stand-ins for zlib and cmocka.
#
# Environment: JOBS  programs at a time (default: processors)
#              SEED  of the property tests (default: 1)
set -eu
cd "$(dirname "$0")/.."
out=${1:-build-aarch64}
jobs=${JOBS:-$(nproc)}
seed=${SEED:-1}
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "$tool is not installed: skipped"; exit 77; }
done

cc="aarch64-linux-gnu-gcc -std=gnu17 -O2 -fopenmp -ffp-contract=off -fno-strict-aliasing -Wall
    -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Werror -Iinclude -Isrc -Itests/aarch64 -Itests -Itests/oracle
    -Itests/property"
emulate="qemu-aarch64 -L /usr/aarch64-linux-gnu"

# The same source files as a build with QFZ_GDAL, QFZ_MPI and QFZ_CUDA off.
sources=$(ls src/core/*.c src/cpu/*.c src/stitch/*.c src/gpu/none.c tests/oracle/oracle.c |
    grep -v /transport_mpi)
tests="property/test_level property/test_exact property/test_contract property/test_regions
    unit/test_components unit/test_tree stitch/test_stitch stitch/test_ring stitch/test_thin"
if [ -f src/job/none.c ]; then
    session=$(ls src/job/none.c src/job/defaults.c src/job/session.c src/job/engine_choice.c \
        src/raster/none.c src/session/*.c 2>/dev/null || true)
    sources="$sources $session"
    tests="$tests property/test_sessions"
fi

mkdir -p "$out"
echo "$sources" | tr ' ' '\n' | grep . | xargs -P "$jobs" -I{} sh -c \
    "$(echo $cc) -c {} -o $out/\$(echo {} | tr / _).o"
objects=$(echo "$sources" | tr ' ' '\n' | grep . | tr / _ | sed "s|.*|$out/&.o|")
echo "$tests" | tr ' ' '\n' | grep . | xargs -P "$jobs" -I{} sh -c \
    "$(echo $cc) tests/{}.c $(echo $objects) -lm -o $out/\$(basename {})"

# PROGRAM CASES: about as much work as an emulator does in half a minute.
commands=$(
    cat <<CASES
test_level $seed 300
test_exact $seed 600
test_contract $seed 60
test_regions $seed 6
test_stitch $seed 120
test_ring $seed 1
test_thin $seed 60
test_components
test_tree
CASES
    case $tests in *test_sessions*) echo "test_sessions $seed 120" ;; esac
)
echo "$commands" | OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive xargs -P "$jobs" -I{} sh -c \
    "start=\$(date +%s); $emulate $out/{} >$out/\$(echo {} | cut -d' ' -f1).log 2>&1 ||
     { echo 'failed: {}'; tail -5 $out/\$(echo {} | cut -d' ' -f1).log; exit 1; }
     echo \"passed: {} (\$((\$(date +%s) - start)) s)\""

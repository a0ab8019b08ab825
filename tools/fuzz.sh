#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh - builds the fuzz targets of tests/fuzz with clang's libFuzzer and sanitizers, and runs
# them one after the other, each from its corpus.
#
#   tools/fuzz.sh [SECONDS [TARGET...]]     SECONDS: of each target (default 10)
#                                           TARGET: options, journal, records, stitch, saliency, vrt
#                                           (default: all)
#
# New inputs are kept in build-fuzz/inputs/TARGET, from which the next run goes on.  An input that
# fails is in build-fuzz/inputs: fix its cause, and add the input to tests/fuzz/corpus/TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh

seconds=${1:-10}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then targets=(options journal records stitch saliency vrt); fi
command -v clang >/dev/null || fail "clang is not installed"
build fuzz
export OMP_WAIT_POLICY=passive
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
inputs=$PWD/build-fuzz/inputs
root=$PWD
for target in "${targets[@]}"; do
    program=$root/build-fuzz/tests/fuzz_$target
    [ -x "$program" ] || fail "no target \"$target\""
    mkdir -p "$inputs/$target"
    say "fuzz_$target: $seconds s"
    (
        cd "$scratch"
        TMPDIR=$scratch "$program" -max_total_time="$seconds" -max_len=512 -close_fd_mask=2 \
            -print_final_stats=1 -artifact_prefix="$inputs/$target-" \
            "$inputs/$target" "$root/tests/fuzz/corpus/$target" >log 2>&1
    ) || { tail -40 "$scratch/log"; fail "fuzz_$target failed"; }
    grep -E 'number_of_executed_units' "$scratch/log"
done

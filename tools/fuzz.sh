#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh - builds the fuzz targets of tests/fuzz with clang's libFuzzer and sanitizers, and runs
# them, each from its corpus, as many at a time as there are processors.
#
#   tools/fuzz.sh [SECONDS [TARGET...]]     SECONDS: of each target (default 10)
#                                           TARGET: options, journal, records, stitch, saliency, vrt
#                                           (default: all)
#
# Environment: SEED     of the search (default 1: the same inputs in the same order each time)
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
install_clang
build fuzz
export OMP_WAIT_POLICY=passive
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
inputs=$PWD/build-fuzz/inputs
root=$PWD

search() { # TARGET
    local target=$1 program=$root/build-fuzz/tests/fuzz_$1
    mkdir -p "$inputs/$target" "$scratch/$target"
    cd "$scratch/$target"
    TMPDIR=$PWD "$program" -max_total_time="$seconds" -max_len=512 -close_fd_mask=2 \
        -seed="${SEED:-1}" -print_final_stats=1 -artifact_prefix="$inputs/$target-" \
        "$inputs/$target" "$root/tests/fuzz/corpus/$target" >"$scratch/$target.log" 2>&1 || {
        tail -40 "$scratch/$target.log"
        fail "fuzz_$target failed"
    }
    say "fuzz_$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$scratch/$target.log")" \
        "inputs in $seconds s"
    touch "$scratch/$target.ok"
}

for target in "${targets[@]}"; do
    [ -x "$root/build-fuzz/tests/fuzz_$target" ] || fail "no target \"$target\""
done
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    search "$target" &
done
wait
for target in "${targets[@]}"; do
    [ -e "$scratch/$target.ok" ] || exit 1
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# oldest_gpu.sh NVCC: the kernels compile for the oldest GPUs that are served, whose
# multiprocessors run fewer threads.  What those refuse, they refuse with little optimization as
# well; with none, there is more code to go through.
set -u
cd "$(dirname "$0")/.." || exit 2
nvcc=$1
if ! "$nvcc" --list-gpu-arch | grep -qx compute_75; then
    echo "this CUDA makes no code for compute capability 7.5: not checked"
    exit 77
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
printf '%s\0' src/gpu/*/*.cu | xargs -0 -n 1 -P "$(nproc)" sh -c '
    "$0" -std=c++17 -arch=sm_75 -Xcicc -O1 -Xptxas -O0 --fmad=false -Werror=all-warnings \
        -Iinclude -Isrc -cubin -o "$1/$(basename "$2").cubin" "$2"' "$nvcc" "$out"

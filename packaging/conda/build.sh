#!/bin/bash
# SPDX-License-Identifier: MIT
# build.sh - what conda-build runs in the source tree.
set -euo pipefail
# shellcheck disable=SC2086 # several words
cmake -S . -B build-conda ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_TESTING=OFF \
    -DQFZ_GDAL=ON -DQFZ_MPI=OFF -DQFZ_CUDA=OFF -DQFZ_WEB=OFF
cmake --build build-conda -j "${CPU_COUNT:-1}"
cmake --install build-conda
mkdir -p "$SP_DIR"
cp -r python/qfz "$SP_DIR/"

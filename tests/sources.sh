#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh - what git keeps is text, but for pictures and the inputs of the fuzz targets: no build
# product or package comes in with a commit.
set -u
cd "$(dirname "$0")/.." || exit 2

if ! git ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1; then
    echo "no git checkout: not checked"
    exit 77
fi
found=$(git ls-files | grep -vE '\.(jpg|png)$|^tests/fuzz/corpus/' | while IFS= read -r path; do
    [ -s "$path" ] && ! grep -qI . "$path" && echo "$path: not a text"
done)
[ -z "$found" ] || { echo "$found"; exit 1; }

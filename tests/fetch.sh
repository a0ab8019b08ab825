#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh [TREE] - building and testing fetch nothing but packages of the distribution (apt-get): no
# script, recipe of CMake or workflow has a command that does.  An exception is tools/test-wheel.sh, which tests
# what pip makes, and which none of these calls.  Without TREE, the test also finds a
# command that is planted in a copy.
set -u
self=$(realpath "$0")
tree=${1-$(dirname "$0")/..}
cd "$tree" || exit 2

commands='(^|[^A-Za-z0-9_./-])(curl|wget|aria2c|npx|pipx|rsync|scp)( |$)'
installs='(pip3?|conda|mamba|npm|yarn|cargo|gem|go|snap|flatpak)["'\'']?,? +["'\'']?(install|download|ci|add|get|wheel)([^a-z]|$)'
git='git (clone|fetch|pull|submodule|lfs)'
cmake='FetchContent|ExternalProject|file\(DOWNLOAD|CPMAddPackage|-sUSE_[A-Z]+|--use-port'
code='urlopen|urlretrieve|fetch\(["'\'']https?:'

bad=0
[ -e .gitmodules ] && { echo ".gitmodules: a submodule is fetched"; bad=1; }
files=$(find .ci .github quickstart tools cmake packaging tests apps data web examples python \
    CMakeLists.txt CMakePresets.json -type f \( -name '*.sh' -o -name '*.cmake' -o -name 'CMake*' -o -name '*.py' \
    -o -name '*.mjs' -o -name '*.yml' -o -name '*.yaml' -o -name 'Containerfile*' -o -path '.ci/*' -o -name quickstart \) \
    ! -name fetch.sh ! -name test-wheel.sh 2>/dev/null)
[ "$(echo "$files" | wc -l)" -gt 20 ] || { echo "only these files: $files"; exit 1; }
# shellcheck disable=SC2086 # words
found=$(grep -nE "$commands|$installs|$git|$cmake|$code" $files | grep -vE '^[^:]*:[0-9]+: *(#|//|\*|"""|test\.skip)')
# shellcheck disable=SC2086 # words
grep -n 'test-wheel\.sh' $files && { echo "tools/test-wheel.sh fetches packages of Python"; bad=1; }
[ -n "$found" ] && { echo "these fetch what is no package of the distribution:"; echo "$found"; bad=1; }
[ $# -eq 1 ] && exit $bad

copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
for planted in 'curl -O https://example.org/a' 'python3 -m pip install a' 'FetchContent_Declare(a)' 'git clone https://example.org/a'; do
    rm -rf "$copy"/* "$copy"/.ci
    # shellcheck disable=SC2086 # words
    cp --parents $files "$copy"
    echo "$planted" >>"$copy/tools/packages.sh"
    sh "$self" "$copy" >/dev/null && { echo "not found: $planted"; bad=1; }
done
exit $bad

#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh [--build | --chroot FOLDER] - the recipes of this folder: one version everywhere; every
# option of the build, package of Debian and copied file that they name exists; their shell commands
# have no syntax errors.  --build: also builds the containers, where podman, docker or buildah works;
# else it says so.  --chroot: runs the steps of the containers in chroots within FOLDER (chroot.sh),
# and the conda recipe without conda (conda/check.py).
set -u
cd "$(dirname "$0")/.." || exit 2
bad=0
fail() { echo "$*"; bad=1; }

version=$(sed -n 's/^project(qfz VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "{% set version = \"$version\" %}" packaging/conda/meta.yaml ||
    fail "packaging/conda/meta.yaml: the version is not $version, that of CMakeLists.txt"
sh -n packaging/conda/build.sh || fail "packaging/conda/build.sh: syntax"

for file in packaging/Containerfile packaging/Containerfile.cuda packaging/conda/build.sh; do
    # shellcheck disable=SC2013 # words
    for option in $(grep -oE -e '-DQFZ_[A-Z]+' "$file" | sed 's/-D//' | sort -u); do
        grep -rqE "qfz_feature\($option |option\($option " CMakeLists.txt cmake ||
            fail "$file: there is no option $option"
    done
done

for file in packaging/Containerfile packaging/Containerfile.cuda; do
    # One command a line, without the word RUN.
    sed -e ':a' -e '/\\$/{N;s/\\\n */ /;ba' -e '}' "$file" >"${TMPDIR:-/tmp}/qfz-recipe.$$"
    sed -n 's/^RUN //p' "${TMPDIR:-/tmp}/qfz-recipe.$$" | sh -n || fail "$file: syntax of RUN"
    [ "$(tail -1 "$file")" = 'ENTRYPOINT ["qfz"]' ] || fail "$file: the last line is no ENTRYPOINT"
    if command -v apt-cache >/dev/null && apt-cache show cmake >/dev/null 2>&1; then
        # shellcheck disable=SC2013 # words
        for package in $(sed -n 's/.*apt-get install -y --no-install-recommends \([^&]*\).*/\1/p' \
            "${TMPDIR:-/tmp}/qfz-recipe.$$"); do
            case $package in /*) continue ;; esac
            apt-cache show "$package" >/dev/null 2>&1 || fail "$file: no package $package"
        done
    else
        echo "$file: names of packages not checked: needs apt-cache with lists"
    fi
    rm -f "${TMPDIR:-/tmp}/qfz-recipe.$$"
done
for name in library tools python3; do
    grep -q "CPACK_COMPONENTS_ALL.*$name" cmake/packages.cmake || fail "cpack makes no $name"
done

if [ "${1-}" = --build ]; then
    builder=
    for program in podman docker buildah; do
        [ -z "$builder" ] && "$program" info >/dev/null 2>&1 && builder=$program
    done
    if [ -z "$builder" ]; then
        echo "containers not built: neither podman nor docker nor buildah works here"
    else
        "$builder" build -f packaging/Containerfile -t qfz . || fail "packaging/Containerfile"
        "$builder" build -f packaging/Containerfile.cuda -t qfz-cuda . ||
            fail "packaging/Containerfile.cuda"
    fi
fi
if [ "${1-}" = --chroot ]; then
    mkdir -p "$2"
    python3 packaging/conda/check.py "$(mktemp -d "$2/conda.XXXXXX")" || fail "packaging/conda"
    packaging/chroot.sh packaging/Containerfile "$2" || fail "packaging/Containerfile"
    packaging/chroot.sh packaging/Containerfile.cuda "$2" || fail "packaging/Containerfile.cuda"
fi
[ "$bad" -eq 0 ] && echo "the recipes of packaging/ are sound"
exit "$bad"

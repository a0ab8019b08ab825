# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# packages.sh - functions for scripts: installs by apt what a build needs and lacks; builds a preset.

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "quickstart: $*"
    exit 1
}

# Prints the Debian and Ubuntu packages whose commands or libraries this machine lacks.  It looks for
# commands and libraries, not packages: others may have installed them in another way.
missing_packages() {
    local pair
    for pair in cmake:cmake gcc:gcc g++:g++ make:make pkg-config:pkg-config gdalinfo:gdal-bin \
        nm:binutils; do
        command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
    done
    # Any python3 with NumPy serves: tests try Debian's and the first in PATH.
    { python3 -c 'import numpy' || /usr/bin/python3 -c 'import numpy'; } 2>/dev/null ||
        echo python3-numpy
    for pair in gdal:libgdal-dev proj:libproj-dev zlib:zlib1g-dev cmocka:libcmocka-dev; do
        pkg-config --exists "${pair%%:*}" 2>/dev/null || echo "${pair##*:}"
    done
    # Any MPI serves; qfz on one machine needs none.
    if [ "${1-}" = tests ] && ! { command -v mpicc && command -v mpirun; } >/dev/null; then
        printf '%s\n' libopenmpi-dev openmpi-bin
    fi
    # The tests of the Python package.
    if [ "${1-}" = tests ] && ! { python3 -c 'import numpy, pytest' ||
        /usr/bin/python3 -c 'import numpy, pytest'; } 2>/dev/null; then
        printf '%s\n' python3-numpy python3-pytest
    fi
    # The documentation's site.
    if [ "${1-}" = tests ] && ! command -v mkdocs >/dev/null; then
        echo mkdocs
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "need root, or sudo, for: $*"
    fi
}

# install_missing [tests]: installs what a build lacks, and what tests need beside it.  Needs no root
# and no network where nothing is missing.
install_missing() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        fail "missing: ${missing[*]} (names of Debian packages); there is no apt-get to install them"
    say "installing ${missing[*]}"
    as_root apt-get update -q >&2 || fail "apt-get update failed"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}" libc6-dev >&2 ||
        fail "apt-get could not install ${missing[*]}"
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] || fail "still missing after installation: ${missing[*]}"
}

# install_optional TESTS PACKAGE...: installs packages without which the tests named are skipped.
install_optional() {
    local tests=$1 install
    shift
    if [ $# -eq 0 ]; then return; fi
    say "installing $*"
    install="apt-get install -y -q --no-install-recommends $*"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null ||
        ! as_root env DEBIAN_FRONTEND=noninteractive \
            sh -c "$install || { apt-get update -q && $install; }" >&2; then
        say "not installed: $*; $tests are skipped"
    fi
}

# install_browser: installs what the tests of the web page need.
install_browser() {
    local pair missing=()
    for pair in emcc:emscripten node:nodejs chromium:chromium; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
    done
    install_optional "tests of the web page" "${missing[@]}"
}

# install_python_packages: installs the packages that the Python package works with, or is compared with.
install_python_packages() {
    local pair missing=()
    for pair in dask.array:dask hypothesis:hypothesis skimage:skimage scipy:scipy xarray:xarray \
        pandas:pandas rasterio:rasterio matplotlib:matplotlib mypy:mypy; do
        { python3 -c "import ${pair%%:*}" || /usr/bin/python3 -c "import ${pair%%:*}"; } \
            2>/dev/null || missing+=("python3-${pair##*:}")
    done
    install_optional "tests of the Python package beside others" "${missing[@]}"
}

# install_clang: the compiler that the fuzz targets need.
install_clang() {
    if command -v clang >/dev/null; then return; fi
    command -v apt-get >/dev/null || fail "clang is not installed"
    say "installing clang"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends clang libclang-rt-dev >&2 ||
        fail "apt-get could not install clang"
}

# Is there a GPU that NVIDIA's driver shows?
has_gpu() {
    nvidia-smi -L 2>/dev/null | grep -q '^GPU 0'
}

# build PRESET [-DVARIABLE=VALUE...] [TARGET...]: configures the preset with these variables and
# builds these targets, or all, in the repository that is the current folder.
build() {
    local preset=$1 settings=() targets=()
    shift
    while [[ ${1-} == -D* ]]; do
        settings+=("$1")
        shift
    done
    if [ $# -gt 0 ]; then targets=(--target "$@"); fi
    say "building ($preset${*:+: $*})"
    cmake --preset "$preset" "${settings[@]}" >/dev/null || fail "cmake --preset $preset failed"
    cmake --build --preset "$preset" -j "$(nproc)" "${targets[@]}" >&2 ||
        fail "the build failed"
}

# One test more than processors: tests of batch jobs wait half of their time.
jobs_of_tests() {
    echo $(($(nproc) + 1))
}

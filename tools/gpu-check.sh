#!/bin/bash
# SPDX-License-Identifier: MIT
# gpu-check.sh - on a host with a GPU: builds, runs the GPU tests, the small ones again under
# compute-sanitizer, and the benchmark; prints a short table last.
#
#   tools/gpu-check.sh [PART...]     PART: build, test, sanitize, bench, commands, scale; default: all
#
# commands and scale are those of tools/measure-jobs.py, by all GPUs that this host has.  On one H200
# bench takes ten minutes, sanitize four, each of the others one or two.
#
# Environment: OUT      folder for full logs (default: build-gpu/out)
#              GDAL_BUNDLE  tarball of GDAL and PROJ for hosts that have none; it has an env.sh that
#                           sets GDAL_BUNDLE_CMAKE
#              SCENE    a raster to measure beside generated images
#              BENCH_OPTIONS  of one qfz-bench gpu, instead of all of them
#              SANITIZE_SECONDS  for each program and tool (default: 400)
#              BASELINES    list of other programs to measure in the same run, for part bench:
#                           SOURCE.cu ARGUMENTS in each line, as seen from the list's folder
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
out=${OUT:-$PWD/build-gpu/out}
mkdir -p "$out" build-gpu
out=$(realpath "$out")
declare -a table=()

note() { table+=("$(printf '%-28s %s' "$1" "$2")"); }
wants() { # PART: was it asked for?
    local part
    [ "${#parts[@]}" -eq 0 ] && return 0
    for part in "${parts[@]}"; do [ "$part" = "$1" ] && return 0; done
    return 1
}
parts=("$@")

if [ -n "${GDAL_BUNDLE-}" ]; then
    if [ ! -f build-gpu/gdal/env.sh ]; then
        mkdir -p build-gpu/gdal && tar -C build-gpu/gdal -xJf "$GDAL_BUNDLE" || exit 2
    fi
    # shellcheck source=/dev/null
    . build-gpu/gdal/env.sh
    # Its programs find its libraries, and no other program does.
    mkdir -p build-gpu/bin
    for program in "$PWD"/build-gpu/gdal/bin/*; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$PWD/build-gpu/gdal/lib" "$program" \
            >"build-gpu/bin/${program##*/}"
        chmod +x "build-gpu/bin/${program##*/}"
    done
    PATH=$PWD/build-gpu/bin:$PATH
fi

do_build() {
    # shellcheck disable=SC2086 # several words
    cmake -S . -B build-gpu -DQFZ_CUDA=ON ${GDAL_BUNDLE_CMAKE-} >"$out/configure.log" 2>&1 &&
        cmake --build build-gpu -j "$(nproc)" >"$out/build.log" 2>&1
    local rc=$?
    [ $rc -eq 0 ] || tail -40 "$out/configure.log" "$out/build.log"
    note build "$([ $rc -eq 0 ] && echo ok || echo FAILED)"
    return $rc
}

do_test() {
    ctest --test-dir build-gpu -L gpu -j 4 --timeout 300 --output-on-failure >"$out/test.log" 2>&1
    grep -E 'tests passed|Failed|Skipped|Timeout|SEGFAULT' "$out/test.log" | tail -20
    note 'gpu tests' "$(grep -E 'tests passed' "$out/test.log" || echo 'did not run')"
    PYTHONPATH=$PWD/python QFZ_LIBRARY=$PWD/build-gpu/libqfz.so.1 \
        python3 tests/gpu/device_arrays.py >"$out/device-arrays.log" 2>&1
    note 'device arrays' "$(tail -1 "$out/device-arrays.log")"
}

# The programs take SEED CASES FIRST.  The tools slow kernels down ten thousandfold, and a launch
# takes them 10 ms; all the same, each kernel should be launched, of each type.  So programs of many
# launches get few cases, some of them in pieces, or, by 0, the small ones that they have for this.
pieces_of() { # PROGRAM
    case $1 in
    gpu_boruvka | gpu_omega | gpu_groups | gpu_jobs) echo '1 0' ;;
    gpu_stitch) printf '%s\n' '1 1' '1 2 1' ;;
    gpu_sessions) printf '%s\n' '1 5' '1 10 5' ;;
    gpu_regions) printf '%s\n' '1 20' '1 40 20' ;;
    gpu_published) echo '1 20' ;;
    gpu_filter) printf '%s\n' '1 1' '1 2 1' '1 3 2' ;;
    gpu_saliency_type | gpu_joins) echo '1 2' ;;
    gpu_alphas) echo '1 1' ;;
    gpu_filter_blocks) printf '%s\n' '1 0' '1 2 1' ;;
    gpu_edges) printf '%s\n' '1 1' '1 2 1' ;;
    gpu_tree) echo '1 24' ;;
    gpu_union_find) echo '1 100' ;;
    *) echo 1 ;;
    esac
}

sanitize_one() { # TOOL PROGRAM ARGUMENTS; SLOT: one of those that run at the same time
    local log="$out/$1-${2##*/}-$3.log" result
    local limit=${SANITIZE_SECONDS:-400} threads=1000 gpus
    IFS=, read -ra gpus <<<"$sanitize_gpus"
    # Of words that kernels of several threads have just set it takes some, each time others, for
    # not set.
    [ "$1" = initcheck ] && threads=1
    # shellcheck disable=SC2086 # several words
    CUDA_VISIBLE_DEVICES=${gpus[$SLOT % ${#gpus[@]}]} OMP_THREAD_LIMIT=$threads timeout "$limit" \
        compute-sanitizer --tool "$1" --error-exitcode 9 "$2" $3 >"$log" 2>&1
    case $? in
    0) result="clean ($SECONDS s)" ;;
    124) result="not done in $limit s" ;;
    *)
        result=$(grep -E 'ERROR SUMMARY|hazard' "$log" | tail -1)
        { echo "$1 $2 $3"; head -60 "$log"; } >>"$out/sanitize-found.txt"
        ;;
    esac
    printf '%-28s %s\n' "$1 ${2##*/gpu_} $3" "${result:-FAILED}" >>"$out/sanitize.txt"
}

# All but the programs that are large, or take files.
list_sanitized() {
    local tool program arguments
    for tool in racecheck memcheck synccheck initcheck; do
        for program in build-gpu/tests/gpu_*; do
            case $program in
            */gpu_large | */gpu_large_methods | */gpu_cases) continue ;;
            esac
            [ -x "$program" ] || continue
            pieces_of "${program##*/}" | while read -r arguments; do
                printf '%s\0%s\0%s\0' "$tool" "$program" "$arguments"
            done
        done
    done
}

# Four at a time on each GPU, which is what racecheck is limited by.
do_sanitize() {
    local line n
    sanitize_gpus=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi -L | awk '{ print NR - 1 }' | paste -sd,)}
    n=$(tr ',' '\n' <<<"$sanitize_gpus" | wc -l)
    export out sanitize_gpus
    export -f sanitize_one
    rm -f "$out/sanitize.txt" "$out/sanitize-found.txt"
    list_sanitized |
        xargs -0 -n 3 -P $((4 * n)) --process-slot-var=SLOT bash -c 'sanitize_one "$@"' _
    while read -r line; do table+=("$line"); done < <(sort "$out/sanitize.txt")
    cat "$out"/*check-*.log | gzip >"$out/sanitizer-logs.gz"
    rm -f "$out"/*check-*.log
}

bench() { # OPTIONS...
    printf '\n%s\n' "qfz-bench gpu $*"
    build-gpu/apps/qfz-bench gpu --runs 21 "$@"
}

# Random binary images; then what natural images could be, and what none is.  The latter takes the
# published trees seconds a run, so they have the small one only.
bench_all() {
    local size kind bits
    for size in 2048 8192 16384; do bench --size $size || return; done
    for size in 4096 16384; do
        if [ -n "${SCENE-}" ]; then bench "$SCENE" --size $size || return; fi
        for kind in fractal flat; do
            for bits in 8 16; do
                bench --size $size --generate $kind --bits $bits || return
            done
        done
    done
    for bits in 8 16; do
        bench --size 4096 --generate white --bits $bits || return
        bench --size 16384 --generate white --bits $bits --method auto || return
    done
}

do_bench() {
    # shellcheck disable=SC2086 # several words
    if [ -n "${BENCH_OPTIONS-}" ]; then bench $BENCH_OPTIONS; else bench_all; fi >"$out/bench.txt" 2>&1
    note bench "$([ $? -eq 0 ] && echo "see $out/bench.txt" || echo FAILED)"
    cat "$out/bench.txt"
}

# Each is built once, however many lines it has.
do_baselines() {
    local list source words program
    list=$(realpath "$BASELINES")
    (
        cd "${list%/*}" || exit
        while read -r source words; do
            program=$out/$(basename "$source" .cu)
            [ -x "$program" ] || nvcc -O3 -std=c++17 -arch=native -o "$program" "$source" || exit
            # shellcheck disable=SC2086 # several words
            "$program" $words </dev/null || exit
        done <"$list"
    ) >"$out/baselines.txt" 2>&1
    note baselines "$([ $? -eq 0 ] && echo "see $out/baselines.txt" || echo FAILED)"
    cat "$out/baselines.txt"
}

# measure PART OPTIONS...: whole jobs; they need GDAL's programs.
measure() {
    if ! command -v gdal_translate >/dev/null; then
        note "$1" 'skipped: no gdal_translate'
        return
    fi
    tools/measure-jobs.py build-gpu "$@" >"$out/$1.txt" 2>&1
    note "$1" "$([ $? -eq 0 ] && echo "see $out/$1.txt" || echo FAILED)"
    cat "$out/$1.txt"
}

status=0
if wants build; then do_build || status=1; fi
if [ $status -eq 0 ]; then
    if wants test; then do_test; fi
    if wants sanitize; then do_sanitize; fi
    if wants bench; then do_bench; fi
    if wants bench && [ -n "${BASELINES-}" ]; then do_baselines; fi
    if wants commands; then measure commands --engines cuda,cpu; fi
    if wants scale; then measure scale --engines cuda --units "$(nvidia-smi -L | wc -l)"; fi
fi
printf '%s\n' "${table[@]}" | tee "$out/summary.txt"
! printf '%s\n' "${table[@]}" | grep -qE 'FAILED|not done|[1-9][0-9]* errors|tests failed out of' && exit $status
exit 1

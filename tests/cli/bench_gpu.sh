#!/bin/sh
# SPDX-License-Identifier: MIT
# bench_gpu.sh BENCH - qfz-bench gpu prints one line for every method and image that it measures.
# BENCH runs on a device, which may be the simulated one.
set -u
bench=$1
bad=0
T=$(mktemp -d "${TMPDIR:-/tmp}/qfz_bench_XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP

# lines WANTED PATTERN ARGUMENTS...: the table has WANTED lines, and all of them match PATTERN.
lines() {
    wanted=$1
    pattern=$2
    shift 2
    "$bench" gpu --runs 1 "$@" >"$T/out" 2>"$T/err" || { echo "WRONG: $*: $(cat "$T/err")"; bad=1; }
    found=$(tail -n +3 "$T/out" | grep -cE "$pattern")
    if [ "$found" -ne "$wanted" ] || [ "$(wc -l <"$T/out")" -ne $((wanted + 2)) ]; then
        echo "WRONG: $*: $found lines, not $wanted"
        cat "$T/out"
        bad=1
    fi
}

lines 9 '^label +(auto|ha4|stava) +8 binary g(1|4|16) ' --size 40 --connectivity 8
lines 6 '^(label|features) +ha4 +4 binary ' --size 40 --method ha4 --connectivity 4
lines 24 ' white +16 ' --size 70 --generate white --bits 16 --connectivity 8
lines 15 ' fractal +32 ' --size 70 --generate fractal --bits 32 --method auto
lines 10 '^label +(auto|stava|c2fl|ha4|ha4-32) +[48] fractal +8 ' --size 40 --generate fractal --only label
lines 4 '^flattened +connect-v[12] +[48] fractal +8 ' --size 40 --generate fractal --only flattened

# --only takes the name of every line: together, the parts one by one are the whole table.
"$bench" gpu --runs 1 --size 40 --generate fractal | tail -n +3 | cut -d' ' -f1 | sort >"$T/all"
for part in $(uniq "$T/all"); do
    lines "$(grep -cxF -e "$part" "$T/all")" "^$part " --size 40 --generate fractal --only "$part"
done
exit $bad

#!/bin/sh
# SPDX-License-Identifier: MIT
# usage.sh QFZ BENCH - wrong command lines: exit status 2, one line on stderr with the option and the
# reason, nothing on stdout.  Help and versions: exit status 0, nothing on stderr.
# A case is: exit status | arguments | extended regular expression of the line on stderr (status 0:
# of a line on stdout).
set -u
qfz=$1 bench=$2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
bad=0 n=0

fail() {
    echo "$*"
    bad=1
}

# check PROGRAM STATUS ARGUMENTS PATTERN
check() {
    program=$1 want=$2 arguments=$3 pattern=$4
    n=$((n + 1))
    # shellcheck disable=SC2086 # several words
    "$program" $arguments >out 2>err
    got=$?
    [ "$got" = "$want" ] || fail "$arguments: exit status $got, not $want"
    if [ "$want" = 0 ]; then
        grep -qE -e "$pattern" out || fail "$arguments: stdout has no '$pattern'"
        [ ! -s err ] || fail "$arguments: stderr has $(cat err)"
    else
        [ "$(wc -l <err)" = 1 ] || fail "$arguments: $(wc -l <err) lines on stderr, not 1"
        grep -qE -e "$pattern" err || fail "$arguments: stderr is '$(cat err)', not '$pattern'"
        [ ! -s out ] || fail "$arguments: stdout is not empty"
    fi
}

while IFS='|' read -r want arguments pattern; do
    case $want in '' | '#'*) continue ;; esac
    arguments=${arguments# }
    pattern=${pattern# }
    check "$qfz" "${want% }" "${arguments% }" "$pattern"
done <<'CASES'
0 | --version | ^qfz [0-9]+\.[0-9]+\.[0-9]+$
0 | --version | ^GDAL ([0-9]+\.[0-9]+|none)
0 | --version | ^PROJ ([0-9]+\.[0-9]+|none)
0 | --version | ^MPI ([0-9]+\.[0-9]+|none)
0 | --version | ^CUDA ([0-9]+\.[0-9]+|none)
0 | --version | ^compiler [A-Za-z]+ [0-9]
0 | -h | ^  simplify
0 | help | ^  simplify
0 | help label | ^Usage: qfz label
0 | help run | ^Usage: qfz run
0 | help help | ^Usage: qfz help
0 | help --markdown | ^## qfz saliency$
0 | help --markdown cut | ^- `--alpha A\[,A...\]`
0 | help --table | ^label	--alpha	A\[,A...\]$
0 | completion bash | ^complete .* qfz$
0 | label -h | ^Usage: qfz label
0 | run -h | ^Usage: qfz run
0 | run --help | ^Usage: qfz run
0 | run --phase stitch label -h | ^Usage: qfz label
0 | --help | ^  simplify
0 | label --help | ^Usage: qfz label
0 | label --alpha 1 --help | ^  --alpha A
0 | simplify --help | ^  qfz simplify .*--omega
0 | saliency --help | --layout edges
0 | cut --help | SALIENCY DST
0 | curve --help | ^Usage: qfz curve .options. SRC$
0 | info --help | --task label
0 | info --version | ^qfz [0-9]

2 |  | ^qfz: no command given
2 | -x | ^qfz: -x: the first argument must be a command
2 | help lable | ^qfz help: lable: no such command; did you mean label
2 | help --markdown --table | exclude each other
2 | help a b | ^qfz help: b: one argument too many
2 | completion fish | ^qfz completion: fish: no completion
2 | completion | ^qfz completion: arguments are missing
2 | frobnicate | ^qfz: frobnicate: no such command
2 | label | ^qfz label: arguments are missing; usage: qfz label .options. SRC DST$
2 | label -q | ^qfz label: arguments are missing; usage: qfz label .options. SRC DST$
2 | label a.tif | ^qfz label: arguments are missing; usage: qfz label .options. SRC DST$
2 | label a.tif b.tif c.tif | ^qfz label: c.tif: one argument too many
2 | lable a.tif b.tif | ^qfz: lable: no such command; did you mean label. See qfz --help$
2 | label --frob a.tif b.tif | ^qfz label: --frob: no such option; see qfz label --help$
2 | label --alhpa 4 a.tif b.tif | --alhpa: no such option; did you mean --alpha. See qfz label --help$
2 | label -overwrite a.tif b.tif | -overwrite: no such option; did you mean --overwrite. See
2 | label --omga 4 a.tif b.tif | --omga: no such option; see
2 | run --phase resolve labl --alpha 3 a.tif b.tif | ^qfz run: labl: no such task; the tasks are label
2 | label --frob=1 a.tif b.tif | ^qfz label: --frob=1: no such option
2 | label -- -a -b -c | ^qfz label: -c: one argument too many

2 | label --alpha -1 a.tif b.tif | ^qfz label: --alpha -1: must be at least 0$
2 | label --alpha=-1 a.tif b.tif | ^qfz label: --alpha -1: must be at least 0$
2 | label --alpha nan a.tif b.tif | --alpha nan: must be a number, not NaN
2 | label --alpha NaN a.tif b.tif | --alpha NaN: must be a number, not NaN
2 | label --alpha -inf a.tif b.tif | --alpha -inf: must be at least 0
2 | label --alpha 1x a.tif b.tif | --alpha 1x: must be a number
2 | label --alpha 0x10 a.tif b.tif | --alpha 0x10: must be a number
2 | label --alpha 1,x a.tif b_{alpha}.tif | --alpha 1,x: must be a number
2 | label --alpha 1, a.tif b_{alpha}.tif | --alpha 1,: must be a number
2 | check --alpha 1,5 a.tif | --alpha 1,5: must be a number
1 | label --alpha 1,5 a.tif b.tif | ^qfz label: b.tif: with several alphas .* must contain {alpha}
1 | cut --alpha 5,5 a.tif b_{alpha}.tif | alpha 5 is given twice
1 | label --alpha 5 a.tif b_{alpha}.tif | {alpha} in a name is the place of each of several
2 | label --alpha 5,6 --regions-target 9 a.tif b_{alpha}.tif | leave out --alpha
2 | label --alpha 1e999 a.tif b.tif | --alpha 1e999: must be a number
2 | label --alpha= a.tif b.tif | --alpha : must be a number
2 | label --alpha - a.tif b.tif | --alpha -: must be a number
2 | label --alpha --json a.tif b.tif | ^qfz label: --alpha: the value is missing: --alpha A\[,A...\]$
2 | label a.tif b.tif --alpha | ^qfz label: --alpha: the value is missing: --alpha A\[,A...\]$
2 | label --alpha 1 --alpha 2 a.tif b.tif | --alpha 2: the option is given twice
2 | label --json=yes a.tif b.tif | ^qfz label: --json=yes: the option takes no value

2 | label --connectivity 6 a.tif b.tif | --connectivity 6: must be 4 or 8$
2 | label --connectivity 04 a.tif b.tif | --connectivity 04: must be 4 or 8$
2 | label --distance l3 a.tif b.tif | --distance l3: must be l1, l2, linf or sam$
2 | label --distance l a.tif b.tif | --distance l: must be l1, l2, linf or sam$
2 | label --weights 1,2 a.tif b.tif | --weights need --alpha
2 | info --weights 1,2 a.tif b.tif | --weights need --alpha
2 | label --alpha 1 --weights 1,,2 a.tif b.tif | --weights 1,,2: must be a number
2 | label --alpha 1 --weights 1,-2 a.tif b.tif | --weights 1,-2: must be at least 0
2 | cut --alpha 1 --weights 1,2 a.tif b.tif | --weights: not an option of qfz cut
2 | label --gpus 0,x a.tif b.tif | --gpus 0,x: must be numbers of GPUs
2 | label --gpu-memory 50% a.tif b.tif | --gpu-memory 50%: must be a size such as
2 | label --engine gpu a.tif b.tif | --engine gpu: must be auto, cpu or cuda$
2 | label --nodata-rule some a.tif b.tif | must be all or any$
2 | label --nodata none a.tif b.tif | --nodata none: must be a number
2 | label --background nan a.tif b.tif | --background nan: must be a number
2 | label -b 0 a.tif b.tif | -b 0: must be a band, counted from 1
2 | label -b -1 a.tif b.tif | -b -1: must be a band, counted from 1
2 | label -b 1.5 a.tif b.tif | -b 1.5: must be a whole number
2 | label -b 1,x a.tif b.tif | -b 1,x: must be a whole number
2 | label -b 1,,2 a.tif b.tif | -b 1,,2: must be a whole number
2 | label -b 1,0 a.tif b.tif | -b 1,0: must be a band, counted from 1
2 | label -j0 a.tif b.tif | -j 0: must be 1 to
2 | label -j4x a.tif b.tif | -j 4x: must be a whole number
2 | label -q1 a.tif b.tif | -q1: no such option
2 | label -json a.tif b.tif | -json: no such option; did you mean --json
2 | label -b 99999999999999999999 a.tif b.tif | must be a whole number
2 | label --tile 0 a.tif b.tif | --tile 0: must be 1 to
2 | label --tile 4294967297 a.tif b.tif | --tile 4294967297: must be 1 to
2 | label -j 0 a.tif b.tif | -j 0: must be 1 to
2 | label --memory 2XB a.tif b.tif | --memory 2XB: must be a size
2 | label --memory 0 a.tif b.tif | --memory 0: must be a size
2 | label --memory -1GB a.tif b.tif | --memory -1GB: must be a size
2 | label --memory 101% a.tif b.tif | --memory 101%: must be a size
2 | label --memory GB a.tif b.tif | --memory GB: must be a size
2 | label --memory 99999999TB a.tif b.tif | must be a size
2 | label -co TILED a.tif b.tif | -co TILED: must be KEY=VALUE
2 | label -co =YES a.tif b.tif | -co =YES: must be KEY=VALUE
2 | label -oo X a.tif b.tif | -oo X: must be KEY=VALUE
2 | label --config GDAL_NUM_THREADS | --config: the value is missing: --config KEY=VALUE$
2 | label --config A | --config: the value is missing
2 | label --config =B a.tif b.tif | --config =B: must be KEY=VALUE
2 | label --config=A a.tif b.tif | --config A: must be KEY=VALUE
2 | label --config= a.tif b.tif | --config : must be KEY=VALUE
2 | label --co=TILED a.tif b.tif | -co TILED: must be KEY=VALUE
2 | label --mask= a.tif b.tif | --mask : must not be empty

2 | label --omega 3 a.tif b.tif | ^qfz label: --omega: not an option of qfz label, but of qfz simplify$
2 | label --generate white a.tif b.tif | --generate: not an option of qfz label, but of qfz-bench$
2 | label --labels l.tif a.tif b.tif | --labels: not an option of qfz label, but of qfz simplify
2 | label --layout pixel a.tif b.tif | --layout: not an option of qfz label, but of qfz saliency
2 | simplify --background 0 --omega 1 a.tif b.tif | --background: not an option of qfz simplify, but of qfz label
2 | simplify a.tif b.tif | ^qfz simplify: --alpha and --omega are missing
2 | simplify --omega -3 a.tif b.tif | --omega -3: must be at least 0
2 | simplify --omega 1,nan a.tif b.tif | --omega 1,nan: must be a number, not NaN
2 | simplify --omega 1,,2 a.tif b.tif | --omega 1,,2: must be a number
2 | simplify --omega 1, a.tif b.tif | --omega 1,: must be a number
2 | saliency --omega 1 a.tif b.tif | --omega: not an option of qfz saliency
2 | saliency --regions r.csv a.tif b.tif | --regions: not an option of qfz saliency
2 | saliency --layout rows a.tif b.tif | must be edges, pixel or khalimsky$
2 | cut a.tif b.tif | ^qfz cut: --alpha is missing
2 | cut --alpha 2 --regions-target 9 a.tif b.tif | leave out --alpha
2 | cut --count-only --regions-target 0 a.tif | --regions-target 0: must be 1
2 | cut --alpha 1 --connectivity 8 a.tif b.tif | --connectivity: not an option of qfz cut
2 | cut --alpha 1 | ^qfz cut: arguments are missing; usage: qfz cut .options. SALIENCY DST$
2 | label --count-only | ^qfz label: arguments are missing; usage: qfz label .options. SRC$
2 | label --count-only a.tif b.tif | b.tif: one argument too many; --count-only writes no output
2 | label --count-only --regions r.csv a.tif | --regions: not with --count-only
2 | saliency --count-only a.tif | --count-only: not an option of qfz saliency
2 | curve a.tif b.tif | b.tif: one argument too many
2 | curve --alpha 1 a.tif | --alpha: not an option of qfz curve
2 | curve --format xml a.tif | must be text, csv or json$
2 | cut --alpha 1 --method ha4 a.tif b.tif | --method: not an option of qfz cut, but of qfz label, qfz simplify, qfz saliency$
2 | label --plot p.png a.tif b.tif | --plot: not an option of qfz label, but of qfz curve
2 | info --ranks 0 a.tif | --ranks 0: must be N or N,M
2 | info --ranks 4,8 a.tif | --ranks 4,8: must be
2 | info --ranks 4,x a.tif | --ranks 4,x: must be
2 | label --ranks 4 a.tif b.tif | --ranks: not an option of qfz label
2 | info --count-only | ^qfz info: arguments are missing
2 | info | ^qfz info: arguments are missing
2 | info --task all a.tif | must be label, simplify, saliency, cut, curve, regions or tree$
2 | info --omega 1 a.tif | --omega: not an option of qfz label, but of qfz simplify
2 | info --task saliency --omega 1 a.tif | --omega: not an option of qfz saliency
2 | info --task cut a.tif | ^qfz info: --alpha is missing

# Correct command lines: the job fails, since its source is missing.
1 | label none.tif out.tif | ^qfz label: .*none.tif
1 | label none.tif --alpha inf out.tif | ^qfz label: .*none.tif
1 | label --nodata -9999 --background -1 none.tif out.tif | ^qfz label: .*none.tif
1 | label --nodata=nan -co A=B -co C=D -b 1 -b 2 none.tif out.tif | ^qfz label: .*none.tif
1 | label --memory 1.5GiB -j 2 -- none.tif out.tif | ^qfz label: .*none.tif
1 | label --memory 50% --config A B none.tif out.tif | ^qfz label: .*none.tif
1 | label -- -none.tif -out.tif | ^qfz label: .*-none.tif
1 | label -j1 -b1 -b 2,3 none.tif out.tif | ^qfz label: .*none.tif
1 | label --config A=B --config C D --config=E=F none.tif out.tif | ^qfz label: .*none.tif
1 | label -co A=B --co C=D --co=E=F -oo A=B --oo C=D --oo=E=F none.tif out.tif | ^qfz label: .*none.tif
1 | label -of GTiff -ot UInt32 none.tif out.tif | ^qfz label: .*none.tif
1 | label --of=GTiff --ot UInt32 none.tif out.tif | ^qfz label: .*none.tif
1 | label --quiet --mask=m.tif --memory=1GB --tile=64 --engine=cpu none.tif out.tif | ^qfz label: .*none.tif
1 | run -j 2 --phase=stitch --work w label none.tif out.tif | ^qfz label: .*none.tif
1 | run --config A B --phase stitch --work w label none.tif out.tif | ^qfz label: .*none.tif
1 | label --count-only none.tif | ^qfz label: .*none.tif
1 | curve --format=csv -o c.csv --plot p.png none.tif | ^qfz curve: .*none.tif
1 | info --task curve none.tif | ^qfz info: .*none.tif
2 | tree a.tif b.tif | ^qfz tree: arguments are missing
2 | tree --alpha 3 a.tif b.tif c.csv | --alpha: not an option of qfz tree
1 | tree none.tif b.tif c.csv | ^qfz tree: .*none.tif
1 | info --task tree none.tif | ^qfz info: .*none.tif
1 | info --task tree none.tif b.tif c.csv | ^qfz info: .*none.tif
2 | info --task label none.tif b.tif c.csv | only for --task tree
1 | info none.tif | ^qfz info: .*none.tif
CASES

while IFS='|' read -r want arguments pattern; do
    case $want in '' | '#'*) continue ;; esac
    arguments=${arguments# }
    check "$bench" "${want% }" "${arguments% }" "${pattern# }"
done <<'CASES'
0 | --help | ^Usage: qfz-bench
0 | label --generate binary --size 64 --runs 1 -j 1 | ^label +cpu +1 +4 +8 +1 +64x64
0 | tree --generate ramp --size 33 --bits 16 --runs 2 --json | "median_ms":
2 |  | ^qfz-bench: arguments are missing; usage: qfz-bench .options. PART
2 | frob --generate white | ^qfz-bench: PART must be label
2 | tree | ^qfz-bench: needs FILE or --generate
2 | tree a.tif --generate white | not both
2 | tree a.tif --size 10 | with --generate only
2 | tree --generate white -b 1 | -b is for FILE
2 | tree --generate black | must be binary, white, fractal, flat or ramp$
2 | tree --generate white --size 0 | --size 0: must be 1 to
2 | tree --generate white --bits 12 | must be 8, 16 or 32$
2 | tree --generate white --density 101 | --density 101: must be 0 to 100
2 | tree --generate white --method bke | --method bke: must be auto, stava, c2fl, ha4, ha4-32, connect-v1 or connect-v2$
2 | tree --generate white --runs 0 | --runs 0: must be 1 to
1 | tree none.tif | ^qfz-bench: .*none.tif
CASES

if [ -c /dev/full ]; then
    "$qfz" label --version >/dev/full 2>err
    [ $? = 1 ] && grep -q 'stdout' err || fail "a full disk behind stdout was not noticed"
fi

echo "$n command lines"
exit $bad

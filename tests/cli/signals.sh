#!/bin/sh
# SPDX-License-Identifier: MIT
# signals.sh QFZ - Ctrl-C, SIGTERM and SIGUSR1 during a run: one line on stderr, no output, no
# temporary file.
. "$(dirname "$0")/lib.sh"

# Noise in many small blocks, so that reading takes long enough for a signal.
python3 - "$T" <<'PYTHON'
import random, sys
random.seed(5)
n = 3000
open(sys.argv[1] + "/noise.pgm", "wb").write(b"P5 %d %d 255\n" % (n, n) + random.randbytes(n * n))
PYTHON
gdal_translate -q -co TILED=YES -co BLOCKXSIZE=64 -co BLOCKYSIZE=64 "$T/noise.pgm" "$T/noise.tif"

# stopped SIGNAL WHEN COMMAND...: sends SIGNAL after WHEN seconds or, if WHEN is a pattern of file
# names, once such a file has content.
in_time=0
stopped() {
    signal=$1
    when=$2
    shift 2
    checks=$((checks + 1))
    # python: a shell's background job would ignore SIGINT
    rc=0
    python3 - "$signal" "$when" "$T/stdout" "$T/stderr" "$@" <<'PYTHON' || rc=$?
import glob, os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[1])
signal.signal(signal.SIGINT, signal.SIG_DFL)

def is_caught(pid):  # the program has installed its handler
    with open("/proc/%d/status" % pid) as status:
        caught = [line for line in status if line.startswith("SigCgt:")]
    return not caught or int(caught[0].split()[1], 16) >> (number - 1) & 1

def is_written(pattern):
    try:
        return any(os.path.getsize(path) for path in glob.glob(pattern))
    except FileNotFoundError: # the job creates and removes the file to test the folder
        return False

with open(sys.argv[3], "wb") as out, open(sys.argv[4], "wb") as err:
    p = subprocess.Popen(sys.argv[5:], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
    while p.poll() is None and not is_caught(p.pid):
        time.sleep(0.005)
    if "*" in sys.argv[2]:
        while p.poll() is None and not is_written(sys.argv[2]):
            time.sleep(0.005)
    else:
        time.sleep(float(sys.argv[2]))
    if p.poll() is not None:
        sys.exit(200)  # the run ended before the signal
    p.send_signal(number)
    try:
        p.wait(20)
    except subprocess.TimeoutExpired:
        p.kill()
        sys.exit(201)
sys.exit(p.returncode if p.returncode >= 0 else 128 - p.returncode)
PYTHON
    case $rc in
    200) echo "too fast to be stopped: $2 at $when" ;;
    201) wrong "SIG$signal: still running after 20 s: $*" ;;
    0) wrong "SIG$signal: exit status 0: $*" ;;
    *) if [ "$(wc -l <"$T/stderr")" -ne 1 ]; then wrong "SIG$signal: not one line on stderr: $*"; fi ;;
    esac
    if [ -s "$T/stdout" ]; then wrong "SIG$signal: something on stdout: $*"; fi
    if [ "$rc" -eq 200 ]; then
        rm -rf "$T/out/"*
        return
    fi
    in_time=$((in_time + 1))
    nothing_left "SIG$signal: $*"
}

for signal in INT TERM USR1; do
    for seconds in 0.3 0.8; do
        stopped $signal $seconds "$qfz" label --alpha 3 --tile 4 "$T/noise.tif" "$T/out/dst.tif"
        stopped $signal $seconds "$qfz" saliency --tile 8 "$T/noise.tif" "$T/out/dst.tif"
        stopped $signal $seconds "$qfz" simplify --tile 8 --alpha 20 --omega 60 \
            --labels "$T/out/labels.tif" --regions "$T/out/r.gpkg" "$T/noise.tif" "$T/out/dst.tif"
    done
done

# Writing the table of a million regions takes most of the time.
gdal_translate -q -srcwin 0 0 1200 1200 "$T/noise.tif" "$T/some.tif"
for table in r.csv r.gpkg; do
    before=$in_time
    stopped TERM "$T/out/.r-*" "$qfz" label --regions "$T/out/$table" \
        "$T/some.tif" "$T/out/dst.tif"
    if [ "$in_time" -eq "$before" ] || [ "$rc" -ne 143 ]; then wrong "in $table: status $rc"; fi
done

# With --work the message names the folder to resume from.
before=$in_time
stopped INT 0.3 "$qfz" simplify --tile 8 --alpha 20 --omega 60 --work "$T/work" "$T/noise.tif" \
    "$T/out/dst.tif"
if [ "$in_time" -gt "$before" ] && ! grep -q 'Ctrl-C; --resume continues from' "$T/stderr"; then
    wrong "Ctrl-C with --work: not a word of --resume"
fi
if [ "$in_time" -eq 0 ]; then wrong "every run was over before it could be stopped"; fi
finish

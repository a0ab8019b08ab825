#!/bin/sh
# SPDX-License-Identifier: MIT
# signals.sh QFZ PROGRAM - Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 while the program is loaded and during a
# run, once and twice, and the limit of file sizes: one line on stderr, no output, no temporary file.
. "$(dirname "$0")/lib.sh"
program=$2

# Noise in many small blocks, so that reading takes long enough for a signal.
python3 - "$T" <<'PYTHON'
import random, sys
random.seed(5)
n = 3000
open(sys.argv[1] + "/noise.pgm", "wb").write(b"P5 %d %d 255\n" % (n, n) + random.randbytes(n * n))
PYTHON
gdal_translate -q -co TILED=YES -co BLOCKXSIZE=64 -co BLOCKYSIZE=64 "$T/noise.pgm" "$T/noise.tif"

# stopped SIGNAL WHEN COMMAND...: sends SIGNAL after WHEN seconds or, if WHEN is a pattern of file
# names, once such a file has content; twice if $again is a number of seconds, the pause.
in_time=0
again=
stopped() {
    signal=$1
    when=$2
    shift 2
    checks=$((checks + 1))
    # python: a shell's background job would ignore SIGINT
    rc=0
    AGAIN=$again python3 - "$signal" "$when" "$T/stdout" "$T/stderr" "$@" <<'PYTHON' || rc=$?
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
    for _ in range(1000):
        if p.poll() is not None or is_caught(p.pid):
            break
        time.sleep(0.005)
    if "*" in sys.argv[2]:
        while p.poll() is None and not is_written(sys.argv[2]):
            time.sleep(0.005)
    else:
        time.sleep(float(sys.argv[2]))
    if p.poll() is not None:
        sys.exit(200)  # the run ended before the signal
    p.send_signal(number)
    if os.environ["AGAIN"]:
        time.sleep(float(os.environ["AGAIN"]))
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

for signal in INT TERM HUP USR1; do
    for seconds in 0.3 0.8; do
        stopped $signal $seconds "$qfz" label --alpha 3 --tile 4 "$T/noise.tif" "$T/out/dst.tif"
        stopped $signal $seconds "$qfz" saliency --tile 8 "$T/noise.tif" "$T/out/dst.tif"
        stopped $signal $seconds "$qfz" simplify --tile 8 --alpha 20 --omega 60 \
            --labels "$T/out/labels.tif" --regions "$T/out/r.gpkg" "$T/noise.tif" "$T/out/dst.tif"
    done
done

# A signal twice, as timeout(1) sends it: to its child and to the group.
for again in 0 0.005 0.05; do
    before=$in_time
    stopped TERM "$T/out/.dst-*" "$qfz" saliency --tile 64 "$T/noise.tif" "$T/out/dst.tif"
    if [ "$in_time" -gt "$before" ] && [ "$rc" -ne 143 ]; then wrong "SIGTERM twice: status $rc"; fi
done
again=

# A limit of file sizes: the write fails, and SIGXFSZ does not end the process.
name="limit of file sizes"
limited() {
    ulimit -f 100
    exec "$@"
}
checks=$((checks + 1))
rc=0
(limited "$qfz" saliency "$T/noise.tif" "$T/out/dst.tif") 2>"$T/stderr" || rc=$?
if [ "$rc" -ne 1 ] || [ "$(wc -l <"$T/stderr")" -ne 1 ] || ! grep -q "dst.tif.*too large" "$T/stderr"; then
    wrong "$name: status $rc"
fi
nothing_left "$name"

# A signal before main() is entered: a job with a journal ends with the status of one to be resumed.
if ldd "$qfz" 2>/dev/null | grep -qE 'lib(a|t|ub)san' || ! command -v cc >/dev/null; then
    leave_out "signals before main(): needs cc and a build without sanitizers"
else
    echo '#include <signal.h>
        __attribute__((constructor)) static void early(void) { (void)raise(SIGTERM); }' >"$T/early.c"
    cc -shared -fPIC -o "$T/early.so" "$T/early.c"
    checks=$((checks + 1))
    run env LD_PRELOAD="$T/early.so" "$qfz" label --work "$T/early" "$T/noise.tif" "$T/out/dst.tif"
    if [ "$rc" -ne 75 ] || ! grep -q 'SIGTERM; --resume continues from' "$T/stderr"; then
        wrong "SIGTERM before main(): status $rc"
    fi
    nothing_left "SIGTERM before main()"
    run env LD_PRELOAD="$T/early.so" "$qfz" info "$T/noise.tif"
    if [ "$rc" -ne 143 ]; then wrong "info, SIGTERM before main(): status $rc"; fi
    rm -f "$T/early.so"
fi

# A signal while the program is loaded.  Here a script sends the signal, and then loads the program.
if [ "$qfz" = "$program" ]; then
    leave_out "signals while the program is loaded: no program of its own starts it here"
else
    mkdir "$T/bin"
    cp "$qfz" "$T/bin/qfz"
    ln -s bin/qfz "$T/link"
    there=$T/bin/$(realpath --relative-to "$(dirname "$qfz")" "$program")
    run "$T/link" --version
    if [ "$rc" -ne 1 ] || ! grep -q "^qfz: $there: No such file or directory; cmake --install" "$T/stderr"; then
        wrong "no program: status $rc"
    fi
    mkdir -p "$(dirname "$there")"
    for signal in INT TERM HUP USR1; do
        printf '#!/bin/sh\nkill -%s $$\nexec "%s" "$@"\n' $signal "$program" >"$there"
        chmod +x "$there"
        checks=$((checks + 1))
        case $signal in
        INT) status=130 ;;
        *) status=75 ;;
        esac
        rm -rf "$T/loading"
        run "$T/link" label --work "$T/loading" "$T/noise.tif" "$T/out/dst.tif"
        if [ "$rc" -ne $status ] || ! grep -q '; --resume continues from' "$T/stderr"; then
            wrong "SIG$signal while the program is loaded: status $rc"
        fi
        nothing_left "SIG$signal while the program is loaded"
    done
fi

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

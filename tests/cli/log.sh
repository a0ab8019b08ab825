#!/bin/sh
# SPDX-License-Identifier: MIT
# log.sh QFZ - the log as JSON (--log json) and the file of --metrics: right after a job that
# succeeds, that fails and that is refused.
. "$(dirname "$0")/lib.sh"

grid "$T/in.tif" <<'ROWS'
1 1 2
3 1 2
ROWS

# logged PYTHON: every line of stderr is an object; PYTHON is true of the list `lines` of them.
logged() {
    checks=$((checks + 1))
    python3 - "$T/stderr" "$1" <<'PYTHON' || wrong "log of $what: $1"
import json, re, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for line in lines:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"]), line
    assert line["command"].startswith("qfz "), line
assert eval(sys.argv[2]), lines
PYTHON
}

# measured NAME VALUE: the file of --metrics is well formed and has one metric NAME of this VALUE.
measured() {
    checks=$((checks + 1))
    python3 - "$T/job.prom" "$1" "$2" <<'PYTHON' || wrong "metrics of $what: $1 is not $2"
import re, sys
found, typed = {}, set()
for line in open(sys.argv[1]):
    if line.startswith("# TYPE "):
        name, kind = line.split()[2:]
        assert kind in ("gauge", "counter") and name not in typed, line
        typed.add(name)
    elif not line.startswith("# HELP "):
        name, labels, value = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\.)*",?)+)\} (\S+)\n', line).groups()
        assert name in typed and name not in found, line
        found[name] = float(value)
assert found["qfz_job_start_time_seconds"] <= found["qfz_job_update_time_seconds"]
assert found["qfz_job_" + sys.argv[2]] == float(sys.argv[3]), found
PYTHON
}

what=label
run "$qfz" label --log json --metrics "$T/job.prom" "$T/in.tif" "$T/out.tif"
logged 'len(lines) == 1 and lines[0]["event"] == "end" and lines[0]["status"] == 0'
logged 'lines[0]["report"]["regions"] == 3 and lines[0]["report"]["retries"] == 0'
measured running 0
measured done_ratio 1
measured exit_status 0
measured regions 3
measured retries_total 0

# The file is replaced, and a name is quoted.
what="a name with quotes"
cp "$T/in.tif" "$T/a \"b\" \\ c.tif"
run "$qfz" label --count-only --log=json --metrics "$T/job.prom" "$T/a \"b\" \\ c.tif"
logged 'lines[0]["report"]["src"].endswith(r"""/a "b" \ c.tif""")'
measured regions 3

what="a job that fails"
run "$qfz" label --log json --metrics "$T/job.prom" "$T/missing.tif" "$T/x.tif"
logged '[line["event"] for line in lines] == ["message", "end"]'
logged '"missing.tif" in lines[0]["message"] and lines[1]["status"] == 1 and "report" not in lines[1]'
measured exit_status 1
measured running 0

what="one phase"
run "$qfz" run --phase summarise --part 1/1 --work "$T/work" label --log json --metrics "$T/job.prom" \
    "$T/in.tif" "$T/phases.tif"
logged 'lines[-1]["status"] == 0 and lines[-1]["next_phase"] == "stitch"'
measured exit_status 0

# -q leaves out all but messages.
what="a quiet job"
run "$qfz" label -q --log json --overwrite "$T/in.tif" "$T/out.tif"
logged 'lines == []'

refused "a folder that is missing" 'nowhere/job.prom: No such file' \
    "$qfz" label --metrics "$T/nowhere/job.prom" "$T/in.tif" "$T/out/a.tif"
refused "a device" '/dev/null: not a regular file' \
    "$qfz" label --metrics /dev/null "$T/in.tif" "$T/out/a.tif"
refused "the source" 'in\.tif: the output would replace an input' \
    "$qfz" label --metrics "$T/in.tif" "$T/in.tif" "$T/out/a.tif"
refused "another form" 'must be text or json' \
    "$qfz" label --log xml "$T/in.tif" "$T/out/a.tif"

finish

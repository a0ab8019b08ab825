#!/bin/sh
# SPDX-License-Identifier: MIT
# json.sh QFZ - stdout: one JSON object with --json, nothing without it; version and help.
. "$(dirname "$0")/lib.sh"

grid "$T/in.tif" <<'ROWS'
1 1 2
3 1 2
ROWS
"$qfz" saliency -q "$T/in.tif" "$T/hierarchy.tif" || wrong "saliency"

# has KEY[=VALUE]...: $T/stdout is one object with these keys.
has() {
    checks=$((checks + 1))
    python3 - "$T/stdout" "$@" <<'PYTHON' || wrong "JSON of $what"
import json, sys
text = open(sys.argv[1]).read()
found = json.loads(text)
assert isinstance(found, dict), found
for pair in sys.argv[2:]:
    key, _, value = pair.partition("=")
    assert key in found, (key, found)
    assert not value or str(found[key]) == value, (key, found[key], value)
PYTHON
}

what=label
run "$qfz" label --json "$T/in.tif" "$T/label.tif"
has regions=3 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
checks=$((checks + 1))
python3 - "$T/stdout" <<'PYTHON' || wrong "steps of label"
import json, sys
found = json.load(open(sys.argv[1]))
names = [step["name"] for step in found["steps"]]
assert names == ["start", "pass 1 of 2", "stitching", "pass 2 of 2", "end"], names
total = sum(step["seconds"] for step in found["steps"])
assert abs(total - found["seconds"]) < 1e-9, (total, found["seconds"])
PYTHON
# The peak is that of qfz, not that of a program of 600 MB that starts it.
checks=$((checks + 1))
python3 - "$qfz" "$T/in.tif" "$T/peak.tif" <<'PYTHON' || wrong "peak memory"
import json, subprocess, sys
large = bytearray(b"x") * 600_000_000
done = subprocess.run([sys.argv[1], "label", "--json", "--metrics", sys.argv[3] + ".prom", *sys.argv[2:]],
                      stdout=subprocess.PIPE, check=True)
peak = json.loads(done.stdout)["peak_rss_bytes"]
assert 10_000_000 < peak < 500_000_000, (peak, len(large))
written, = [float(line.split()[-1]) for line in open(sys.argv[3] + ".prom") if line.startswith("qfz_job_peak_memory_bytes{")]
assert peak <= written < 500_000_000, (peak, written)
PYTHON
what=simplify
run "$qfz" simplify --json --alpha 1 --omega 1 "$T/in.tif" "$T/simplify.tif"
has regions=2 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
what=saliency
run "$qfz" saliency --json "$T/in.tif" "$T/saliency.tif"
has regions=0 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
what=cut
run "$qfz" cut --json --alpha 1 "$T/hierarchy.tif" "$T/cut.tif"
has regions=2 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
what="label that only counts"
run "$qfz" label --count-only "$T/in.tif"
has command=label regions=3 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
what="simplify that only counts"
run "$qfz" simplify --count-only --alpha 1 --omega 1 "$T/in.tif"
has command=simplify regions=2 pixels=6 width=3 height=2 tiles engine=cpu seconds peak_rss_bytes
what="cut that only counts"
run "$qfz" cut --count-only --alpha 1 "$T/hierarchy.tif"
has command=cut regions=2 pixels=6
what=info
run "$qfz" info --json "$T/in.tif"
has
# 3 x 2 pixels in tiles of 1 pixel: two rows of 3 tiles.  Each of 2 ranks has one row; of 5 ranks
# three have none.
# A build without CUDA said how long a GPU would take.
if "$qfz" --version | grep -qx 'CUDA none'; then
    what="info without CUDA"
    has engine=cpu engine_reason="this build has no CUDA engine"
fi
what="info of ranks"
run "$qfz" info --json --tile 1 --memory 100MB --ranks 2,2 "$T/in.tif"
has ranks=2 ranks_per_node=2 tiles_per_rank=3 pixels_per_rank=3 memory_bytes_per_node=200000000 \
    record_bytes=0 work_bytes
run "$qfz" info --json --tile 1 --ranks 5 "$T/in.tif"
has ranks=5 ranks_per_node=1 tiles_per_rank=3
run "$qfz" info --tile 1 --ranks 5 "$T/in.tif"
checks=$((checks + 1))
if ! grep -q 'only 2 ranks get tiles' "$T/stdout"; then wrong "info says nothing of idle ranks"; fi
# A work folder holds the outputs of all alphas, which the plan counted once.
what="info of several alphas"
run "$qfz" info --json --tile 1 --distance linf --alpha 1 "$T/in.tif"
one=$(sed -n 's/^ *"work_bytes": \([0-9]*\),$/\1/p' "$T/stdout")
run "$qfz" info --json --tile 1 --distance linf --alpha 1,2,3 "$T/in.tif"
has work_bytes=$((3 * one))
what="info of a quicklook"
run "$qfz" info --json --quicklook q.png "$T/in.tif" out.tif
has "outputs" picture_bytes picture_seconds attributes_bytes=0
if ! grep -q '"q.png"' "$T/stdout"; then wrong "the quicklook is no output"; fi
what="info of a hierarchy"
run "$qfz" info --task tree "$T/in.tif" zones.tif tree.csv
if ! grep -q '^output   tree\.csv: table$' "$T/stdout"; then wrong "info does not name the table of the hierarchy"; fi
what="info of an attribute table"
run "$qfz" info --regions r.csv --attribute-table "$T/in.tif" out.tif
if ! grep -q '^         the largest attribute table: [0-9]* MB' "$T/stdout"; then wrong "no attribute table"; fi
what="info of a bucket"
run env TMPDIR=/var/tmp "$qfz" info --allow-network "$T/in.tif" /vsis3/bucket/out.tif
if ! grep -q '^stage    /var/tmp: ' "$T/stdout"; then wrong "no stage"; fi
# The estimate for each of two ranks is half of the estimate for one process.
what="info of time"
time_of() { python3 -c 'import json, sys; print(json.load(sys.stdin)["seconds"])' <"$T/stdout"; }
run "$qfz" info --json --tile 1 -j 1 "$T/in.tif"
alone=$(time_of)
run "$qfz" info --json --tile 1 -j 1 --ranks 2 "$T/in.tif"
checks=$((checks + 2))
python3 -c 'import sys; one, two = map(float, sys.argv[1:]); assert one == 2 * two > 0' "$alone" \
    "$(time_of)" || wrong "info: $alone seconds alone, $(time_of) of two ranks"
run "$qfz" info --tile 1 "$T/in.tif"
if ! grep -q '^time     about 1 s, ' "$T/stdout"; then wrong "info says nothing of time"; fi
what="info of regions"
run "$qfz" label -q "$T/in.tif" "$T/plan_labels.tif"
run "$qfz" info --json --task regions -j 2 --table "$T/plan.csv" --stats "$T/in.tif" --colors "$T/plan_colors.tif" \
    "$T/plan_labels.tif"
has task=regions type=integers width=3 height=2 passes=2 ranks=1 threads=2 seconds memory_bytes
checks=$((checks + 1))
python3 -c 'import json, sys; outputs = json.load(sys.stdin)["outputs"]
assert [o["format"] for o in outputs] == ["table", "GTiff"] and outputs[1]["width"] == 3' <"$T/stdout" ||
    wrong "info of regions has other outputs"
what="label of a name that needs quoting"
cp "$T/in.tif" "$T/a \"b\" \\ c.tif"
run "$qfz" label --json "$T/a \"b\" \\ c.tif" "$T/x \"y\".tif"
has regions=3

checks=$((checks + 4))
run "$qfz" label "$T/in.tif" "$T/quiet.tif"
if [ "$rc" -ne 0 ] || [ -s "$T/stdout" ]; then wrong "label without --json writes to stdout"; fi
if [ "$(values "$T/quiet.tif")" != "1 1 2 3 1 2 " ]; then wrong "labels: $(values "$T/quiet.tif")"; fi
if [ "$(values "$T/cut.tif")" != "1 1 1 2 1 1 " ]; then wrong "cut: $(values "$T/cut.tif")"; fi
run "$qfz" label -q "$T/in.tif" "$T/quieter.tif"
if [ "$rc" -ne 0 ] || [ -s "$T/stdout" ] || [ -s "$T/stderr" ]; then wrong "-q is not quiet"; fi

# Without a terminal there is no progress bar and no control character.
checks=$((checks + 1))
run "$qfz" label --overwrite --tile 1 "$T/in.tif" "$T/quieter.tif"
if [ "$(wc -l <"$T/stderr")" -ne 1 ] || LC_ALL=C grep -q '[[:cntrl:]]\|0\.\.\.10' "$T/stderr"; then
    wrong "a log is not one line of text: $(cat "$T/stderr")"
fi

checks=$((checks + 2))
run "$qfz" --version
if [ "$rc" -ne 0 ] || ! grep -q '[0-9]\.[0-9]' "$T/stdout"; then wrong "--version"; fi
run "$qfz" --help
if [ "$rc" -ne 0 ] || ! grep -q simplify "$T/stdout"; then wrong "--help"; fi
for task in label simplify saliency cut curve check info; do
    checks=$((checks + 1))
    run "$qfz" $task --help
    if [ "$rc" -ne 0 ] || ! grep -q "qfz $task" "$T/stdout"; then wrong "$task --help"; fi
    if ! grep -qi example "$T/stdout"; then wrong "$task --help has no example"; fi
done

# Every field that is printed has a text in the help.
documented() {
    checks=$((checks + 1))
    python3 - "$T/stdout" "$T/help" <<'PYTHON' || wrong "JSON of $1: fields without a text in the help"
import json, re, sys
found = json.load(open(sys.argv[1]))
texts = open(sys.argv[2]).read().split("Fields of the JSON object:")[1].split("Example")[0]
names = set(re.findall(r"^  ([a-z_]+)", texts, re.MULTILINE))
assert set(found) <= names, set(found) - names
PYTHON
}
for task in label info; do
    run "$qfz" help $task
    cp "$T/stdout" "$T/help"
    run "$qfz" $task --json --overwrite --regions "$T/regions.csv" "$T/in.tif" "$T/label.tif"
    documented $task
done

# A result that cannot be printed is a failure.
if [ -c /dev/full ]; then
    checks=$((checks + 1))
    rc=0
    "$qfz" label -q --overwrite --json "$T/in.tif" "$T/label.tif" >/dev/full 2>"$T/stderr" || rc=$?
    if [ "$rc" -ne 1 ] || ! grep -q 'stdout' "$T/stderr"; then wrong "stdout is full: status $rc"; fi
fi
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# torture.sh QFZ DATA [LIMIT] - every odd or damaged raster of DATA/torture as the source of every
# command: a valid output, or one line on stderr; never a crash, a hang or a leftover file.
# LIMIT=no (for sanitizers): no limit of the address space, and no raster with one huge tile.
. "$(dirname "$0")/lib.sh"
data=$2/torture
limit=${3:-yes}
[ -d "$data" ] || skip "no folder $data"
cp -r "$data" "$T/in"   # side files may be written next to a raster
chmod -R u+w "$T/in"
cp "$(dirname "$0")/torture_one.sh" "$T/one.sh"
gdal_create -q -of GTiff -outsize 9 9 -bands 1 -burn 3 "$T/plain.tif"
for task in label simplify saliency layouts cut info; do
    for f in "$T"/in/*; do
        case $limit:$task:$f in
        no:label:*single_block_*.jp2) continue ;;
        *:simplify:*single_block_*.jp2 | *:saliency:*single_block_*.jp2 | *:layouts:*single_block_*.jp2)
            continue ;; # label is enough
        *.md | *.TXT | *.tfw | *.tab | *.aux.xml | *.hdr) continue ;;
        esac
        printf '%s\n%s\n' "$task" "$f"
    done
done >"$T/list"
tr '\n' '\0' <"$T/list" | xargs -0 -P 2 -n 2 sh "$T/one.sh" "$qfz" "$T" "$limit" >"$T/report"
cat "$T/report"
checks=$(($(wc -l <"$T/list") / 2))
failures=$(grep -c '^WRONG' "$T/report")
if [ "$(grep -c . "$T/list")" -lt 300 ]; then wrong "only $checks runs"; fi
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# live-pages.sh OUT [BUILD] - makes the pages of qfz explore that docs/user/live.md links to, in the
# folder OUT.  BUILD: a folder with a built qfz and make_scene; default: the first of build and
# build-test that has both.  Without these, or where qfz was built without Emscripten, it says so, and
# OUT gets pages that say so.  All scenes come from make_scene.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1:?usage: tools/live-pages.sh OUT [BUILD]}
build=${2-}
for folder in "$root/build" "$root/build-test"; do
    if [ -z "$build" ] && [ -x "$folder/apps/qfz" ] && [ -x "$folder/data/make_scene" ]; then
        build=$folder
    fi
done
mkdir -p "$out"
out=$(realpath "$out")

# skipped REASON: pages without a scene, so that no link of the site is broken.
skipped() {
    echo "live-pages: skipped: $1" >&2
    for name in fields swath relief; do
        cat >"$out/$name.html" <<HTML
<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>qfz explore</title>
<body style="font: 16px/1.5 sans-serif; margin: 2rem auto; max-width: 40rem; padding: 0 1rem">
<p>This copy of the documentation was built without the page of this scene. An installed qfz makes such a page of any raster:</p>
<pre>qfz explore --distance linf scene.tif scene.html</pre></body></html>
HTML
    done
    exit 0
}

[ -n "$build" ] || skipped "no built qfz and make_scene in build or build-test"
[ -x "$build/apps/qfz" ] && [ -x "$build/data/make_scene" ] || skipped "no built qfz and make_scene in $build"
qfz=$(realpath "$build/apps/qfz")
make_scene=$(realpath "$build/data/make_scene")
command -v gdal_translate >/dev/null || skipped "needs gdal_translate"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" # the names of the scenes are on the pages

# The scene of the tutorial: fields, a river, woods.  Two windows.
"$make_scene" scene.tif --size 2000x1500 --bands 3 --bits 8 --seed 7
if ! "$qfz" explore -q --no-curve --window 0,0,1,1 scene.tif try.html 2>why; then
    grep -q QFZ_WEB why || { cat why >&2; exit 1; }
    skipped "this build of qfz has no page; it needs Emscripten"
fi
"$qfz" explore -q --distance linf -b 3,2,1 --window 700,500,600,450 --window 100,100,512,512 scene.tif \
    fields.html

# The corner of a swath, with nodata; four bands of 16 bits.
"$make_scene" swath.tif --size 900x900 --bands 4 --seed 3 --collar
"$qfz" explore -q --distance linf --window 0,0,512,512 swath.tif swath.html

# A smooth surface in metres, interpolated from a coarse scene; one band of floats.
"$make_scene" coarse.tif --size 28x28 --bands 1 --seed 5
gdal_translate -q -ot Float32 -r cubicspline -outsize 512 512 -scale 1000 1800 0 800 coarse.tif relief.tif
"$qfz" explore -q --distance linf relief.tif relief.html

mv fields.html swath.html relief.html "$out"
echo "live-pages: $out: fields.html swath.html relief.html"

#!/bin/bash
# SPDX-License-Identifier: MIT
# release.sh BUILD PROGRAM... - tools/release.sh makes the same files twice, under other settings of the
# user; sums, owners and times are right; the SPDX document is (check_sbom.py), and a damaged one is not.
set -euo pipefail
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
for tool in git gzip python3 readelf; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# A copy inside another repository is not the project's.
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null) && [ -z "$(git -C "$root" rev-parse --show-prefix)" ] ||
    { echo "skipped: not a git repository of its own"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$*"
    exit 1
}

release=$root/tools/release.sh
(umask 022 && TZ=UTC "$release" --build "$build" "$commit" "$work/one") >/dev/null
(umask 077 && cd / && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$release" --build "$build" "$commit" "$work/two") >/dev/null
diff -r "$work/one" "$work/two" || fail "two releases of one commit differ"
(cd "$work/one" && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" -eq "$(($(ls | wc -l) - 1))" ]) ||
    fail "SHA256SUMS"

tarball=$(echo "$work"/one/*.tar.gz)
name=$(basename "$tarball" .tar.gz)
tar --numeric-owner --full-time -tvf "$tarball" >"$work/list"
awk '{print $2, $4, $5}' "$work/list" | sort -u >"$work/owners"
[ "$(wc -l <"$work/owners")" -eq 1 ] && grep -q '^0/0 ' "$work/owners" ||
    fail "owners and times in the tarball: $(head -3 "$work/owners")"
awk '{print $6}' "$work/list" | grep -v "^$name/" && fail "the tarball has these outside of $name/"
tar -x -C "$work" -f "$tarball"
diff <(cd "$work/$name" && find . -type f -o -type l | sed 's|^\./||' | LC_ALL=C sort) \
    <(git -C "$root" ls-tree -r --name-only --full-tree -z "$commit" | tr '\0' '\n' | LC_ALL=C sort) ||
    fail "the tarball has other files than the commit"

document=$work/one/$name.spdx.json
python3 "$here/check_sbom.py" "$document" "$work/$name" "$@" || fail "the SPDX document is wrong"
echo more >>"$work/$name/LICENSE"
python3 "$here/check_sbom.py" "$document" "$work/$name" >/dev/null && fail "a changed file was not found"
sed 's/"name": "libgomp[^"]*"/"name": "libother"/; s/"name": "libomp[^"]*"/"name": "libother"/' "$document" >"$work/other.json"
git -C "$root" show "$commit:LICENSE" >"$work/$name/LICENSE"
python3 "$here/check_sbom.py" "$work/other.json" "$work/$name" "$@" >/dev/null &&
    fail "a missing library was not found"

"$release" --build "$build" no-such-tag "$work/three" 2>/dev/null && fail "released what is not there"
"$release" --build "$build" "$commit" "$work/one" 2>/dev/null && fail "released into a folder with files"
echo "$name: $(wc -l <"$work/list") entries"

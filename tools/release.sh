#!/bin/bash
# SPDX-License-Identifier: MIT
# release.sh [--build DIR] COMMIT FOLDER - makes a release of a tag or a commit: in FOLDER, a tarball of the
# source, its SPDX document (tools/sbom.py) and SHA256SUMS.  The same commit gives the same bytes,
# whoever runs it, and wherever.
#
# Builds the tarball twice, in two folders, and compares command, libraries and all other installed
# files (tools/reproducible.sh).  --build DIR: does not; the build in DIR says what is linked.
set -euo pipefail
export LC_ALL=C TZ=UTC
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
umask 022

build=
if [ "${1-}" = --build ] && [ $# -ge 2 ]; then
    build=$(cd "$2" && pwd)
    shift 2
fi
if [ $# -ne 2 ]; then
    echo "usage: tools/release.sh [--build DIR] COMMIT FOLDER" >&2
    exit 2
fi
fail() {
    echo "release.sh: $*" >&2
    exit 1
}

cd "$here/.."
commit=$(git rev-parse --verify --quiet "$1^{commit}") || fail "$1: no tag or commit of this repository"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
when=$(git log -1 --format=%ct "$commit")
version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(qfz VERSION \([0-9.]*\).*/\1/p')
[ -n "$version" ] || fail "$1: no version in CMakeLists.txt"
if [[ $1 == v[0-9]* ]] && [ "$1" != "v$version" ]; then
    fail "$1: the version in CMakeLists.txt is $version"
fi
name=qfz-$version

work=$(mktemp -d "${TMPDIR:-/tmp}/qfz_release_XXXXXX")
trap 'rm -rf "$work"' EXIT
git archive --format=tar --prefix="$name/" "$commit" | tar -x -C "$work"
tar --create --directory "$work" --format=ustar --sort=name --mtime="@$when" --owner=0 --group=0 \
    --numeric-owner --mode='u+rwX,go+rX,go-w' "$name" | gzip -9 -n >"$folder/$name.tar.gz"
if [ -z "$build" ]; then
    "$here/reproducible.sh" "$folder/$name.tar.gz" "$work/twice"
    build=$work/twice/a/build
fi
python3 "$here/sbom.py" "$work/$name" "$build" "$when" >"$folder/$name.spdx.json"
(cd "$folder" && sha256sum "$name.spdx.json" "$name.tar.gz" >SHA256SUMS && cat SHA256SUMS)

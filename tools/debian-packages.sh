#!/bin/bash
# SPDX-License-Identifier: MIT
# debian-packages.sh [--try ROOT] - builds the Debian packages libqfz1, libqfz-dev, qfz and
# python3-qfz into build-deb/.  With --try, as root: installs them in ROOT, a clean Debian system
# of this machine's release (as from debootstrap), and runs the command and the Python package there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=
if [ "${1-}" = --try ] && [ $# -eq 2 ]; then
    root=$2
elif [ $# -ne 0 ]; then
    echo "usage: tools/debian-packages.sh [--try ROOT]" >&2
    exit 2
fi

cmake -S . -B build-deb -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
    -DQFZ_GDAL=ON
cmake --build build-deb -j "$(nproc)"
rm -f build-deb/*.deb
(cd build-deb && cpack -G DEB)
# The maintainer's address is that of whoever builds the packages: -DCPACK_PACKAGE_CONTACT.
if command -v lintian >/dev/null; then
    mail=bogus-mail-host,bogus-mail-host-in-debian-changelog
    lintian --allow-root --fail-on error --suppress-tags "$mail" build-deb/*.deb
fi
[ -n "$root" ] || exit 0

mkdir -p "$root/tmp/qfz"
cp build-deb/*.deb examples/small.asc "$root/tmp/qfz/"
chroot "$root" apt-get update -q
chroot "$root" sh -ec 'apt-get install -y -q --no-install-recommends /tmp/qfz/*.deb'
chroot "$root" qfz --version
chroot "$root" qfz label --overwrite /tmp/qfz/small.asc /tmp/qfz/labels.tif
chroot "$root" python3 -c '
import qfz
assert qfz.label([[1, 1, 2]])[1] == 2
report = qfz.label_file("/tmp/qfz/small.asc", "/tmp/qfz/python.tif", distance="l1", overwrite=True)
print("python3-qfz:", report.regions, "regions")'
chroot "$root" cmp /tmp/qfz/labels.tif /tmp/qfz/python.tif
chroot "$root" test -e /usr/include/qfz.h
echo "the packages work in $root"

#!/bin/bash
# SPDX-License-Identifier: MIT
# build-site.sh [BUILD] - builds the documentation as a site; a link to a page that is missing is an error.
# The test docs_links looks at all links and anchors.  MkDocs (1.4 or later) is that of the distribution.
# The pages of user/live come from the qfz in BUILD (tools/live-pages.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v mkdocs >/dev/null || {
    echo "build-site.sh: mkdocs is not installed (Debian and Ubuntu: the package mkdocs)" >&2
    exit 1
}
mkdocs build --strict --quiet
tools/live-pages.sh build-site/user/live "${@:1:1}"
echo "build-site/index.html"

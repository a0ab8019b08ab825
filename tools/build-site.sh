#!/bin/bash
# SPDX-License-Identifier: MIT
# build-site.sh [FOLDER [BUILD]] - builds the documentation as a site; a broken link is an error.
# MkDocs comes from PATH, or is installed into a virtual environment in FOLDER (default: build-site-env).
# The pages of user/live come from the qfz in BUILD (tools/live-pages.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
env=${1:-build-site-env}

if ! command -v mkdocs >/dev/null; then
    if [ ! -x "$env/bin/mkdocs" ]; then
        python3 -m venv "$env"
        "$env/bin/pip" install -q 'mkdocs==1.6.1'
    fi
    PATH=$PWD/$env/bin:$PATH
fi
mkdocs build --strict --quiet
tools/live-pages.sh build-site/user/live "${@:2:1}"
echo "build-site/index.html"

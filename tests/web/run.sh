#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: run.sh WEB model|browser [TEST.mjs]: types and tests of the page's model, or a test in the browser. Skips where tools are missing, unless
# CI is set.
set -euo pipefail
web=$1 what=$2

lacking() {
    if [ -n "${CI:-}" ]; then
        echo "error: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 77 # what ctest takes for a skipped test
}

command -v node >/dev/null || lacking "Node.js is missing (Debian: nodejs)"
[ -d "$web/node_modules" ] || lacking "web/node_modules is missing: run 'npm ci' in web/"
if [ "$what" = model ]; then
    cd "$web"
    node node_modules/typescript/bin/tsc --noEmit
    node build.mjs --tests "$TUTTI_OUT/model"
    cd "$TUTTI_OUT/model"
    exec node --test
fi
[ -x "${TUTTI_CHROMIUM:-}" ] || lacking "Chromium is missing (Debian: chromium)"
exec node "$3"

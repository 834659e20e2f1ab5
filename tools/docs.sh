#!/usr/bin/env bash
# Builds the documentation as a site of static files in build/docs/html: the
# guides, the specification, the design records, and the reference of the C API,
# the dialect, the passes and the environment variables. Open index.html; it and
# the search need neither a web server nor a network.
#
# usage: tools/docs.sh
#
# Installs Debian's packages that are missing. Exits 1 if a link is broken, a page
# is in no section of the navigation, or a symbol has no description; the last
# line has the counts.
set -euo pipefail
cd "$(dirname "$0")/.."

python=/usr/bin/python3   # The one that Debian's packages belong to.
out=build/docs
site=$out/html
start=$SECONDS

step() { printf '\n==> %s (%d s)\n' "$*" $((SECONDS - start)); }

tools/setup.sh --docs
rm -rf "$out"
mkdir -p "$out"

step "Reading the C headers"
doxygen tools/docs/Doxyfile

step "Writing the pages of the reference"
$python tools/docs/sources.py --self-test
$python tools/docs/sources.py "$out/sources"

step "Building the site"
# Every warning is an error: a link without a target, a page in no section.
$python -m sphinx -q -n -W --keep-going -j auto -b html -c tools/docs \
  -d "$out/doctrees" "$out/sources/pages" "$site"
sed -i 's#/javascript/normalize.css/#../#' "$site/_static/styles/furo.css"

step "Checking the site"
$python tools/docs/check_site.py --self-test
$python tools/docs/check_site.py "$site" "$out/sources/expected.json"

step "Done: $site/index.html"

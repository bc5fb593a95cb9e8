#!/usr/bin/env bash
# Fetches the JavaScript libraries of the HTML report at pinned versions into
# src/report/assets/vendor, as their authors built them. Needs npm and a network; builds need
# neither.
set -euo pipefail

vendor="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/src/report/assets/vendor"
d3=7.9.2
plot=0.6.17

scratch="$(mktemp --directory)"
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
npm install --silent --no-save --no-package-lock --ignore-scripts \
  "d3@$d3" "@observablehq/plot@$plot"
cp node_modules/d3/dist/d3.min.js "$vendor/d3.min.js"
cp node_modules/d3/LICENSE "$vendor/d3.LICENSE"
cp node_modules/@observablehq/plot/dist/plot.umd.min.js "$vendor/plot.umd.min.js"
cp node_modules/@observablehq/plot/LICENSE "$vendor/plot.LICENSE"

#!/bin/sh
# Bundles the page's libraries into api/page/files/vendor, with their licences. Run by `make vendor`.
set -eu
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund
for name in preact force markdown; do
    npx esbuild "$name.js" --bundle --minify --format=esm --target=es2022 --legal-comments=none \
        --outfile="../files/vendor/$name.js" --log-level=warning
done
for name in preact htm d3-force d3-dispatch d3-quadtree d3-timer marked; do
    echo "$name $(node -p "require('./node_modules/$name/package.json').version")"
    echo
    cat "node_modules/$name"/LICEN[CS]E*
    echo
done > ../files/vendor/LICENSES.txt
rm -rf node_modules

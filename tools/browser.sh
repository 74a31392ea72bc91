#!/bin/sh
# Make sure that a browser is there for the tests of the report; elsewhere than in CI they can do without.
set -eu
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "== installing a browser for the tests of the report"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium fonts-liberation >/dev/null && exit 0
  echo "   it does not install here: the browser tests say so" >&2
else
  echo "   no browser: the browser tests are skipped; to run them: sudo apt-get install chromium" >&2
fi

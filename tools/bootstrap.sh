#!/bin/sh
# Make the virtual environment, after making sure that a compiler, Python's headers and venv are there.
# Missing Debian packages are installed when we are root; otherwise the exact line to run is named.
set -eu
python=$1
venv=$2

need=""
command -v g++ >/dev/null 2>&1 || need="$need g++"
command -v "$python" >/dev/null 2>&1 || need="$need python3"
if command -v "$python" >/dev/null 2>&1; then
  "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || need="$need python3-venv"
  header=$("$python" -c 'import os, sysconfig; print(os.path.join(sysconfig.get_paths()["include"], "Python.h"))')
  [ -f "$header" ] || need="$need python3-dev"
fi
if [ -n "$need" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "== installing system packages:$need"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $need >/dev/null
  else
    echo "surefit needs these system packages; run: sudo apt-get install$need" >&2
    exit 1
  fi
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "surefit needs Python 3.11 or newer, and $python is $("$python" --version 2>&1); run: make PYTHON=python3.11" >&2
  exit 1
}
[ -x "$venv/bin/python" ] || { echo "== creating $venv"; "$python" -m venv "$venv"; }

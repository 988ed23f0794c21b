#!/bin/sh
# Make .venv with the first Python that is new enough, unless a working one is there.
# PYTHON=/path/to/python chooses another.
set -eu

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

works() {
    "$1" -c "$new_enough" >/dev/null 2>&1
}

if works .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; then
    exit 0
fi

if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3.13 python3.12 python3.11 python3 python
fi

found=
for candidate in "$@"; do
    works "$candidate" || continue
    found=$candidate
    "$candidate" -c 'import venv, ensurepip' >/dev/null 2>&1 || continue
    echo "Making .venv with $("$candidate" --version) …"
    exec "$candidate" -m venv --clear .venv
done

if [ -n "$found" ]; then
    echo "$found cannot make a virtual environment: its venv module is missing." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv" >&2
else
    echo "Python 3.11 or newer is needed, and none of these is one: $*" >&2
    echo "Install it (Debian, Ubuntu: apt-get install python3 python3-venv), or say PYTHON=/path/to/python." >&2
fi
exit 1

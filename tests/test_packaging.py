"""What a stranger gets: the pinned releases, the lock file of npm, the script that makes .venv, the wheel."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def needed(distribution: str, seen: set[str]) -> set[str]:
    """The distribution and all that it needs here, extras only where this project asks for them."""
    name = re.sub(r"[-_.]+", "-", distribution).lower()
    if name in seen:
        return seen
    seen.add(name)
    for requirement in metadata.requires(distribution) or []:
        wanted, _, marker = requirement.partition(";")
        asked_for = "extra" not in marker or (name == "hermes-acp-agent" and "dev" in marker)
        package = re.match(r"[\w.-]+", wanted)
        if package and asked_for and is_installed(package[0]):
            needed(package[0], seen)
    return seen


def is_installed(distribution: str) -> bool:
    return any(True for _ in metadata.distributions(name=distribution))


def test_constraints_pin_every_package_that_is_needed_and_nothing_of_one_machine() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.!+]+", pin)] == []
    pinned = {re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower() for pin in pins}
    assert needed("hermes-acp-agent", set()) - {"hermes-acp-agent"} - pinned == set()


def test_the_npm_lock_file_names_no_host_and_fits_its_package_file() -> None:
    folder = ROOT / "tests" / "clients"
    lock = (folder / "package-lock.json").read_text(encoding="utf-8")
    assert re.findall(r"https?://(?!registry\.npmjs\.org/)[^\"]*", lock) == []
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert json.loads(lock)["packages"][""]["dependencies"] == wanted


def run_venv_script(folder: Path, pythons: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run scripts/venv.sh in an empty folder where the only programs are the given shell scripts."""
    programs = folder / "a path with spaces"
    programs.mkdir()
    for name, text in pythons.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    shell = shutil.which("sh") or "/bin/sh"
    script = [shell, str(ROOT / "scripts" / "venv.sh")]
    environment = {"PATH": str(programs)}
    return subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_without_a_python_that_is_new_enough_the_reason_is_said(tmp_path: Path) -> None:
    result = run_venv_script(tmp_path, {"python3": "exit 1"})
    assert result.returncode == 1
    assert "Python 3.11 or newer is needed" in result.stderr


def test_a_python_without_venv_is_named_with_what_to_install(tmp_path: Path) -> None:
    lacks_venv = 'case "$2" in *ensurepip*) exit 1;; esac'
    result = run_venv_script(tmp_path, {"python3.12": lacks_venv})
    assert result.returncode == 1
    assert "python3.12 cannot make a virtual environment" in result.stderr
    assert "apt-get install python3-venv" in result.stderr


def test_a_python_that_does_not_start_is_passed_over(tmp_path: Path) -> None:
    makes = 'case "$1" in -m) /bin/mkdir .venv;; --version) echo Python 3.11.9;; esac'
    result = run_venv_script(tmp_path, {"python3.13": "exit 127", "python3": makes})
    assert result.returncode == 0, result.stderr
    assert (tmp_path / ".venv").is_dir()


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "hermes_acp").rglob("*") if is_shipped(path)}
    assert {name for name in names if ".dist-info/" not in name} == files
    assert any(name.endswith("licenses/LICENSE") for name in names)


def is_shipped(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"

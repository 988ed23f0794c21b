"""The entry of the ACP registry, held to what the registry checks."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tomllib
import venv
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import hermes_acp

ROOT = Path(__file__).parent.parent.parent
ENTRY = ROOT / "editors" / "registry"
SECONDS = 60.0
"""What the registry's check gives an agent for its first line."""

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": 1,
        "clientInfo": {"name": "ACP Registry Validator", "version": "1.0.0"},
        "clientCapabilities": {
            "terminal": True,
            "fs": {"readTextFile": True, "writeTextFile": True},
            "_meta": {"terminal_output": True, "terminal-auth": True},
        },
    },
}
"""What that check says to it."""


def agent() -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((ENTRY / "agent.json").read_text(encoding="utf-8"))
    return entry


def test_the_entry_has_what_the_registry_asks_for_and_nothing_that_it_does_not_know() -> None:
    entry = agent()
    known = {"id", "name", "version", "description", "repository", "authors", "license", "icon", "distribution"}
    assert {"id", "name", "version", "description", "distribution"} <= entry.keys() <= known
    assert re.fullmatch(r"[a-z][a-z0-9-]*", entry["id"])
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", entry["version"])
    assert entry["name"]
    assert entry["description"]
    [(kind, distribution)] = entry["distribution"].items()
    assert kind == "uvx"
    assert distribution.keys() == {"package", "args"}


def test_every_place_that_has_the_version_has_the_same() -> None:
    entry = agent()
    shown = subprocess.run([sys.executable, "-m", "hermes_acp", "--version"], capture_output=True, timeout=30)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert entry["version"] == hermes_acp.__version__
    assert shown.stdout.decode() == f"hermes-acp {entry['version']}\n"
    assert project["tool"]["hatch"]["version"]["path"] == "hermes_acp/__init__.py"
    assert entry["distribution"]["uvx"]["package"] == f"{project['project']['name']}=={entry['version']}"
    assert entry["license"] == project["project"]["license"]


def test_the_launch_is_a_script_of_the_package_with_arguments_that_it_takes() -> None:
    entry = agent()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert entry["distribution"]["uvx"]["package"].partition("==")[0] in project["scripts"]
    assert entry["distribution"]["uvx"]["args"] == ["--stdio"]


def test_the_icon_is_small_square_and_takes_the_colour_of_its_surroundings() -> None:
    icon = ElementTree.parse(ENTRY / "icon.svg").getroot()
    assert (icon.get("width"), icon.get("height"), icon.get("viewBox")) == ("16", "16", "0 0 16 16")
    colours = {element.get(name) for element in icon.iter() for name in ("fill", "stroke")} - {None}
    assert colours == {"none", "currentColor"}
    assert not [element for element in icon.iter() if element.get("style") or element.tag.endswith("}style")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of the wheel of this tree, in an environment that holds nothing else.

    What answers first needs nothing but Python, so that no package has to be fetched.
    """
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / "bin"
    install = [scripts / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return scripts / agent()["distribution"]["uvx"]["package"].partition("==")[0]


@pytest.mark.slow
def test_the_wheel_passes_the_check_of_the_registry(installed: Path, tmp_path: Path) -> None:
    answer = checked([str(installed), *agent()["distribution"]["uvx"]["args"]], tmp_path)
    assert answer["id"] == HELLO["id"]
    methods = answer["result"]["authMethods"]
    assert {method.get("type", "agent") for method in methods} & {"agent", "terminal"}
    assert all(method["id"] and method["name"] for method in methods)
    assert answer["result"]["agentInfo"]["version"] == agent()["version"]
    assert list(tmp_path.iterdir()) == []


def checked(command: list[str], home: Path) -> dict[str, Any]:
    """The first line that an agent writes, in an empty home and without keys."""
    env = {"PATH": os.defpath, "HOME": str(home), "TERM": "dumb"}
    assert shutil.which(command[0])
    with subprocess.Popen(
        command, cwd=home, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], SECONDS)[0]
        line = process.stdout.readline()
        process.kill()
    answer: dict[str, Any] = json.loads(line)
    return answer

"""The tools in the surroundings a graphical editor gives them: no locale, no PATH, no HOME."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = """
    import asyncio, os, sys
    from pathlib import Path
    from hermes_acp.local import paths
    from hermes_acp.local.workspace import LocalWorkspace
    from hermes_acp.tools.base import ToolContext
    from hermes_acp.tools.registry import discover

    async def main():
        workspace = LocalWorkspace(paths.decode(os.fsencode(sys.argv[1])))
        async def call(name, **arguments):
            tool = discover()[name]
            args = tool.params.model_validate(arguments)
            tool.paths(args, workspace)
            return (await (await tool.prepare(args, ToolContext("c", workspace))).run())
        text = "h\\u00e9llo \\U0001f4ab \\u4f60\\u597d\\n"
        await call("write_file", path="d \\u00e9/50% \\u4f60.txt", content=text)
        await call("patch", path="d \\u00e9/50% \\u4f60.txt", old_text="h\\u00e9llo", new_text="\\u2590 ok")
        results = [
            await call("read_file", path="d \\u00e9/50% \\u4f60.txt"),
            await call("search_files", pattern="\\u4f60\\u597d"),
            await call("search_files", pattern="ok", path="d \\u00e9/50% \\u4f60.txt"),
            await call("list_files"),
            await call("list_files", path="d \\u00e9"),
            await call("terminal", command="pwd; echo \\u2590 \\U0001f4ab; cat d*/*; printf 'caf\\\\351\\\\n'"),
        ]
        try:
            await call("read_file", path="d \\u00e9/50% \\u4f61.txt")
        except Exception as error:
            results.append(error)
        await workspace.aclose()
        for result in results:
            sys.stdout.buffer.write(getattr(result, "text", str(result)).encode() + b"\\n--\\n")
    asyncio.run(main())
"""

C_LOCALE = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}
BARE = {"PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize(
    "environment",
    [C_LOCALE | BARE, POSIX | BARE, {"LANG": "C", "PYTHONUTF8": "0"}, BARE, {}],
    ids=["c", "posix", "no-path", "no-home", "empty"],
)
def test_everything_works_whatever_the_surroundings(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "My Proj (1) é"
    folder.mkdir()
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(SCRIPT), str(folder)]
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=30)
    assert ran.stderr.decode() == ""
    name = "d é/50% 你.txt"
    assert (folder / name).read_bytes() == "▐ ok 💫 你好\n".encode()
    assert ran.stdout.decode().split("\n--\n")[:-1] == [
        "     1\t▐ ok 💫 你好",
        f"{name}:1:▐ ok 💫 你好",
        f"{name}:1:▐ ok 💫 你好",
        f"d é/\n{name}",
        "50% 你.txt",
        f"{folder}\n▐ 💫\n▐ ok 💫 你好\ncaf\ufffd\n[exit code 0]",
        f"d é/50% \u4f61.txt does not exist. Did you mean: {name}?",
    ]

"""The headless editor: starts the agent on a copy of the sample project and shows what happens."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from hermes_acp.demo.client import AcpClient, AgentError, AgentGone
from hermes_acp.demo.palette import Palette, printable
from hermes_acp.demo.person import AtTerminal, Nobody, Option, Person
from hermes_acp.demo.render import Conversation
from hermes_acp.demo.wrapping import columns, wrapped

SAMPLE = Path(__file__).parent / "sample"
PROMPT = "The tests of this project fail. Find out why and repair it."
INTERRUPTED = 130
_CHOICES_OF_MODEL = (
    "HERMES_ACP_PROVIDER",
    "HERMES_ACP_MODEL",
    "HERMES_ACP_BASE_URL",
    "HERMES_ACP_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
)


def run(argv: Sequence[str], called: str = "hermes-acp demo") -> int:
    """Run the demo; 0 when the tests of the sample pass at its end, 130 after Ctrl-C. `called` is shown as its name."""
    options = _options(argv, called)
    palette = Palette(_wants_colour(os.environ))
    try:
        with scratch(keep=options.keep) as folder:
            return asyncio.run(play(options, palette, folder))
    except KeyboardInterrupt:
        return INTERRUPTED


@contextmanager
def scratch(*, keep: bool) -> Iterator[Path]:
    """A new folder with a copy of the sample in `till` and a place for the agent's state in `home`."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-acp-demo-")).resolve()
    shutil.copytree(SAMPLE, folder / "till", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "home").mkdir()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


class Editor:
    """What the agent sees of an editor: it shows what comes, and asks the person what the agent asks."""

    def __init__(self, conversation: Conversation, person: Person) -> None:
        self._conversation = conversation
        self._person = person
        self._asking = asyncio.Lock()
        self._interrupted = asyncio.Event()

    @property
    def was_interrupted(self) -> bool:
        return self._interrupted.is_set()

    def notified(self, method: str, params: Any) -> None:
        if method == "session/update":
            write(self._conversation.update(params["update"]))

    async def permit(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer `session/request_permission`; questions are asked one at a time."""
        async with self._asking:
            write(self._conversation.question(params))
            option = await self._choice(params["options"])
        if option is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}

    def interrupt(self, client: AcpClient, session_id: str) -> None:
        """Cancel the turn, and what is being asked with it; the second time, end the agent."""
        if self.was_interrupted:
            client.kill()
        self._interrupted.set()
        client.notify("session/cancel", {"sessionId": session_id})

    async def _choice(self, options: Sequence[Option]) -> Option | None:
        choice = asyncio.ensure_future(self._person.choose(options))
        interruption = asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait({choice, interruption}, return_when=asyncio.FIRST_COMPLETED)
            return choice.result() if choice.done() else None
        finally:
            choice.cancel()
            interruption.cancel()


async def play(options: argparse.Namespace, palette: Palette, folder: Path) -> int:
    """Show the agent at work, then run the tests; the exit code of the demo."""
    began = time.monotonic()
    project, home = folder / "till", folder / "home"
    environment = agent_environment(options, os.environ, home)
    conversation = Conversation(palette, str(project), columns)
    editor = Editor(conversation, person(options))
    write(beginning(palette, environment, project))
    is_ended = False
    try:
        async with agent(editor, environment, project, home / "agent.log") as client:
            problem = await turn(client, editor, project)
            is_ended = True
    except (AgentError, AgentGone) as error:
        problem = f"{error}\n{_tail(home / 'agent.log')}".rstrip()
    write(conversation.end() + (f"\n{palette.bad(printable(problem))}\n" if problem else ""))
    passed = tests_pass(project) if is_ended else None
    kept = f"The copy is kept in {project}" if options.keep else "The copy is removed (--keep keeps it)"
    write(ending(palette, passed, f"{time.monotonic() - began:.1f} s. {kept}."))
    if editor.was_interrupted:
        return INTERRUPTED
    return 0 if passed and not problem else 1


def person(options: argparse.Namespace) -> Person:
    """Whoever sits at the terminal, unless nobody does or `--yes` says not to ask."""
    return AtTerminal(write) if sys.stdin.isatty() and not options.yes else Nobody(write)


@asynccontextmanager
async def agent(editor: Editor, environment: Mapping[str, str], project: Path, log: Path) -> AsyncIterator[AcpClient]:
    """The agent as a child process, connected to the editor; ended when the block is left."""
    with log.open("wb") as errors:
        client = await AcpClient.start(
            [sys.executable, "-m", "hermes_acp", "--stdio"],
            env=environment,
            cwd=project,
            log=errors,
            handlers={"session/request_permission": editor.permit},
            on_notification=editor.notified,
        )
        try:
            yield client
        finally:
            await client.close()


async def turn(client: AcpClient, editor: Editor, project: Path) -> str:
    """One session with one prompt; why it did not end as it should, "" when it did."""
    await client.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    session = await client.request("session/new", {"cwd": str(project), "mcpServers": []})
    session_id = session["sessionId"]
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, editor.interrupt, client, session_id)
    try:
        prompt = [{"type": "text", "text": PROMPT}]
        result = await client.request("session/prompt", {"sessionId": session_id, "prompt": prompt})
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    reason = result["stopReason"]
    return "" if reason == "end_turn" else f"The turn ended early: {reason}."


def tests_pass(project: Path) -> bool:
    """Whether the tests of the project pass, by a run of our own."""
    command = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 0


def beginning(palette: Palette, environment: Mapping[str, str], project: Path) -> str:
    """The first lines: which model answers, where, and what it is asked."""
    provider = environment.get("HERMES_ACP_PROVIDER") or environment.get("HERMES_ACP_BASE_URL", "")
    model = environment.get("HERMES_ACP_MODEL", "")
    head = palette.strong(f"hermes-acp demo · {provider} {model}".rstrip())
    width = columns()
    where = "\n".join(map(palette.quiet, wrapped(f"a copy of the sample project is in {project}", width)))
    prompt = "\n".join(map(palette.strong, wrapped(PROMPT, width and width - 2)))
    return f"{head}\n{where}\n\n{palette.place('>')} {prompt}\n"


def ending(palette: Palette, passed: bool | None, remark: str) -> str:
    """The last line: whether the tests pass now; None when the agent did not come to an end of its work."""
    if passed is None:
        verdict = palette.bad("✗ The agent could not do its work.")
    else:
        verdict = palette.good("✓ The tests pass.") if passed else palette.bad("✗ The tests fail.")
    remarks = wrapped(remark, columns())
    joint = " " if len(remarks) == 1 else "\n"
    return f"\n{verdict}{joint}" + "\n".join(map(palette.quiet, remarks)) + "\n"


def agent_environment(options: argparse.Namespace, environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of the agent: a home of its own, and the rules as its model unless another is named."""
    chosen = {
        "HERMES_ACP_PROVIDER": options.provider,
        "HERMES_ACP_MODEL": options.model,
        "HERMES_ACP_BASE_URL": options.base_url,
    }
    named = {name: value for name, value in chosen.items() if value}
    result = {**environment, **named, "HERMES_ACP_HOME": str(home)}
    result["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environment.get("PATH", os.defpath)])
    if not any(result.get(name) for name in _CHOICES_OF_MODEL):
        result["HERMES_ACP_PROVIDER"] = "demo"
    return result


def write(text: str) -> None:
    """Write to the terminal at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _options(argv: Sequence[str], called: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=called,
        description="Watch the agent repair a small project, in this terminal. Without a model, rules play its part.",
    )
    parser.add_argument(
        "--provider", default="", help="a model's provider; 'demo' for the rules, also when there is a key"
    )
    parser.add_argument("--model", default="", help="its model")
    parser.add_argument("--base-url", default="", help="its address")
    parser.add_argument("--yes", action="store_true", help="allow what the agent asks for, once each time")
    parser.add_argument("--keep", action="store_true", help="keep the copy of the project")
    return parser.parse_args(list(argv))


def _wants_colour(environment: Mapping[str, str]) -> bool:
    return sys.stdout.isatty() and not environment.get("NO_COLOR")


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.exists() else ""

"""Asks the person about what a project brings, and says what of it may be used."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.prompt.guidance import guidance_files
from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.skills import find_project_skills
from hermes_acp.agent.trust import TRUST, Brought, Trust, digest_at
from hermes_acp.cards import Location
from hermes_acp.errors import TurnCancelled
from hermes_acp.events import Notice
from hermes_acp.host import ApprovalRequest, Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely
from hermes_acp.mcp.project import ProjectServers, read_project
from hermes_acp.mcp.servers import Servers
from hermes_acp.text import visible

_AT_ONCE = 50
_UNASKED = "Not used, since nobody could be asked whether it may be"
"""So many things are asked about in one question, each by its name."""


@dataclass(frozen=True, slots=True)
class _Matter:
    """What one question is about. `place` is what "never" is said of."""

    place: Path
    title: str
    why: str
    brought: Sequence[Brought]


async def settle_project(trust: Trust, talk: Conversation, servers: Servers, host: Host) -> list[Notice]:
    """Before a turn: ask about what the project brings that the person has not decided about, and let the session have
    the servers' tools, the project's too where they agreed. What the person should know."""
    workspace = talk.workspace
    notices = await ask_about_texts(trust, workspace.roots, host, prompted=bool(talk.system))
    found, told = await ask_about_servers(trust, workspace.cwd, host)
    servers.adopt(found)
    notices += told + await servers.join()
    talk.toolbox = servers.added_to(talk.toolbox)
    return notices


async def adopt_agreed(trust: Trust, folder: Path, servers: Servers) -> None:
    """Start the servers of the project that the person has agreed to before, without a question."""
    servers.adopt(await asyncio.to_thread(lambda: _agreed(trust, read_project(folder))))


async def ask_about_texts(trust: Trust, roots: tuple[Path, ...], host: Host, *, prompted: bool) -> list[Notice]:
    """Ask about what would instruct the agent, if there is anything new; what the person should know of the answer.

    Args:
        prompted: whether the session's prompt is made already, so that files for agents are not read any more.
    """
    texts = await asyncio.to_thread(lambda: list(brought_texts(roots, guidance=not prompted)))
    matter = _Matter(
        roots[0],
        "Let this project's files for agents instruct the agent",
        "They steer what the agent does, and were not agreed to as they are",
        texts,
    )
    return await _ask(trust, matter, host)


async def ask_about_servers(trust: Trust, folder: Path, host: Host) -> tuple[ProjectServers, list[Notice]]:
    """Ask about the MCP servers that a project names, if they are new; those that may be started, and what the person
    should know."""
    found = await asyncio.to_thread(read_project, folder)
    matter = _Matter(
        found.file,
        "Start the MCP servers that this project names",
        "They run as you and outside the sandbox, and were not agreed to as they are",
        [Brought(found.file, found.digest, found.words)],
    )
    notices = await _ask(trust, matter, host)
    return await asyncio.to_thread(_agreed, trust, found), notices


def brought_texts(roots: Sequence[Path], *, guidance: bool = True) -> Iterator[Brought]:
    """What the session's folders hold that would instruct the agent: skills, and files for agents."""
    paths = guidance_files(roots) if guidance else []
    skills = [skill.folder for skill in find_project_skills(roots)]
    yield from (Brought(path, digest_at(path)) for path in dict.fromkeys([*paths, *skills]))


def _agreed(trust: Trust, found: ProjectServers) -> ProjectServers:
    if trust.agreed(found.file, found.digest):
        return found
    return ProjectServers(found.file, problem=found.problem)


async def _ask(trust: Trust, matter: _Matter, host: Host) -> list[Notice]:
    """Ask, unless it is decided; a question that was closed is not put again in the session.

    Raises:
        TurnCancelled: the person closed it.
    """
    undecided = (await asyncio.to_thread(trust.undecided, matter.brought, matter.place))[:_AT_ONCE]
    if not undecided:
        return []
    answer = await host.approve(_question(matter, undecided, await asyncio.to_thread(trust.trusted)))
    try:
        await surely(asyncio.to_thread(trust.settle, undecided, matter.place, answer.decision))
    except OSError as error:
        reason = f"{error.strerror or error}"
        return [Notice("warning", "Your answer about the project's files was not kept", reason)]
    if answer.decision == "cancelled":
        raise TurnCancelled("The user ended the turn.")
    if answer.decision == "unavailable":
        names = ", ".join(visible(str(one.path)) for one in undecided)
        return [Notice("warning", _UNASKED, f"{names}. `hermes-acp-agent trust add PATH` agrees to it.")]
    return []


def _question(matter: _Matter, undecided: Sequence[Brought], trusted: Mapping[str, str]) -> ApprovalRequest:
    names = [f"{visible(str(one.path))}{' (changed)' if str(one.path) in trusted else ''}" for one in undecided]
    words = [visible(line) for one in undecided for line in one.words]
    return ApprovalRequest(
        call_id=new_id(TRUST),
        tool=TRUST,
        title=matter.title,
        kind="read",
        effect="read",
        reason="\n\n".join([f"{matter.why}: {', '.join(names)}.", *words]),
        cwd=str(matter.place),
        locations=tuple(Location(str(one.path)) for one in undecided),
        always="these files as they are",
    )

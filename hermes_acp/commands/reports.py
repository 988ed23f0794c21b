"""What a session is made of, in Markdown: the answers of slash commands that only tell."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.agent.context_report import shares, total
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.gauge import Gauge, Size
from hermes_acp.agent.memory import Notebook, listed, memory_of, profile_of, size_of
from hermes_acp.agent.prompt_builder import build_system_prompt
from hermes_acp.agent.skills import Skill, find_project_skills, usable_skills
from hermes_acp.agent.trust import Trust
from hermes_acp.errors import ToolError
from hermes_acp.mcp.server import Server
from hermes_acp.mcp.servers import Servers
from hermes_acp.text import first_sentence, shorten_words, visible

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent

_LONGEST = 200


async def memory_report(home: Path | None) -> str:
    """Both notebooks of the person whose folder is `home`, with their sizes."""
    if home is None:
        return "There is no folder to keep a memory in."
    notebooks = (memory_of(home), profile_of(home))
    reports = [await asyncio.to_thread(_notebook, notebook) for notebook in notebooks]
    return "\n\n".join([*reports, "A session is given them as they are when it begins."])


async def skills_report(home: Path | None, roots: tuple[Path, ...], trust: Trust) -> str:
    """The skills that the model may load, and those of the project that it may not."""
    used, all_of_project = await asyncio.gather(
        asyncio.to_thread(usable_skills, home, roots, trust.admits), asyncio.to_thread(find_project_skills, roots)
    )
    lines = [_skill(skill) for skill in used]
    lines = lines or ["There are no skills." + (f" They go into `{home / 'skills'}`." if home else "")]
    if waiting := [skill for skill in all_of_project if skill not in used]:
        lines += ["", "In the project, and not used:", "", *map(_skill, waiting)]
    return "\n".join(lines)


async def context_report(agent: Agent, talk: Conversation, home: Path | None, trust: Trust) -> str:
    """A table of what fills the context of a session; before its first turn, of what will."""
    system = talk.system or await build_system_prompt(talk.workspace, home, admits=trust.admits)
    parts = shares(system, agent.tools(talk), talk.messages)
    rows = [_row(f"{part.name}{f' ({part.count})' if part.count else ''}", part.size, talk.gauge) for part in parts]
    rows.append(_row("**Together**", total(parts), talk.gauge))
    head = ["| | characters | tokens, about |", "|---|---:|---:|"]
    return "\n".join([*head, *rows, "", _of_window(talk.gauge.tokens(total(parts)), agent, talk)])


def describe_servers(servers: Servers) -> str:
    """Servers, how they are, and their tools, in Markdown."""
    if not servers.servers:
        return "There is no MCP server. Your editor can name some, or `[mcp_servers.NAME]` in config.toml."
    return "\n".join(line for server in servers.servers for line in _about(server, servers))


def _skill(skill: Skill) -> str:
    return f"- **{skill.name}** (`{skill.folder}`): {skill.description}"


def _row(name: str, size: Size, gauge: Gauge) -> str:
    pictures = f" and {size.pictures} pictures" if size.pictures else ""
    return f"| {name} | {size.characters:,}{pictures} | {gauge.tokens(size):,} |"


def _of_window(used: int, agent: Agent, talk: Conversation) -> str:
    window = agent.assumed_window(talk)
    share = f"{100 * used / window:.1f} % are used"
    if agent.window(talk):
        return f"The model can hold {window:,} tokens; {share}."
    return (
        f"How much this model can hold is not known, so {window:,} tokens are assumed; {share}. "
        "`model.context_window` in the settings says it."
    )


def _notebook(notebook: Notebook) -> str:
    try:
        entries = notebook.entries()
    except ToolError as error:
        return f"**{notebook.path.name}**: {error}"
    size = f"{size_of(entries):,} of {notebook.limit:,} characters"
    return f"**{notebook.path.name}** ({size}, `{notebook.path}`)\n\n{visible(listed(entries))}"


def _about(server: Server, servers: Servers) -> list[str]:
    reason = f" ({_line(server.reason)})" if server.reason else ""
    tools = [
        f"  - `{tool.name}`: {visible(first_sentence(tool.description, _LONGEST))}" for tool in servers.tools_of(server)
    ]
    return [f"- **{_line(server.named.name)}**, {server.state}{reason}", *tools]


def _line(text: str) -> str:
    return shorten_words(visible(text).replace("\n", " "), _LONGEST)

"""The tool that loads the instructions of a skill, or one of its files."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from pydantic import Field

from hermes_acp.agent.skills import Skill, pick, usable_skills
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.text import shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

_NAME = 80


class LoadSkill(Params):
    """Load the instructions of a skill that fits the task, before you begin; or one of the files that they name.
    Without a name: all skills there are."""

    name: str = ""
    file: str = Field("", description="A file of the skill, instead of its instructions.")


def make(desk: Desk) -> Tool:
    """The skills of the person whose folder is `desk.home`, and those of the project that they agreed to."""
    return Tool(
        name="skill",
        toolset="skills",
        kind="read",
        label="Load a skill",
        params=LoadSkill,
        effect="read",
        prepare=partial(_prepare, desk),
    )


async def _prepare(desk: Desk, args: LoadSkill, ctx: ToolContext) -> Action:
    """Make the reading of a skill ready; nothing is read yet."""
    title = f"Skill {_shown(args.name)}" if args.name else "List the skills"
    if args.file:
        title += f": {_shown(args.file)}"
    return Action(title, partial(_load, desk, ctx.workspace.roots, args), "read")


async def _load(desk: Desk, roots: tuple[Path, ...], args: LoadSkill) -> ToolResult:
    return ToolResult(await asyncio.to_thread(_text, desk, roots, args))


def _text(desk: Desk, roots: tuple[Path, ...], args: LoadSkill) -> str:
    skills = usable_skills(desk.home, roots, desk.trust.admits)
    if not args.name:
        return "\n".join(f"- {skill.name}: {skill.description}" for skill in skills) or "There are no skills."
    skill = pick(skills, args.name)
    text = skill.read(args.file) if args.file else _instructions(skill)
    if skill not in usable_skills(desk.home, roots, desk.trust.admits):
        raise ToolError(f"The skill {skill.name} has changed while it was read. The user will be asked about it.")
    return text


def _instructions(skill: Skill) -> str:
    text = f"Skill {skill.name}, in {skill.folder}\n\n{skill.instructions() or '(It has no instructions.)'}"
    files = "\n".join(f"- {name}" for name in skill.files())
    return f"{text}\n\nIts files (read one with skill and file):\n{files}" if files else text


def _shown(text: str) -> str:
    return shorten(" ".join(visible(text).split()), _NAME)

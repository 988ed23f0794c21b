"""What a session is made of, in Markdown: the answers of slash commands that only tell."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes_acp.agent.memory import Notebook, listed, memory_of, profile_of, size_of
from hermes_acp.agent.skills import find_project_skills, find_skills
from hermes_acp.errors import ToolError
from hermes_acp.text import visible


async def memory_report(home: Path | None) -> str:
    """Both notebooks of the person whose folder is `home`, with their sizes."""
    if home is None:
        return "There is no folder to keep a memory in."
    notebooks = (memory_of(home), profile_of(home))
    reports = [await asyncio.to_thread(_notebook, notebook) for notebook in notebooks]
    return "\n\n".join([*reports, "A session is given them as they are when it begins."])


async def skills_report(home: Path | None, roots: tuple[Path, ...]) -> str:
    """The skills that the model may load, and those of the project, which it may not."""
    skills, waiting = await asyncio.gather(
        asyncio.to_thread(find_skills, home), asyncio.to_thread(find_project_skills, roots)
    )
    lines = [f"- **{skill.name}** (`{skill.folder}`): {skill.description}" for skill in skills]
    lines = lines or ["There are no skills." + (f" They go into `{home / 'skills'}`." if home else "")]
    if waiting:
        lines += ["", "In the project, and not used:", ""]
        lines += [f"- **{skill.name}** (`{skill.folder}`): {skill.description}" for skill in waiting]
    return "\n".join(lines)


def _notebook(notebook: Notebook) -> str:
    try:
        entries = notebook.entries()
    except ToolError as error:
        return f"**{notebook.path.name}**: {error}"
    size = f"{size_of(entries):,} of {notebook.limit:,} characters"
    return f"**{notebook.path.name}** ({size}, `{notebook.path}`)\n\n{visible(listed(entries))}"

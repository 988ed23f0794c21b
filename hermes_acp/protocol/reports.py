"""What a session is made of, in Markdown: the answers of slash commands that only tell."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes_acp.agent.memory import Notebook, listed, memory_of, profile_of, size_of
from hermes_acp.errors import ToolError
from hermes_acp.text import visible


async def memory_report(home: Path | None) -> str:
    """Both notebooks of the person whose folder is `home`, with their sizes."""
    if home is None:
        return "There is no folder to keep a memory in."
    notebooks = (memory_of(home), profile_of(home))
    reports = [await asyncio.to_thread(_notebook, notebook) for notebook in notebooks]
    return "\n\n".join([*reports, "A session is given them as they are when it begins."])


def _notebook(notebook: Notebook) -> str:
    try:
        entries = notebook.entries()
    except ToolError as error:
        return f"**{notebook.path.name}**: {error}"
    size = f"{size_of(entries):,} of {notebook.limit:,} characters"
    return f"**{notebook.path.name}** ({size}, `{notebook.path}`)\n\n{visible(listed(entries))}"

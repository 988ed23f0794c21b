"""What a project keeps for agents to read: the nearest first, never more than fits, never another's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hermes_acp.agent.prompt.reading import beginning, cut
from hermes_acp.agent.prompt.screening import Screened, screen
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.paths import inside
from hermes_acp.tools.safety.paths import is_secret

GUIDANCE_FILES = (("AGENTS.md", "CLAUDE.md"), (".hermes.md",))
"""Of each group the first one that a folder has is read."""

FILE_CHARACTERS = 12_000
TOTAL_CHARACTERS = 24_000


@dataclass(frozen=True, slots=True)
class Guidance:
    """One file for agents, and what of it was taken out."""

    path: Path
    text: str
    found: tuple[str, ...] = ()


def guidance_files(roots: Sequence[Path]) -> list[Path]:
    """The files for agents that hold anything, as `project_guidance` would read them."""
    return [path for path, top in dict.fromkeys(_candidates(roots)) if read_within(path, top, FILE_CHARACTERS).strip()]


def project_guidance(roots: Sequence[Path], admits: Callable[[Path], bool]) -> list[Guidance]:
    """The files for agents of each root and of the folders above it in its repository, nearest first.

    Args:
        admits: whether the person lets a file, as it is, instruct the agent. Asked before and after it is read.
    """
    files: list[Guidance] = []
    left = TOTAL_CHARACTERS
    for path, top in dict.fromkeys(_candidates(roots)):
        guidance = _read(path, top, min(left, FILE_CHARACTERS)) if left > 0 and admits(path) else None
        if guidance is not None and admits(path):
            files.append(guidance)
            left -= len(guidance.text)
    return files


def repository_of(folder: Path) -> Path | None:
    """The nearest folder from this one upwards that version control begins in."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def read_within(path: Path, top: Path, characters: int) -> str:
    """The beginning of a file that really lies in `top`: a link in a repository must not lead to the person's
    files."""
    try:
        real = path.resolve()
        if not inside(real, (top.resolve(),)) or is_secret(real):
            return ""
    except OSError:
        return ""
    return beginning(real, characters)


def _candidates(roots: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Each file that may be there, and the folder that it must really lie in."""
    for root in roots:
        top = repository_of(root) or root
        for folder in (root, *root.parents):
            for group in GUIDANCE_FILES:
                name = next((name for name in group if (folder / name).is_file()), "")
                if name:
                    yield folder / name, top
            if folder == top:
                break


def _read(path: Path, top: Path, characters: int) -> Guidance | None:
    text = read_within(path, top, characters)
    if not text.strip():
        return None
    screened: Screened = screen(text)
    return Guidance(path, cut(screened.text, characters, f"There is more of it: read {path.name}."), screened.found)

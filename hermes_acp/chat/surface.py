"""What the chat needs of a terminal, be it one that can move the cursor or one that cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from hermes_acp.chat.drawing import Pen
from hermes_acp.lazy_dataclasses import dataclass

GUARD_SECONDS = 0.4
"""So long a question takes no key: what was typed before it came was not meant for it."""


@dataclass(frozen=True, slots=True)
class Doings:
    """What keys do: `submit` takes what was typed, `interrupt` is Ctrl-C outside a question, `leave` ends the chat,
    `show` shows the last call whole."""

    submit: Callable[[str], None]
    interrupt: Callable[[], None]
    leave: Callable[[], None]
    show: Callable[[], None]


class Surface(Protocol):
    """A terminal."""

    @property
    def pen(self) -> Pen:
        """Draws for the terminal as wide as it is now."""

    @property
    def keeps_typing(self) -> bool:
        """Whether what was typed stays to be read where it was typed; there is no line for hints then."""

    async def run(self, input: Input, output: Output) -> None:
        """Show everything until `close` is called.

        Raises:
            EOFError: the terminal has gone.
        """

    def close(self) -> None:
        """End `run`."""

    def write(self, text: str) -> None:
        """Write lines that stay, above everything that moves."""

    def refresh(self) -> None:
        """What moves has changed."""

    def clear_input(self) -> None:
        """Take away what stands in the input line."""

    def give_up(self) -> bool:
        """Answer an open question with Ctrl-C; whether there was one."""

    async def ask_key(self, prompt: str, keys: Mapping[str, str]) -> str | None:
        """The value of the key that the person presses; None for Ctrl-C."""

    async def ask_line(self, prompt: str) -> str | None:
        """The line that the person types; None for Ctrl-C."""

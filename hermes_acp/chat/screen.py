"""The terminal: text that stays above, and below it what moves, a question or the line that is typed."""

from __future__ import annotations

import asyncio
import shutil
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import field

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions, is_searching
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import HighlightIncrementalSearchProcessor, TabsProcessor
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from hermes_acp.chat.drawing import WIDEST, Pen
from hermes_acp.chat.surface import GUARD_SECONDS, Doings
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean

REDRAW_SECONDS = 0.03
"""So much time lies between two drawings."""

_MENU_ROWS = 6
_INPUT_ROWS = 10
_MARK = "› "
_TAB = 4

_STYLE = Style.from_dict(
    {
        "mark": "bold",
        "bar": "fg:ansibrightblack",
        "search-toolbar": "noinherit fg:ansibrightblack",
        "search-toolbar.prompt": "noinherit fg:ansibrightblack",
        "search-toolbar.text": "noinherit",
        "incsearch": "noinherit reverse",
        "incsearch.current": "noinherit reverse",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit fg:ansibrightblack",
        "completion-menu.meta.completion.current": "noinherit reverse",
    }
)


@dataclass(slots=True)
class Asked:
    """A question that is open: one key of `keys`, or a line of text when there are none."""

    prompt: str
    answer: asyncio.Future[str | None]
    keys: Mapping[str, str] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is drawn anew at every moment: `live` under the text while it `moves`, `bar` at the bottom."""

    moves: Callable[[], bool]
    live: Callable[[Pen, int], str]
    bar: Callable[[], str]


class Screen:
    """One terminal. Everything on it goes through here, so that nothing is written into the middle of a line."""

    def __init__(self, doings: Doings, shown: Shown, completer: Completer, history: History, colour: bool) -> None:
        self._doings = doings
        self._shown = shown
        self._colour = colour
        self._asked: Asked | None = None
        self._draft: Document | None = None
        self._waiting: list[str] = []
        self.guard = GUARD_SECONDS
        self._buffer = Buffer(
            completer=ThreadedCompleter(completer),
            complete_while_typing=Condition(lambda: self._asked is None),
            history=history,
            multiline=True,
        )
        self._search = SearchToolbar(backward_search_prompt="look back for: ", forward_search_prompt="look on for: ")
        self._app: Application[None] | None = None

    @property
    def pen(self) -> Pen:
        """Draws for the terminal as wide as it is now."""
        columns = (self._app.output.get_size() if self._app else shutil.get_terminal_size()).columns
        return Pen(max(min(columns, WIDEST), 10), self._colour)

    @property
    def keeps_typing(self) -> bool:
        """What was typed is gone with its line."""
        return False

    async def run(self, input: Input, output: Output) -> None:
        """Show everything until `close` is called.

        Raises:
            EOFError: the terminal has gone.
        """
        self._app = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=_STYLE,
            color_depth=None if self._colour else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            min_redraw_interval=REDRAW_SECONDS,
            input=input,
            output=output,
        )
        for text in self._waiting:
            output.write_raw(text.replace("\n", "\r\n"))
        output.flush()
        self._waiting.clear()
        await self._app.run_async(handle_sigint=False, set_exception_handler=False)

    def close(self) -> None:
        """End `run`."""
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._app.exit()

    def write(self, text: str) -> None:
        """Write lines that stay, above everything that moves."""
        if not text:
            return
        if self._app is None:
            self._waiting.append(text)
            return
        try:
            if self._app.is_running:
                self._app.renderer.erase(leave_alternate_screen=False)
            self._app.output.write_raw(text.replace("\n", "\r\n"))
            self._app.output.flush()
        except OSError:
            self._doings.leave()
        self.refresh()

    def refresh(self) -> None:
        """What moves has changed."""
        if self._app is not None and self._app.is_running:
            self._app.invalidate()

    def give_up(self) -> bool:
        """Answer an open question with Ctrl-C; whether there was one."""
        open_one = self._asked is not None
        self._answer(None)
        return open_one

    def clear_input(self) -> None:
        """Take away what stands in the input line."""
        self._buffer.reset()

    async def ask_key(self, prompt: str, keys: Mapping[str, str]) -> str | None:
        """The value of the key that the person presses; None for Ctrl-C."""
        return await self._ask(Asked(prompt, asyncio.get_running_loop().create_future(), keys))

    async def ask_line(self, prompt: str) -> str | None:
        """The line that the person types; None for Ctrl-C."""
        return await self._ask(Asked(prompt, asyncio.get_running_loop().create_future()))

    async def _ask(self, asked: Asked) -> str | None:
        self._draft, self._asked = self._buffer.document, asked
        self._buffer.reset()
        self.refresh()
        try:
            return await asked.answer
        finally:
            self._asked = None
            self._buffer.reset(self._draft)
            self.refresh()

    def _answer(self, value: str | None) -> None:
        if self._asked is not None and not self._asked.answer.done():
            self._asked.answer.set_result(value)

    def _layout(self) -> Layout:
        moving = Window(FormattedTextControl(self._live), wrap_lines=False, dont_extend_height=True)
        line = Window(
            BufferControl(
                self._buffer,
                search_buffer_control=self._search.control,
                preview_search=True,
                input_processors=[
                    HighlightIncrementalSearchProcessor(),
                    TabsProcessor(tabstop=_TAB, char1=" ", char2=" "),
                ],
            ),
            wrap_lines=True,
            height=Dimension(min=1, max=_INPUT_ROWS),
            dont_extend_height=True,
            get_line_prefix=self._prefix,
        )
        keys = Window(FormattedTextControl(self._key_prompt, show_cursor=True), dont_extend_height=True)
        bar = Window(FormattedTextControl(self._bar), height=1, style="class:bar", dont_extend_height=True)
        rows = HSplit(
            [
                Window(height=1),
                ConditionalContainer(moving, Condition(lambda: self._asked is None and self._shown.moves())),
                ConditionalContainer(keys, Condition(self._wants_key)),
                ConditionalContainer(line, Condition(lambda: not self._wants_key())),
                ConditionalContainer(Window(height=_MENU_ROWS), has_completions),
                self._search,
                ConditionalContainer(bar, ~has_completions & ~is_searching),
            ]
        )
        menu = CompletionsMenu(max_height=_MENU_ROWS, scroll_offset=1)
        return Layout(FloatContainer(rows, [Float(menu, xcursor=True, ycursor=True)]), focused_element=line)

    def _wants_key(self) -> bool:
        return self._asked is not None and bool(self._asked.keys)

    def _live(self) -> AnyFormattedText:
        rows = self._app.output.get_size().rows if self._app else 24
        return ANSI(self._shown.live(self.pen, max(rows - _INPUT_ROWS - 2, 3)))

    def _key_prompt(self) -> AnyFormattedText:
        words = self._asked.prompt.split() if self._asked else []
        lines = textwrap.wrap(" ".join(words), max(self.pen.width - 1, 10), break_on_hyphens=False)
        return [("bold", "\n".join(lines) + " "), ("[SetCursorPosition]", "")]

    def _bar(self) -> AnyFormattedText:
        return self._shown.bar()

    def _prefix(self, line: int, wrapped: int) -> AnyFormattedText:
        mark = self._asked.prompt if self._asked else _MARK
        return [("class:mark", mark if line == wrapped == 0 else " " * min(len(mark), 4))]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        wants_key = Condition(self._wants_key)
        keys.add("enter", filter=~wants_key & ~is_searching)(self._enter)
        keys.add("escape", "enter", filter=~wants_key)(lambda event: self._buffer.insert_text("\n"))
        keys.add("c-j", filter=~wants_key)(lambda event: self._buffer.insert_text("\n"))
        keys.add("c-c", filter=~is_searching, eager=True)(lambda event: self._doings.interrupt())
        empty = Condition(lambda: not self._buffer.text) & ~is_searching
        keys.add("c-d", filter=empty, eager=True)(lambda event: self._doings.leave())
        keys.add("c-o", eager=True)(lambda event: self._doings.show())
        keys.add("c-z", eager=True)(lambda event: event.app.suspend_to_background())
        keys.add(Keys.Any, filter=wants_key, eager=True)(self._press)
        keys.add(Keys.BracketedPaste, filter=wants_key, eager=True)(lambda event: None)
        keys.add(Keys.BracketedPaste, filter=~wants_key)(self._paste)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        state = self._buffer.complete_state
        if state is not None and state.current_completion is not None:
            self._buffer.complete_state = None
            return
        text = clean(self._buffer.text)
        if self._asked is not None:
            if text.strip():
                self._answer(text)
            return
        if text.strip():
            self._buffer.append_to_history()
            self._buffer.reset()
            self._doings.submit(text)

    def _press(self, event: KeyPressEvent) -> None:
        asked = self._asked
        if asked is None or time.monotonic() - asked.since < self.guard:
            return
        value = asked.keys.get(event.data.lower())
        if value is not None:
            self._answer(value)

    def _paste(self, event: KeyPressEvent) -> None:
        self._buffer.insert_text(clean(event.data).replace("\r\n", "\n").replace("\r", "\n"))

"""Ways in which an editor ends its agent, or leaves it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from tests.support.editor import Editor


def end_input(editor: Editor) -> None:
    assert editor.process.stdin is not None
    editor.process.stdin.close()


def output(editor: Editor) -> Any:
    """Our end of the agent's stdout."""
    return editor.process._transport.get_pipe_transport(1)


def close_output(editor: Editor) -> None:
    """Close our end of the agent's stdout, as an editor does that has crashed in part."""
    output(editor).close()


def signalled(number: signal.Signals) -> Callable[[Editor], None]:
    return lambda editor: editor.process.send_signal(number)

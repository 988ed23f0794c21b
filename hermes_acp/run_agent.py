"""The agent for programs, and for one question from the command line."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import uuid
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack

from hermes_acp.library.arguments import Arguments, read_arguments
from hermes_acp.library.callbacks import CallbackHost, Callbacks
from hermes_acp.library.calling import ASKING
from hermes_acp.library.given import read_history, read_prompt, read_system
from hermes_acp.library.loop_thread import LoopThread, wait_for
from hermes_acp.library.prompts import Asked, Call, Prompts
from hermes_acp.settings.edit import store_rules
from hermes_acp.talk.setup import Setup
from hermes_acp.talk.talk import Talk

_STOP_SECONDS = 5.0
"""How long a call that was broken off waits for its turn to be closed."""

_CLOSE_SECONDS = 5.0

_SERVER_SECONDS = 30.0
"""How long a call waits for MCP servers that start: it may be the only one, and nobody has typed meanwhile."""

log = logging.getLogger(__name__)


class AIAgent:
    """An agent and its conversation (spec: agent-loop, section 1; docs/library.md).

    Calls from several threads are served one after the other. The agent's loop, connections and processes live
    until `close`, the end of a `with` block, the garbage collector or the end of the interpreter.
    """

    def __init__(self, **arguments: Unpack[Arguments]) -> None:
        """See `Arguments` for what it takes.

        Raises:
            TypeError: an argument is unknown or has a wrong type.
            ConfigError: one has a value of no use, or the person's settings are wrong.
        """
        setup, callbacks = read_arguments(arguments, os.environ)
        for warning in setup.settings.warnings:
            log.warning("%s", warning)
        self._prompts, self._thread = _on_its_loop(setup, callbacks)
        self._finalizer = weakref.finalize(self, self._thread.end, 0)
        self._finalizer.atexit = False

    @property
    def session_id(self) -> str:
        """The id of the session, by which it can be gone on with."""
        return self._prompts.talk.session_id

    def chat(self, message: str | list[dict[str, Any]]) -> str:
        """The final answer to a message; "" when there is none: the log, and `run_conversation`, say why.

        Raises:
            RuntimeError: as `run_conversation`.
            TypeError, ValueError: as `run_conversation`.
        """
        _refuse_running_loop("chat")
        result = self.run_conversation(message)
        if result["error"]:
            log.warning("There is no answer: %s", result["error"])
        answer: str = result["final_response"]
        return answer

    def run_conversation(
        self,
        user_message: str | list[dict[str, Any]],
        system_message: str | None = None,
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """Answer a message and tell everything about it. Ctrl-C interrupts the turn and is raised again.

        Args:
            user_message: a text, or a list of text and picture parts in the form of the OpenAI API.
            system_message: the system prompt from here on, in place of the one that is built.
            conversation_history: OpenAI-style messages in place of the session's own, which None goes on with.
            task_id: a name for the turn; None makes one.

        Returns:
            `final_response`, `messages`, `completed`, `interrupted`, `partial`, `stop_reason`, `api_calls`,
            `usage`, `session_id`, `task_id`, `model`, `provider`, `error`. A failure of the model, the settings
            or the store is in `error`, and `final_response` is then empty.

        Raises:
            RuntimeError: it is called in a running event loop, by a callback that is to answer a question of this
                agent, after `close`, or in a forked process.
            TypeError, ValueError: an argument cannot be used; nothing has changed.
            SessionNotFound: there is no session of the id that the agent was made with.
        """
        _refuse_running_loop("run_conversation")
        call = Call(self._asked(user_message, system_message, conversation_history, task_id))
        return wait_for(lambda: self._begin(call), lambda: self._thread.call(call.cancel), _STOP_SECONDS)

    async def arun_conversation(
        self,
        user_message: str | list[dict[str, Any]],
        system_message: str | None = None,
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """As `run_conversation`, within a running event loop, which async callbacks then run on. Cancelling it
        interrupts the turn."""
        asked = self._asked(user_message, system_message, conversation_history, task_id)
        call = Call(replace(asked, loop=asyncio.get_running_loop()))
        answer = asyncio.wrap_future(self._begin(call))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            self._thread.call(call.cancel)
            await asyncio.wait({answer}, timeout=_STOP_SECONDS)
            raise

    def interrupt(self, message: str | None = None) -> None:
        """Stop the running turn, and the calls that wait behind it. From any thread or signal handler; nothing
        happens when no turn runs.

        Args:
            message: what is asked next in its place: the call whose turn is stopped returns the answer to it, with
                `interrupted` set. A blank one is none: whatever is in it, the turn stops.
        """
        blank = message is None or (isinstance(message, str) and not message.strip())
        prompt = None if blank else read_prompt(message)
        self._thread.call(lambda: self._prompts.interrupt(prompt))

    def close(self) -> None:
        """Stop what runs, keep the session, end the agent's thread. Closing twice does nothing."""
        self._thread.end(_CLOSE_SECONDS)

    async def aclose(self) -> None:
        """As `close`, without holding up a running event loop."""
        if self._thread.is_here:
            self.close()  # Which waits for nothing here, in an async callback.
        else:
            await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _asked(self, message: Any, system: Any, history: Any, task_id: Any) -> Asked:
        if task_id is not None and not isinstance(task_id, str):
            raise TypeError(f"task_id: must be str, not {type(task_id).__name__}")
        return Asked(
            prompt=read_prompt(message),
            task_id=task_id or f"task_{uuid.uuid4().hex}",
            system=read_system(system),
            history=read_history(history),
        )

    def _begin(self, call: Call) -> Future[dict[str, Any]]:
        if ASKING.get() is self._thread:
            raise RuntimeError("A callback that answers a question cannot ask its own agent: the turn waits for it.")
        return self._thread.run(lambda: self._prompts.begin(call))


def _on_its_loop(setup: Setup, callbacks: Callbacks) -> tuple[Prompts, LoopThread]:
    """What lives on the loop. It knows nothing of the agent, so that the agent can be let go."""
    thread = LoopThread(lambda: prompts.aclose())
    host = CallbackHost(callbacks, thread)
    host.allow_contained = setup.settings.config.agent.on_ask == "allow-in-sandbox"
    if file := setup.settings.home.config_file:
        host.keep = partial(store_rules, file)
    prompts = Prompts(
        setup, Talk(setup, setup.session_id or str(uuid.uuid4()), host.emit, patience=_SERVER_SECONDS), host
    )
    return prompts, thread


def _refuse_running_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"{name}() was called in a running event loop: await agent.arun_conversation(...) there.")


if __name__ == "__main__":
    from hermes_acp.library.once import main

    sys.exit(main(AIAgent))

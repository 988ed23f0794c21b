"""The hooks of plugins: order, faults, time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

from hermes_acp.cards import ToolResult
from hermes_acp.hooks import HookedCall
from hermes_acp.plugins import hooks
from hermes_acp.plugins.hooks import PluginHooks
from hermes_acp.plugins.loading import Loaded, Loading, load

hook = pluggy.HookimplMarker("hermes_acp")
CALL = HookedCall("terminal", {"command": "ls", "more": [1]}, "session-1", "/work")


class Entry:
    """An entry point that gives an object of the test."""

    def __init__(self, name: str, plugin: Any) -> None:
        self.name, self.plugin = name, plugin

    def load(self) -> Any:
        if isinstance(self.plugin, BaseException):
            raise self.plugin
        return self.plugin


Install = Callable[..., PluginHooks]


@pytest.fixture
def install() -> Install:
    def installed(**plugins: Any) -> PluginHooks:
        entries: Any = [Entry(name, plugin) for name, plugin in plugins.items()]
        return PluginHooks(Loading(lambda: load(lambda: entries)))

    return installed


def before(function: Callable[..., Any]) -> Any:
    """A plugin that does this before a call."""

    class Plugin:
        @staticmethod
        @hook
        def pre_tool_call(tool, arguments, session_id, cwd):
            return function(tool, arguments, session_id, cwd)

    return Plugin()


def after(function: Callable[..., Any]) -> Any:
    class Plugin:
        @staticmethod
        @hook
        def post_tool_call(tool, arguments, result, is_error, duration_s, session_id, cwd):
            return function(tool, arguments, result, is_error, duration_s, session_id, cwd)

    return Plugin


async def test_all_are_asked_in_the_order_of_their_names_until_one_objects(install: Install) -> None:
    asked: list[Any] = []
    found = install(
        b=before(lambda *said: asked.append(("b", *said)) or "not on a Friday"),
        a=before(lambda *said: asked.append(("a", *said))),
        c=before(lambda *said: asked.append(("c", *said))),
    )
    assert await found.before(CALL) == "The plugin b does not allow this: not on a Friday"
    told = ("terminal", {"command": "ls", "more": [1]}, "session-1", "/work")
    assert asked == [("a", *told), ("b", *told)]


async def test_without_plugins_nobody_objects(install: Install) -> None:
    assert await install().before(CALL) == ""


async def test_what_a_plugin_does_to_the_arguments_stays_with_it(install: Install) -> None:
    found = install(a=before(lambda tool, arguments, *_: arguments["more"].append(2) or arguments.clear()))
    assert await found.before(CALL) == ""
    assert CALL.arguments == {"command": "ls", "more": [1]}


def raise_it(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    "error", [ValueError("sekrit"), SystemExit(1), KeyboardInterrupt(), StopIteration(), AssertionError()]
)
async def test_a_plugin_that_fails_denies_the_call_and_the_next_one_is_served(install: Install, error: Any) -> None:
    found = install(a=before(lambda tool, *_: raise_it(error) if tool == "terminal" else None))
    said = await found.before(CALL)
    assert said == f"The plugin a failed ({type(error).__name__}), so the call was not made."
    assert await found.before(HookedCall("read_file", {}, "s", "/")) == ""


@pytest.mark.parametrize("answer", [True, False, 0, {"veto": True}, b"no"])
async def test_an_answer_that_is_no_reason_denies_the_call(install: Install, answer: Any) -> None:
    assert "neither a reason nor None" in await install(a=before(lambda *_: answer)).before(CALL)


async def test_arguments_that_cannot_be_copied_deny_the_call(install: Install) -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    said = await install(a=before(lambda *_: None)).before(HookedCall("t", deep, "s", "/"))
    assert "nested too deeply" in said


async def test_an_empty_reason_is_one(install: Install) -> None:
    assert (
        await install(a=before(lambda *_: "")).before(CALL) == "The plugin a does not allow this: no reason is given."
    )


async def test_a_plugin_that_takes_too_long_denies_and_one_beside_it_is_not_held_up(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "SECONDS", 0.2)
    release = threading.Event()
    told: list[str] = []
    found = install(slow=before(lambda *_: release.wait(30)), other=after(lambda tool, *_: told.append(tool)))
    began = time.monotonic()
    for _ in range(3):
        assert "no answer within 0.2 seconds" in await found.before(CALL)
    assert time.monotonic() - began < 20
    await found.after(CALL, ToolResult("done"), 0.1)
    assert told == ["terminal"]
    release.set()


async def test_a_cancelled_question_is_left_at_once(install: Install) -> None:
    release = threading.Event()
    found = install(slow=before(lambda *_: release.wait(30)))
    asking = asyncio.ensure_future(found.before(CALL))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    assert time.monotonic() - began < 5
    release.set()


async def test_all_are_told_how_it_ended_whatever_the_others_do(install: Install) -> None:
    told: list[Any] = []
    found = install(a=after(lambda *_: raise_it(ValueError())), b=after(lambda *said: told.append(said)))
    await found.after(CALL, ToolResult("it went wrong", is_error=True), 0.5)
    assert told == [("terminal", {"command": "ls", "more": [1]}, "it went wrong", True, 0.5, "session-1", "/work")]


async def test_the_calls_into_one_plugin_come_one_after_the_other(install: Install) -> None:
    running: list[int] = []
    most: list[int] = []

    def count(*_: Any) -> None:
        running.append(1)
        most.append(len(running))
        time.sleep(0.01)
        running.pop()

    found = install(a=before(count))
    assert set(await asyncio.gather(*(found.before(CALL) for _ in range(10)))) == {""}
    assert most == [1] * 10


def misspelt() -> Any:
    class Plugin:
        @hook
        def pre_tool_cal(self, tool):
            return None

    return Plugin


def coroutine() -> Any:
    class Plugin:
        @hook
        async def pre_tool_call(self, tool):
            return None

    return Plugin


def other_arguments() -> Any:
    class Plugin:
        @hook
        def pre_tool_call(self, name):
            return None

    return Plugin


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (ImportError("no module named x"), "no module named x"),
        (SystemExit(3), "SystemExit"),
        (misspelt(), "pre_tool_cal"),
        (coroutine(), "must be a plain function"),
        (other_arguments(), "name"),
        (object(), "it has no hook"),
        (None, "it has no hook"),
    ],
)
async def test_a_broken_plugin_is_told_of_and_left_out(install: Install, plugin: Any, words: str) -> None:
    found = install(broken=plugin, good=before(lambda *_: "no"))
    loaded: Loaded = found._loading()
    [problem] = loaded.problems
    assert problem.startswith("broken: ")
    assert words in problem
    assert await found.before(CALL) == "The plugin good does not allow this: no"

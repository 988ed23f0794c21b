"""The plugins as the engine's hooks: in threads, within a time, and closed when they fail."""

from __future__ import annotations

import asyncio
import copy
import logging
from functools import partial
from typing import Any

from hermes_acp.cards import ToolResult
from hermes_acp.hooks import HookedCall
from hermes_acp.plugins.loading import LOADING, Loading, Plugin
from hermes_acp.plugins.worker import Fault
from hermes_acp.text import clean, plain, shorten

log = logging.getLogger(__name__)

SECONDS = 5.0
"""How long a plugin may take for one call, and the calls before it that it has not answered yet."""

_LONGEST_REASON = 1_000


class PluginHooks:
    """Asks every plugin (see `hermes_acp.hooks.Hooks`).

    A plugin that is to decide and fails, or takes too long, denies the call: whoever installs one for safety must not
    lose it by a fault. One that is only told and fails is logged.
    """

    def __init__(self, loading: Loading = LOADING) -> None:
        self._loading = loading

    async def before(self, call: HookedCall) -> str:
        for plugin in await self._plugins("pre_tool_call"):
            if reason := await self._ask(plugin, call):
                return reason
        return ""

    async def after(self, call: HookedCall, result: ToolResult, seconds: float) -> None:
        for plugin in await self._plugins("post_tool_call"):
            told = {"result": result.text, "is_error": result.is_error, "duration_s": seconds}
            try:
                await _call(plugin, "post_tool_call", call, **told)
            except (Fault, TimeoutError) as error:
                log.warning("the plugin %s failed after a call of %s: %s", plugin.name, call.tool, _kind(error))

    async def _plugins(self, hook: str) -> list[Plugin]:
        loaded = self._loading.done
        if loaded is None:
            loaded = await asyncio.to_thread(self._loading)
        return [plugin for plugin in loaded.plugins if hook in plugin.hooks]

    async def _ask(self, plugin: Plugin, call: HookedCall) -> str:
        try:
            answers = await _call(plugin, "pre_tool_call", call)
        except (Fault, TimeoutError) as error:
            log.warning("the plugin %s failed before a call of %s: %s", plugin.name, call.tool, _kind(error))
            return f"The plugin {plugin.name} failed ({_kind(error)}), so the call was not made."
        for answer in answers:
            if not isinstance(answer, str):
                return f"The plugin {plugin.name} answered neither a reason nor None, so the call was not made."
            return f"The plugin {plugin.name} does not allow this: {_shown(answer)}"
        return ""


async def _call(plugin: Plugin, hook: str, call: HookedCall, **more: Any) -> list[Any]:
    """The answers of a plugin's hook, without those that are None.

    Raises:
        TimeoutError: it takes too long.
        Fault: it raises something.
    """
    said = {"tool": call.tool, "arguments": _copied(call.arguments), "session_id": call.session_id, "cwd": call.cwd}
    working = plugin.worker.submit(partial(plugin.hooks[hook], **said, **more))
    async with asyncio.timeout(SECONDS):
        answers: list[Any] = await asyncio.wrap_future(working)
    return answers


def _copied(arguments: Any) -> dict[str, Any]:
    """A copy that may be changed.

    Raises:
        Fault: the arguments are nested too deeply for one.
    """
    try:
        return copy.deepcopy(dict(arguments))
    except RecursionError:
        raise Fault("the arguments are nested too deeply") from None


def _shown(reason: str) -> str:
    return shorten(plain(clean(reason)).strip(), _LONGEST_REASON) or "no reason is given."


def _kind(error: Exception) -> str:
    return f"no answer within {SECONDS:g} seconds" if isinstance(error, TimeoutError) else str(error)

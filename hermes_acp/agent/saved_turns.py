"""Turns that leave a trajectory behind, however they end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import TurnResult, run_turn
from hermes_acp.agent.trajectory import COMPLETED_FILE, FAILED_FILE, save_trajectory, to_sharegpt
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely
from hermes_acp.messages import AssistantMessage, Message, UserMessage, to_dict

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SavedTurns:
    """Runs turns as `run_turn` does and appends each to a file in `folder`, under the name of `model`."""

    folder: Path
    model: str

    async def run(
        self, agent: Agent, talk: Conversation, prompt: UserMessage, host: Host, typed: UserMessage | None = None
    ) -> TurnResult:
        """Answer one prompt. Raises what `run_turn` raises; a file that cannot be written stops nothing.

        The turn is completed when it ended by itself with an answer (spec: trajectory, entry).
        """
        tools = [tool.schema() for tool in agent.tools(talk).values()]
        result: TurnResult | None = None
        try:
            result = await run_turn(agent, talk, prompt, host, typed)
            return result
        finally:
            completed = result is not None and result.stop == "end_turn"
            messages = [*talk.messages, *_taken_out(prompt, result)]
            await surely(asyncio.to_thread(self._save, messages, tools, completed))

    def _save(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], completed: bool) -> None:
        path = self.folder / (COMPLETED_FILE if completed else FAILED_FILE)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            save_trajectory(to_sharegpt(map(to_dict, messages), tools), self.model, completed, path)
        except (OSError, ValueError) as error:
            log.warning("A trajectory could not be saved in %s: %s", path, error)


def _taken_out(prompt: UserMessage, result: TurnResult | None) -> list[Message]:
    """What a refused turn said, which the conversation keeps no longer."""
    if result is None or result.stop != "refusal":
        return []
    return [prompt, AssistantMessage(result.text)]

"""What the agent-level tools of one session work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.trust import Trust
from hermes_acp.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent


@dataclass(frozen=True, slots=True)
class Desk:
    """One session, the store it lies in, the person's own folder (None when there is none), and the agent that
    answers in it now. `trust` is the person's word on what projects bring."""

    talk: Conversation
    store: Store
    home: Path | None
    agent: Callable[[], Agent]
    trust: Trust = field(default_factory=Trust)

"""What answers in a session that no editor's connection has."""

from __future__ import annotations

from collections.abc import Callable

from hermes_acp.agent.agent import Agent
from hermes_acp.agent.thought_levels import DEFAULT, fitted, in_request, read_level
from hermes_acp.assembly import Models
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.opening import Terms


@dataclass(slots=True)
class Answering:
    """The models of a session, and the terms that hold in its folders.

    `informed` gives an agent the prompt of this session. `model` is the one that answers, "" for the configured one.
    """

    terms: Terms
    models: Models
    informed: Callable[[Agent], Agent]
    model: str = ""

    def agent(self) -> Agent:
        """What answers now.

        Raises:
            ConfigError: the API mode is not supported, or the context engine cannot be used.
        """
        return self.informed(self.models.agent(self._name))

    def effort(self, chosen: str) -> str:
        """How much the model is to think, as requests carry it; `chosen` is the level of the session, "" for that of
        the settings."""
        wanted = read_level(chosen) or self.terms.config.agent.thought_level or DEFAULT
        return in_request(fitted(wanted, self.models.levels(self._name)))

    @property
    def _name(self) -> str:
        return self.model or self.models.endpoint.model

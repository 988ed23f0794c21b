"""What the model calls of a session and of its turn have cost and used."""

from __future__ import annotations

from dataclasses import field

from hermes_acp.agent.providers.base import Usage
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(slots=True)
class Purse:
    """What a turn has cost in US dollars, its side tasks and subagents included, where prices are known."""

    spent: float = 0.0

    def used_up(self, most: float) -> str:
        """What was spent, once that is all of `most` US dollars (0: no limit), and "" before."""
        return f"{self.spent:.2f} of {most:.2f} US dollars" if most and self.spent >= most else ""


@dataclass(slots=True)
class Expenses:
    """`cost` is what the session's calls cost in US dollars, None when the price of one was not known.

    `purse` is what the turn's cost, and `lent` the one of the turn that a subagent works for. `delegated` is what the
    turn's subagents used.
    """

    cost: float | None = 0.0
    lent: Purse | None = None
    purse: Purse = field(default_factory=Purse)
    delegated: Usage = field(default_factory=Usage)

    def begin_turn(self) -> None:
        """Count from nothing what the turn costs, unless it is for another one."""
        self.delegated, self.purse = Usage(), self.lent or Purse()

    def spend(self, cost: float | None) -> None:
        """Add what a model call cost; one of unknown price makes the sum unknown."""
        self.cost = None if cost is None or self.cost is None else self.cost + cost

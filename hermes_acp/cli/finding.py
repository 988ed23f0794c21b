"""What the doctor reports in."""

from __future__ import annotations

from typing import Literal

from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. A `missing` one keeps the agent from answering, a `warning` does not."""

    state: Literal["ok", "note", "warning", "missing"]
    name: str
    text: str

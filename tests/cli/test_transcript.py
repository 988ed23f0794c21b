"""Both forms of a session hold everything that the store keeps of what was shown."""

from typing import get_args

import pytest

from hermes_acp.agent.store.codec import recorded
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.cards import ToolResult
from hermes_acp.cli.exporting import Whole, as_markdown
from hermes_acp.cli.showing import as_text
from hermes_acp.events import (
    CompactionBegun,
    ContextCompacted,
    Event,
    ModelSwitched,
    Notice,
    PlanChanged,
    PlanEntry,
    ReasoningDelta,
    StatusChanged,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    UserPrompted,
)
from hermes_acp.messages import Image, Text, UserMessage

SHOWN = (
    UserPrompted(UserMessage((Text("the question"), Image("aGk=", "image/png"))), "m1"),
    ReasoningDelta("the thought", "m2"),
    PlanChanged((PlanEntry("the task"),)),
    ToolPrepared("c1", "write_file", "edit", "the title"),
    ToolFinished("c1", "write_file", ToolResult("for the model", shown="for the person")),
    Notice("warning", "the notice", "its text"),
    ModelSwitched("the other model", "its reason"),
    ContextCompacted(5000, 700, "the summary"),
    TextDelta("the answer", "m3"),
)
PASSED_BY = (ToolOutput("c1", "live output"), StatusChanged("calling", "a status"), CompactionBegun("k1"))
WORDS = (
    "the question",
    "[picture: image/png]",
    "the thought",
    "pending",
    "the task",
    "the title",
    "for the person",
    "the notice. its text",
    "Now answered by the other model. its reason",
    "5000",
    "700",
    "the answer",
)


def test_everything_that_the_store_keeps_is_tried_here():
    kept = {kind for kind in get_args(Event) if recorded(object.__new__(kind))}
    assert kept == set(map(type, SHOWN))


@pytest.mark.parametrize("form", [as_text, as_markdown])
def test_all_that_was_shown_is_written_in_order_and_nothing_that_passed_by(form):
    written = form(Whole(SessionRecord("s1", "/somewhere"), (), (*SHOWN, *PASSED_BY), ()))
    places = [written.index(word) for word in WORDS]
    assert places == sorted(places)
    assert "for the model" not in written
    assert not [word for word in ("live output", "a status", "k1") if word in written]

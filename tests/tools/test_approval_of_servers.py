"""The gate and the tools of MCP servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_acp.cards import Effect, ToolResult
from hermes_acp.config import MODES, Mode
from hermes_acp.host import Decision
from hermes_acp.tools.approval import Approvals, describe_always
from hermes_acp.tools.base import Action

HERE = Path("/work")


async def nothing() -> ToolResult:
    return ToolResult("done")


def action(effect: Effect) -> Action:
    return Action("a: b", nothing, effect)


def decision(approvals: Approvals, tool: str, effect: Effect) -> str:
    return approvals.judge(tool, action(effect), (HERE,)).decision


@pytest.mark.parametrize("mode", MODES)
def test_every_call_is_asked_about_and_plan_mode_lets_no_change_be_asked_for(mode: Mode) -> None:
    approvals = Approvals(mode)
    assert decision(approvals, "mcp__a__b", "query") == "ask"
    assert decision(approvals, "mcp__a__b", "call") == ("deny" if mode == "plan" else "ask")
    assert (approvals.offers("query"), approvals.offers("call")) == (True, mode != "plan")


def test_always_covers_the_very_tool_and_not_another_and_no_turn_ends_it() -> None:
    approvals = Approvals()
    approvals.remember("mcp__a__b", action("call"), "allow_always", HERE)
    approvals.begin_turn()
    assert decision(approvals, "mcp__a__b", "call") == "allow"
    assert decision(approvals, "mcp__a__c", "call") == "ask"
    assert decision(approvals, "mcp__c__b", "call") == "ask"


def test_always_for_a_tool_that_only_reads_ends_when_it_says_so_no_more() -> None:
    approvals = Approvals()
    approvals.remember("mcp__a__b", action("query"), "allow_always", HERE)
    assert decision(approvals, "mcp__a__b", "query") == "allow"
    assert decision(approvals, "mcp__a__b", "call") == "ask"


@pytest.mark.parametrize(("said", "after"), [("reject_once", "ask"), ("reject_always", "deny")])
def test_a_rejection_covers_the_tool_whatever_it_says_of_itself(said: Decision, after: str) -> None:
    approvals = Approvals()
    approvals.remember("mcp__a__b", action("call"), said, HERE)
    assert decision(approvals, "mcp__a__b", "call") == "deny"
    assert decision(approvals, "mcp__a__b", "query") == "deny"
    assert decision(approvals, "mcp__a__c", "call") == "ask"
    approvals.begin_turn()
    assert decision(approvals, "mcp__a__b", "call") == after


def test_the_question_says_what_always_covers() -> None:
    assert describe_always("mcp__a__b", action("call")) == "mcp__a__b with any arguments"

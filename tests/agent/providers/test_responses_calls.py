"""Calls in a Responses stream: each is told apart, and one that is not whole is a problem."""

import pytest

from tests.fakes.responses_replies import completed
from tests.support.responses_events import WHOLE, added, api, call, done, say, written

__all__ = ["api", "say"]


async def test_a_call_id_that_returns_every_turn_names_a_new_call_each_time(say):
    ids = {(await say(done(call(WHOLE)), completed())).message.tool_calls[0].id for _ in range(4)}
    assert len(ids) == 4


async def test_two_calls_of_one_number_stay_two(say):
    first, second = call(WHOLE, 1), call('{"path":"y"}', 2)
    pieces = [[added({**one, "arguments": ""}), written(one["arguments"]), done(one)] for one in (first, second)]
    for told in ([*pieces[0], *pieces[1]], [*pieces[0][:2], *pieces[1][:2]], [pieces[0][2], pieces[1][2]]):
        for last in (completed(), completed(first, second)):
            asked = await say(*told, last)
            assert asked.calls == [("read_file", {"path": "x"}), ("read_file", {"path": "y"})]
            assert len(asked.drafted) == 2


async def test_two_calls_of_one_id_stay_two(say):
    asked = await say(done(call(WHOLE), 0), done(call('{"path":"y"}'), 1), completed())
    assert asked.calls == [("read_file", {"path": "x"}), ("read_file", {"path": "y"})]


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
async def test_no_arguments_are_an_empty_object(say, arguments):
    asked = await say(done(call(arguments)), completed())
    assert asked.calls == [("read_file", {})]
    assert asked.message.tool_calls[0].problem == ""


async def test_a_call_without_a_name_is_a_problem_and_not_drafted(say):
    asked = await say(done(call(WHOLE, name="")), completed())
    assert asked.drafted == []
    assert asked.message.tool_calls[0].problem


async def test_a_call_cut_in_its_arguments_makes_a_cut_reply_whatever_the_status(say):
    asked = await say(done(call('{"path":"README.md","content":"# Ti')), completed())
    assert asked.reply.finish == "length"
    assert asked.message.tool_calls[0].problem

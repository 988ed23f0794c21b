"""The task list: what the model writes, what it reads back, what the person sees, what is kept."""

import pytest

from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.tools import AgentTools
from hermes_acp.errors import ToolError
from hermes_acp.events import PlanChanged, ToolFinished
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user
from hermes_acp.protocol.updates import encode
from hermes_acp.tools.arguments import explain


def tasks(*pairs):
    return [{"id": id_, "content": f"do {id_}", "status": status} for id_, status in pairs]


def plans(scene):
    return [[(entry.id, entry.status) for entry in event.entries] for event in scene.host.of(PlanChanged)]


async def test_a_whole_list_is_written_shown_and_read_back_with_counts(scene):
    result = await scene.call("todo", todos=tasks(("a", "completed"), ("b", "in_progress"), ("c", "pending")))
    assert result.text == (
        "3 tasks: 1 pending, 1 in_progress, 1 completed\n"
        "- [completed] a: do a\n- [in_progress] b: do b\n- [pending] c: do c"
    )
    assert plans(scene) == [[("a", "completed"), ("b", "in_progress"), ("c", "pending")]]
    assert (await scene.call("todo")).text == result.text
    assert len(plans(scene)) == 1


async def test_a_merge_changes_by_id_keeps_the_order_and_adds_at_the_end(scene):
    await scene.call("todo", todos=tasks(("a", "pending"), ("b", "pending")))
    changed = [{"id": "b", "status": "completed"}, {"id": "c", "content": "new"}, {"id": "a", "content": "other words"}]
    result = await scene.call("todo", todos=changed, merge=True)
    assert result.text.splitlines()[1:] == ["- [pending] a: other words", "- [completed] b: do b", "- [pending] c: new"]


async def test_a_whole_list_replaces_what_was_there_and_an_empty_one_clears_it(scene):
    await scene.call("todo", todos=tasks(("a", "pending"), ("b", "pending")))
    await scene.call("todo", todos=tasks(("c", "pending")))
    assert (await scene.call("todo", todos=[])).text == "The list is empty."
    assert plans(scene)[1:] == [[("c", "pending")], []]


async def test_ids_may_be_numbers_or_left_out(scene):
    result = await scene.call("todo", todos=[{"content": "x"}, {"id": 7, "content": "y", "status": None}])
    assert result.text.splitlines()[1:] == ["- [pending] 1: x", "- [pending] 7: y"]


async def test_two_tasks_in_progress_are_no_error(scene):
    result = await scene.call("todo", todos=tasks(("a", "in_progress"), ("b", "in_progress")))
    assert "2 in_progress" in result.text


async def test_a_cancelled_task_is_kept_for_the_model_and_leaves_the_editors_plan(scene):
    result = await scene.call("todo", todos=tasks(("a", "cancelled"), ("b", "pending")))
    assert "1 cancelled" in result.text
    [event] = scene.host.of(PlanChanged)
    [update] = encode(event)
    assert update == {
        "sessionUpdate": "plan",
        "entries": [{"content": "do b", "priority": "medium", "status": "pending"}],
    }


@pytest.mark.parametrize(
    ("written", "merge", "told"),
    [
        (tasks(("a", "pending"), ("a", "pending")), False, "the id 'a'"),
        (tasks(("b", "pending"), ("b", "pending")), True, "the id 'b'"),
        ([{"id": "a"}], False, "no content"),
        ([{"content": "x"}], True, "The ids are: a"),
        ([{"id": "z", "status": "completed"}], True, "no task 'z'"),
        ([{"content": "x" * 501}], False, "500 characters"),
        ([{"content": "x"}] * 101, False, "at most 100"),
    ],
)
async def test_what_does_not_fit_is_told_and_changes_nothing(scene, written, merge, told):
    await scene.call("todo", todos=tasks(("a", "pending")))
    with pytest.raises(ToolError, match=told):
        await scene.call("todo", todos=written, merge=merge)
    assert len(plans(scene)) == 1
    assert "do a" in (await scene.call("todo")).text


def test_an_unknown_status_is_told_with_those_there_are(scene):
    params = scene.talk.toolbox["todo"].params
    with pytest.raises(ValueError, match="status") as error:
        params.model_validate({"todos": [{"content": "x", "status": "done"}]})
    assert "'completed' or 'cancelled'" in explain(error.value)


async def test_the_list_comes_back_with_the_session_and_goes_with_its_fork(scene, store):
    await scene.call("todo", todos=tasks(("a", "cancelled"), ("b", "pending")))
    await store.fork("s", "f")
    await scene.call("todo", todos=[{"id": "b", "status": "completed"}], merge=True)
    scene.talk.toolbox = AgentTools(scene.desk)
    assert (
        await scene.call("todo")
    ).text == "2 tasks: 1 completed, 1 cancelled\n- [cancelled] a: do a\n- [completed] b: do b"
    assert [(entry.id, entry.status) for entry in await store.plan("f")] == [("a", "cancelled"), ("b", "pending")]


async def test_merges_of_one_reply_do_not_lose_each_other(scene):
    await scene.call("todo", todos=tasks(*((name, "pending") for name in "abc")))
    scene.talk.toolbox = AgentTools(scene.desk)
    done = [ToolCall(name, "todo", {"todos": [{"id": name, "status": "completed"}], "merge": True}) for name in "abc"]
    provider = scene.script(AssistantMessage(tool_calls=tuple(done)), AssistantMessage("Done."))
    await run_turn(scene.agent, scene.talk, user("go"), scene.host)
    assert "3 completed" in (await scene.call("todo")).text
    assert plans(scene)[-1] == [(name, "completed") for name in "abc"]
    results = [message for message in provider.requests[1].messages if isinstance(message, ToolMessage)]
    assert not any(result.is_error for result in results)


async def test_it_asks_nobody_and_works_in_plan_mode(scene):
    scene.talk.approvals.mode = "plan"
    scene.script(
        AssistantMessage(tool_calls=(ToolCall("1", "todo", {"todos": tasks(("a", "pending"))}),)),
        AssistantMessage("Ok."),
    )
    await run_turn(scene.agent, scene.talk, user("go"), scene.host)
    assert scene.host.requests == []
    assert [event.result.is_error for event in scene.host.of(ToolFinished)] == [False]
    assert plans(scene) == [[("a", "pending")]]

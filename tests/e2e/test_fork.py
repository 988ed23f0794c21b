"""session/fork: two sessions where there was one, each on its own from there on."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, never, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


async def fork(editor, session, project, **more):
    return await editor.request("session/fork", open_params(session, project, **more))


async def load(editor, session, project):
    """What a load of the session shows: its texts, and the last state of each card."""
    before = len(editor.updates(session))
    answer = await editor.request("session/load", open_params(session, project))
    updates = editor.updates(session)[before:]
    texts = [update["content"]["text"] for update in updates if update["sessionUpdate"].endswith("message_chunk")]
    states = {update["toolCallId"]: update["status"] for update in updates if "status" in update}
    return answer, texts, states


def said(request):
    """The texts of a request to the model, without its system prompt."""
    return [message["content"] for message in request.messages[1:] if message["role"] != "tool"]


async def a_turn_of_everything(editor, model, project):
    (project / "a.txt").write_text("one\n")
    model.say(Say(reasoning=["hm"], text=["I look."], calls=[Call("read_file", {"path": "a.txt"})]), "One.")
    session = await editor.new_session(project)
    await editor.prompt(session, "read it")
    return session


async def test_the_fork_knows_what_was_said_and_each_goes_on_alone(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    copy = (await fork(editor, session, project))["sessionId"]
    assert copy != session
    model.say("To the fork.", "To the source.", "To the fork again.")
    await editor.prompt(copy, "in the fork")
    await editor.prompt(session, "in the source")
    await editor.prompt(copy, "in the fork once more")
    before = ["read it", "I look.", "One."]
    assert said(model.requests[2]) == [*before, "in the fork"]
    assert said(model.requests[3]) == [*before, "in the source"]
    assert said(model.requests[4]) == [*before, "in the fork", "To the fork.", "in the fork once more"]
    assert model.requests[2].messages[0] == model.requests[0].messages[0], "the system prompt, byte for byte"
    assert any(message["role"] == "tool" for message in model.requests[2].messages)


async def test_the_thoughts_go_back_to_the_server_from_both(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    copy = (await fork(editor, session, project))["sessionId"]
    await editor.prompt(copy, "go on")
    await editor.prompt(session, "go on")
    thoughts = [[message.get("reasoning_content") for message in request.messages] for request in model.requests[2:]]
    assert thoughts[0] == thoughts[1]
    assert "hm" in thoughts[0]


async def test_the_answer_is_that_of_the_other_ways_in_and_nothing_is_shown_again(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    loaded, *_ = await load(editor, session, project)
    answer = await fork(editor, session, project)
    copy = answer["sessionId"]
    assert answer == {"sessionId": copy, **loaded}
    assert answer["modes"]["currentModeId"] == "plan"
    await editor.wait_update(lambda update: bool(editor.updates(copy, "session_info_update")))
    assert [update["sessionUpdate"] for update in editor.updates(copy)] == [
        "available_commands_update",
        "session_info_update",
    ]
    named = [index for index, line in enumerate(editor.lines) if (line.get("params") or {}).get("sessionId") == copy]
    told = next(index for index, line in enumerate(editor.lines) if (line.get("result") or {}).get("sessionId") == copy)
    assert told < named[0]


async def test_a_load_of_the_fork_shows_what_was_shown_in_the_source(editor, model, project, tmp_path):
    session = await a_turn_of_everything(editor, model, project)
    copy = (await fork(editor, session, project))["sessionId"]
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        of_source, of_fork = await load(second, session, project), await load(second, copy, project)
        assert of_fork == of_source
        assert of_fork[1] == ["read it", "I look.", "One."]
        rows = (await second.request("session/list"))["sessions"]
        assert {row["sessionId"]: row["title"] for row in rows} == {session: "read it", copy: "read it"}


@pytest.mark.parametrize("end", ["session/delete", "session/close"])
async def test_the_source_outlives_its_fork(editor, model, project, end):
    session = await a_turn_of_everything(editor, model, project)
    copy = (await fork(editor, session, project))["sessionId"]
    await editor.prompt(copy, "only here")
    await editor.request(end, {"sessionId": copy})
    assert (await load(editor, session, project))[1] == ["read it", "I look.", "One."]
    await editor.prompt(session, "still there?")
    assert said(model.requests[-1]) == ["read it", "I look.", "One.", "still there?"]


async def test_the_fork_outlives_its_source(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    copy = (await fork(editor, session, project))["sessionId"]
    await editor.request("session/delete", {"sessionId": session})
    await editor.prompt(copy, "still there?")
    assert said(model.requests[-1]) == ["read it", "I look.", "One.", "still there?"]


async def test_a_fork_in_mid_stream_has_the_turns_before_and_the_turn_runs_on(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    pieces = [f"{n} " for n in range(40)]
    model.say(Say(text=pieces, token_delay=0.02))
    running = editor.begin_prompt(session, "count")
    await editor.wait_update(lambda update: "3 " in str(update.get("content")))
    copy = (await fork(editor, session, project))["sessionId"]
    assert not running.done()
    _, texts, _ = await load(editor, copy, project)
    assert texts[-2] == "count"
    assert texts[-1].startswith("0 1 2 3 ")
    assert await editor.prompt(copy, "in the fork") == "end_turn"
    assert (await running)["stopReason"] == "end_turn"
    assert editor.text(session).endswith("".join(pieces))
    *before, closing, last = said(model.requests[-1])
    assert before == ["read it", "I look.", "One.", "count"]
    assert "Interrupted" in closing
    assert last == "in the fork"


async def test_a_fork_during_a_question_holds_only_calls_with_results(editor, model, project):
    """The validating model server refuses a history with a call that has none."""
    (project / "a.txt").write_text("one\n")
    editor.handlers["session/request_permission"] = never
    model.say(
        Say(calls=[Call("read_file", {"path": "a.txt"})]),
        Say(text="Now both.", calls=[Call("list_files", {}), Call("terminal", {"command": "touch made"})]),
        "In the fork.",
    )
    session = await editor.new_session(project)
    running = editor.begin_prompt(session, "go")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    copy = (await fork(editor, session, project))["sessionId"]
    assert await editor.prompt(copy, "what was done?") == "end_turn"
    names = [call["function"]["name"] for call in calls_of(model.requests[-1])]
    assert "read_file" in names
    assert "terminal" not in names
    _, _, states = await load(editor, copy, project)
    assert set(states.values()) <= {"completed"}
    editor.notify("session/cancel", {"sessionId": session})
    assert (await running)["stopReason"] == "cancelled"
    assert not (project / "made").exists()


def calls_of(request):
    return [call for message in request.messages for call in message.get("tool_calls") or ()]


async def test_what_was_allowed_always_in_the_source_asks_again_in_the_fork(editor, model, project):
    asked = []

    def answer(params):
        asked.append(params["sessionId"])
        return {"outcome": {"outcome": "selected", "optionId": "allow_always"}}

    editor.handlers["session/request_permission"] = answer
    call = Say(calls=[Call("terminal", {"command": "touch a"})])
    model.say(call, "Done.", call, "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    copy = (await fork(editor, session, project))["sessionId"]
    await editor.prompt(copy, "go")
    assert asked == [session, copy]


async def test_further_folders_are_those_of_the_request_alone(editor, model, project, tmp_path):
    outside = tmp_path / "more"
    outside.mkdir()
    (outside / "b.txt").write_text("beta\n")
    session = await editor.new_session(project, additionalDirectories=[str(outside)])
    bare = (await fork(editor, session, project))["sessionId"]
    rooted = (await fork(editor, session, project, additionalDirectories=[str(outside)]))["sessionId"]
    asked = []
    allow = editor.handlers["session/request_permission"]
    editor.handlers["session/request_permission"] = lambda params: (asked.append(params["sessionId"]), allow(params))[1]
    for each in (bare, rooted):
        model.say(Say(calls=[Call("read_file", {"path": str(outside / "b.txt")})]), "Read.")
        await editor.prompt(each, "read")
    assert asked == [bare]


async def test_an_empty_session_can_be_forked(editor, model, project):
    session = await editor.new_session(project)
    copy = (await fork(editor, session, project))["sessionId"]
    assert await editor.prompt(copy, "hi") == "end_turn"
    assert said(model.requests[-1]) == ["hi"]


async def test_many_forks_at_once_and_forks_of_forks(editor, model, project):
    session = await a_turn_of_everything(editor, model, project)
    copies = [
        answer["sessionId"] for answer in await asyncio.gather(*(fork(editor, session, project) for _ in range(8)))
    ]
    copies.append((await fork(editor, copies[0], project))["sessionId"])
    assert len({session, *copies}) == 10
    await asyncio.gather(*(editor.prompt(copy, f"I am {copy}") for copy in copies))
    assert sorted(said(request)[-1] for request in model.requests[2:]) == sorted(f"I am {copy}" for copy in copies)


async def test_an_unknown_source_is_named_and_nothing_made(editor, project):
    with pytest.raises(AgentError) as error:
        await fork(editor, "nope", project)
    assert (error.value.code, error.value.data) == (-32002, {"sessionId": "nope"})
    assert (await editor.request("session/list"))["sessions"] == []


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": "/"}, "cwd"),
        ({"additionalDirectories": ["relative"]}, "additionalDirectories"),
        ({"sessionId": 5}, "sessionId"),
    ],
)
async def test_malformed_requests_are_refused_by_their_field_and_nothing_made(editor, project, params, field):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    with pytest.raises(AgentError) as error:
        await fork(editor, session, project, **params)
    assert error.value.code == -32602
    assert field in str(error.value)
    assert len((await editor.request("session/list"))["sessions"]) == 1


async def test_after_a_logout_no_copy_is_made(editor, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    await editor.request("logout")
    with pytest.raises(AgentError) as error:
        await fork(editor, session, project)
    assert error.value.code == -32000
    assert len((await editor.request("session/list"))["sessions"]) == 1


async def test_a_copy_that_is_taken_back_is_not_there(editor, model, project):
    """Whenever the cancel comes: what the list has are the copies that were told of."""
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    told = {session}
    for number in range(20):
        copying = editor.begin("session/fork", open_params(session, project))
        asked = editor.last_id
        await asyncio.sleep(number / 2_000)
        editor.notify("$/cancel_request", {"requestId": asked})
        await asyncio.wait([copying])
        told |= {copying.result()["sessionId"]} if copying.exception() is None else set()
    listed = {row["sessionId"] for row in (await editor.request("session/list"))["sessions"]}
    assert listed == told

"""Lines 39 to 53: prompts, their updates, and their end."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say, Status, fail
from tests.support.editor import AgentError, never, open_editor
from tests.support.pictures import block, plain
from tests.support.shared import WINDOW
from tests.support.talk import of_session, open_params, prompt_params

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_39_text_and_links_are_taken_in_their_order(editor, model, project):
    session = await editor.new_session(project)
    link = {"type": "resource_link", "name": "notes", "uri": "https://example.org/notes"}
    await editor.request("session/prompt", prompt_params(session, "first", link, "last"))
    said = str(model.requests[0].messages[-1]["content"])
    places = [said.index(word) for word in ("first", "https://example.org/notes", "last")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        (Say(text=["Done."]), "end_turn"),
        (Say(text=["I must not."], finish="content_filter"), "refusal"),
        (Status(400, "no"), None),
    ],
)
async def test_40_a_prompt_has_exactly_one_answer(editor, model, project, reply, stop):
    model.say(reply)
    session = await editor.new_session(project)
    future = editor.begin_prompt(session, "hi")
    id_ = editor.last_id
    if stop is None:
        with pytest.raises(AgentError):
            await future
    else:
        assert await future == {"stopReason": stop}
    await editor.prompt(session, "again")
    await editor.request("session/close", {"sessionId": session})
    assert len([line for line in editor.lines if line.get("id") == id_ and "method" not in line]) == 1


async def test_40_a_cut_answer_ends_with_max_tokens(editor, model, project):
    model.say(*[Say(text=["and so on "], finish="length")] * 2)
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go on") == "max_tokens"


async def test_40_a_model_that_says_nothing_again_and_again_is_an_error_too(editor, model, project):
    model.script(lambda body: Say())
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32603
    assert "no usable answer" in str(error.value)
    model.script(lambda body: None)
    assert await editor.prompt(session, "and now?") == "end_turn"


async def test_40_a_failure_that_stays_is_an_error_with_a_reason(editor, model, project):
    model.say(fail(404, "there is no such model"))
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32603
    assert "no such model" in str(error.value)


async def test_44_a_refused_prompt_and_all_after_it_are_not_in_the_next_request(editor, model, project):
    (project / "a").write_text("x\n")
    model.say(
        "Good day.",
        Say(calls=[Call("read_file", {"path": "a"})]),
        Say(text=["I must not."], finish="content_filter"),
        "Yes.",
    )
    session = await editor.new_session(project)
    await editor.prompt(session, "hello")
    assert await editor.prompt(session, "something bad") == "refusal"
    assert await editor.prompt(session, "something good") == "end_turn"
    said = [(message["role"], message.get("content")) for message in model.requests[-1].messages[1:]]
    assert said == [("user", "hello"), ("assistant", "Good day."), ("user", "something good")]


async def test_45_prompts_are_queued_in_order_and_a_cancel_ends_them_all(editor, model, project):
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompts = [editor.begin_prompt(session, str(n)) for n in range(3)]
    await model.until(lambda server: server.requests)
    editor.notify("session/cancel", {"sessionId": session})
    assert [answer["stopReason"] for answer in await asyncio.gather(*prompts)] == ["cancelled"] * 3
    model.say("one", "two")
    both = [editor.begin_prompt(session, text) for text in ("first", "second")]
    await asyncio.gather(*both)
    assert [request.messages[-1]["content"] for request in model.requests[1:]] == ["first", "second"]


async def test_46_each_message_has_one_id_on_all_its_pieces(editor, model, project):
    (project / "a").write_text("x\n")
    model.say(
        Say(
            reasoning=["a ", "b"],
            text=[f"{n} " for n in range(20)],
            calls=[Call("read_file", {"path": "a"})],
            token_delay=0.002,
        ),
        Say(reasoning=["c"], text=["end"]),
    )
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    ids = [
        update["messageId"]
        for kind in ("agent_thought_chunk", "agent_message_chunk")
        for update in editor.updates(session, kind)
    ]
    assert len(editor.updates(session, "agent_message_chunk")) > 4
    assert len(set(ids)) == 4
    assert ids == sorted(ids, key=ids.index), "the pieces of one message stand together"


async def test_47_a_prompt_is_not_echoed_and_has_an_id_when_it_is_replayed(editor, project):
    session = await editor.new_session(project)
    await editor.request("session/prompt", prompt_params(session, "one", "two"))
    await editor.prompt(session, "three")
    assert editor.updates(session, "user_message_chunk") == []
    await editor.request("session/close", {"sessionId": session})
    await editor.request("session/load", open_params(session, project))
    said = editor.updates(session, "user_message_chunk")
    assert [update["content"]["text"] for update in said] == ["one", "two", "three"]
    ids = [update["messageId"] for update in said]
    assert ids[0] == ids[1] != ids[2]


async def test_48_usage_has_the_real_size_and_no_price_that_is_not_known(editor, model, project):
    model.say(Say(text=["Hi."], usage={"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234}))
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    [usage] = editor.updates(session, "usage_update")
    assert usage == {"sessionUpdate": "usage_update", "used": 1234, "size": WINDOW}


async def test_48_usage_is_not_told_when_the_size_of_the_window_is_not_known(raw_editor, model, project):
    session = await raw_editor.new_session(project)
    await raw_editor.prompt(session, "hi")
    assert raw_editor.updates(session, "usage_update") == []


MCP = {"name": "files", "command": "/no/such/program", "args": [], "env": []}


async def test_49_and_50_a_notice_is_one_only_where_they_are_taken_and_is_not_replayed(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"session": {"notices": {}}})
        session = await editor.new_session(project, mcpServers=[MCP])
        await editor.prompt(session, "hi")
        [notice] = editor.updates(session, "notice")
        assert "files" in notice["title"]
        assert "files" not in editor.text(session)
        await editor.request("session/close", {"sessionId": session})
        await editor.request("session/load", open_params(session, project))
        assert editor.updates(session, "notice") == [notice]


@pytest.mark.parametrize("offered", [{"session": {"notices": {}}}, {}])
async def test_50_a_notice_of_a_turn_is_not_replayed(model, project, tmp_path, offered):
    """One that came in the middle, with the answer of the model: whatever form it had, it told of that moment."""
    refusal = "this model does not support image input"
    model.script(lambda body: fail(400, refusal) if "image_url" in str(body["messages"]) else None)
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize(offered)
        session = await editor.new_session(project)
        await editor.request("session/prompt", prompt_params(session, "what is this?", block(plain())))
        assert len(editor.updates(session, "notice")) == len(offered)
        assert (refusal in editor.text(session)) == (not offered)
        await editor.request("session/close", {"sessionId": session})
        before = len(editor.updates(session))
        await editor.request("session/load", open_params(session, project))
        again = editor.updates(session)[before:]
        assert {update["sessionUpdate"] for update in again} <= {
            "user_message_chunk",
            "agent_message_chunk",
            "available_commands_update",
        }
        assert refusal not in str(again)


async def test_49_without_notices_it_is_a_message(editor, project):
    session = (await editor.request("session/new", {"cwd": str(project), "mcpServers": [MCP]}))["sessionId"]
    await editor.prompt(session, "hi")
    assert editor.updates(session, "notice") == []
    assert "files is not connected" in editor.text(session)


async def test_52_every_cancelled_request_is_answered(editor, model, project):
    """A prompt with `cancelled`, another request with its result or -32800, and each once."""
    model.say(Say(text=["late"], first_delay=30))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "hi")
    prompt_id = editor.last_id
    await model.until(lambda server: server.requests)
    editor.notify("$/cancel_request", {"requestId": prompt_id})
    assert (await prompt)["stopReason"] == "cancelled"
    for method in ("session/list", "session/load", "session/fork"):
        future = editor.begin(method, open_params(session, project))
        editor.notify("$/cancel_request", {"requestId": editor.last_id})
        await asyncio.wait([future])
        error = future.exception()
        assert error is None or (isinstance(error, AgentError) and error.code == -32800), method
    assert await editor.prompt(session, "again") == "end_turn"


async def test_53_our_open_questions_are_taken_back_and_late_answers_ignored(editor, model, project):
    editor.handlers["session/request_permission"] = never
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]))
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "run")
    question = await editor.wait_line(lambda line: line.get("method") == "session/request_permission" and is_of(line))
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    assert question["id"] in editor.cancelled
    late = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
    before = len(editor.lines)
    editor.send({"jsonrpc": "2.0", "id": question["id"], "result": late})
    assert await editor.prompt(session, "again") == "end_turn"
    assert not (project / "made").exists()
    assert [line for line in editor.lines[before:] if "error" in line] == []


def is_of(line):
    return line["params"]["toolCall"]["title"].endswith("touch made")


async def test_53_a_cancel_of_an_idle_session_does_nothing(editor, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    before = len(of_session(editor, session))
    editor.notify("session/cancel", {"sessionId": session})
    await editor.request("session/list")
    assert len(of_session(editor, session)) == before
    assert await editor.prompt(session, "again") == "end_turn"

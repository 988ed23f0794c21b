"""A turn as the editor, the model server and the disk see it."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import AgentError, choose


def cards(editor, session):
    """The states of each card, in order: (toolCallId, status) of every update that says one."""
    seen = {}
    for update in editor.updates(session):
        if update["sessionUpdate"] in ("tool_call", "tool_call_update") and "status" in update:
            seen.setdefault(update["toolCallId"], []).append(update["status"])
    return seen


async def test_an_answer_streams_in_and_the_turn_ends(editor, model, project):
    model.say(Say(reasoning=["hm ", "hm"], text=["Hel", "lo."]))
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hi") == "end_turn"
    assert editor.text(session) == "Hello."
    assert editor.text(session, "agent_thought_chunk") == "hm hm"
    [request] = model.requests
    assert request.messages[0]["role"] == "system"
    assert request.messages[1] == {"role": "user", "content": "hi"}
    assert request.headers["authorization"] == "Bearer sk-test-0123456789"


async def test_text_and_thought_have_ids_of_their_own(editor, model, project):
    model.say(Say(reasoning=["a"], text=["b"]), Say(text=["c"]))
    session = await editor.new_session(project)
    await editor.prompt(session, "1")
    await editor.prompt(session, "2")
    ids = [
        [update["messageId"] for update in editor.updates(session, kind)]
        for kind in ("agent_message_chunk", "agent_thought_chunk")
    ]
    assert len(set(ids[0])) == 2
    assert not set(ids[0]) & set(ids[1])


async def test_reads_need_no_question_and_their_content_reaches_the_model(editor, model, project):
    (project / "a.txt").write_text("alpha\n")
    (project / "b.txt").write_text("beta\n")
    model.say(Say(calls=[Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b.txt"})]), "Read.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "read") == "end_turn"
    assert [line for line in editor.lines if line.get("method") == "session/request_permission"] == []
    results = [message["content"] for message in model.requests[1].messages if message["role"] == "tool"]
    assert "alpha" in results[0]
    assert "beta" in results[1]
    assert [states[-1] for states in cards(editor, session).values()] == ["completed", "completed"]


async def test_an_edit_shows_its_diff_in_the_question_and_lands_on_the_disk(editor, model, project):
    target = project / "a.txt"
    target.write_text("one\ntwo\n")
    model.say(Say(calls=[Call("patch", {"path": "a.txt", "old_text": "two", "new_text": "three"})]), "Done.")
    asked = []

    def answer(params):
        asked.append(params)
        assert target.read_text() == "one\ntwo\n"
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    assert await editor.prompt(session, "edit") == "end_turn"
    assert target.read_text() == "one\nthree\n"
    diff = {"type": "diff", "path": str(target), "oldText": "one\ntwo\n", "newText": "one\nthree\n"}
    [question] = asked
    reason = {"type": "content", "content": {"type": "text", "text": "This changes files."}}
    assert question["toolCall"]["content"] == [diff, reason]
    assert {option["kind"] for option in question["options"]} == {
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    }
    final = [update for update in editor.updates(session) if update.get("status") == "completed"]
    assert final[-1]["content"] == [diff]
    [states] = cards(editor, session).values()
    assert [state for index, state in enumerate(states) if states[index - 1 : index] != [state]] == [
        "pending",
        "in_progress",
        "completed",
    ]


async def test_a_card_is_pending_while_the_question_is_open(editor, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "echo hi; exit 0"})]), "Done.")
    states_when_asked = []

    def answer(params):
        states_when_asked.extend(cards(editor, params["sessionId"]).values())
        return choose("allow_once")(params)

    editor.handlers["session/request_permission"] = answer
    session = await editor.new_session(project)
    await editor.prompt(session, "run")
    assert all(state == "pending" for states in states_when_asked for state in states)
    assert states_when_asked


async def test_a_command_runs_in_the_sessions_folder_and_its_output_is_shown(editor, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "pwd; exit 3"})]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "run")
    result = model.requests[1].messages[-1]["content"]
    assert str(project) in result
    [final] = [update for update in editor.updates(session) if update.get("status") in ("completed", "failed")]
    assert final["status"] == "failed"
    assert final["rawOutput"]["exit_code"] == 3
    assert str(project) in final["content"][0]["content"]["text"]


async def test_a_rejection_is_told_to_the_model_and_the_turn_goes_on(editor, model, project):
    editor.handlers["session/request_permission"] = choose("reject_once")
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "All right.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "run") == "end_turn"
    assert not (project / "made").exists()
    assert "rejected" in model.requests[1].messages[-1]["content"]


async def test_an_option_that_was_not_offered_is_a_rejection(editor, model, project):
    editor.handlers["session/request_permission"] = lambda params: {
        "outcome": {"outcome": "selected", "optionId": "yes_to_all"}
    }
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "All right.")
    session = await editor.new_session(project)
    await editor.prompt(session, "run")
    assert not (project / "made").exists()


UNREADABLE = [None, {}, [], "allow_once", {"outcome": None}, {"outcome": "selected"}, {"optionId": "allow_once"}]


@pytest.mark.parametrize("answer", UNREADABLE, ids=str)
async def test_an_answer_that_cannot_be_read_allows_nothing(editor, model, project, answer):
    editor.handlers["session/request_permission"] = lambda params: answer
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "All right.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "run") == "end_turn"
    assert not (project / "made").exists()
    assert "could not be asked for" in model.requests[-1].messages[-1]["content"]


async def test_an_editor_that_cannot_ask_lets_nothing_run(editor, model, project):
    del editor.handlers["session/request_permission"]
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "All right.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "run") == "end_turn"
    assert not (project / "made").exists()
    assert "could not be asked" in model.requests[1].messages[-1]["content"]


async def test_cancelled_as_answer_ends_the_turn_and_runs_no_sibling(editor, model, project):
    editor.handlers["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
    model.say(Say(calls=[Call("terminal", {"command": f"touch made{n}"}) for n in range(3)]), "Next.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "run") == "cancelled"
    assert list(project.iterdir()) == []
    assert [states[-1] for states in cards(editor, session).values()] == ["failed"] * 3
    assert await editor.prompt(session, "again") == "end_turn"


async def test_always_covers_the_exact_command_in_this_session_only(editor, model, project):
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["rawInput"]["command"])
        return choose("allow_always")(params)

    editor.handlers["session/request_permission"] = answer
    run = [
        Say(calls=[Call("terminal", {"command": command})]) for command in ("touch a", "touch a", "touch a; touch b")
    ]
    model.say(*run, "Done.")
    first = await editor.new_session(project)
    await editor.prompt(first, "run")
    assert asked == ["touch a", "touch a; touch b"]
    model.say(run[0], "Done.")
    second = await editor.new_session(project)
    await editor.prompt(second, "run")
    assert asked == ["touch a", "touch a; touch b", "touch a"]


async def test_every_update_precedes_the_answer_of_its_prompt(editor, model, project):
    model.say(Say(text=[f"{n} " for n in range(2000)]))
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    answer = next(index for index, line in enumerate(editor.lines) if "stopReason" in (line.get("result") or {}))
    after = [line for line in editor.lines[answer + 1 :] if line.get("method") == "session/update"]
    assert after == []
    assert editor.text(session) == "".join(f"{n} " for n in range(2000))


async def test_prompts_sent_while_one_runs_are_answered_in_order(editor, model, project):
    model.say(Say(text=["first"], first_delay=0.2), "second", "third")
    session = await editor.new_session(project)
    prompts = [editor.begin_prompt(session, text) for text in ("1", "2", "3")]
    await asyncio.gather(*prompts)
    assert editor.text(session) == "firstsecondthird"
    assert [request.messages[-1]["content"] for request in model.requests] == ["1", "2", "3"]


async def test_a_failing_model_is_an_error_with_a_reason_and_the_next_prompt_is_served(editor, model, project):
    model.say(fail(401, "Incorrect API key provided: sk-test-0123456789"))
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32603
    assert "sk-test" not in str(error.value)
    assert await editor.prompt(session, "again") == "end_turn"
    assert "sk-test" not in editor.stderr


async def test_two_sessions_keep_their_own_folders(editor, model, tmp_path):
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
        (folder / "name.txt").write_text(f"in {folder.name}\n")
    model.script(
        lambda body: (
            Say(calls=[Call("read_file", {"path": "name.txt"}), Call("terminal", {"command": "pwd"})])
            if body["messages"][-1]["role"] == "user"
            else "ok"
        )
    )
    sessions = [await editor.new_session(folder) for folder in folders]
    await asyncio.gather(*(editor.prompt(session, "look") for session in sessions))
    for folder in folders:
        results = [
            message["content"]
            for request in model.requests
            for message in request.messages
            if message["role"] == "tool" and str(folder) in request.messages[0]["content"]
        ]
        assert f"in {folder.name}" in results[0]
        assert str(folder) in results[1]


@pytest.mark.parametrize("cwd", ["relative", "/no/such/folder", "/etc/hostname", ""])
async def test_a_folder_that_is_relative_or_missing_is_refused(editor, model, cwd):
    with pytest.raises(AgentError) as error:
        await editor.request("session/new", {"cwd": cwd, "mcpServers": []})
    assert error.value.code == -32602
    assert "cwd" in str(error.value)


async def test_a_path_that_cannot_be_is_an_error_for_the_model_and_not_for_the_turn(editor, model, project):
    model.say(
        Say(calls=[Call("read_file", {"path": "a\0b"}), Call("write_file", {"path": "\0", "content": "x"})]), "Done."
    )
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert [states[-1] for states in cards(editor, session).values()] == ["failed", "failed"]


async def test_an_empty_prompt_is_refused(editor, model, project):
    session = await editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await editor.request("session/prompt", {"sessionId": session, "prompt": []})
    assert error.value.code == -32602
    assert await editor.prompt(session, "hi") == "end_turn"


async def test_linked_and_embedded_files_reach_the_model_in_order(editor, model, tmp_path):
    folder = tmp_path / "My Proj (1)"
    folder.mkdir()
    (folder / "50% done.md").write_text("half\n")
    session = await editor.new_session(folder)
    encoded = str(folder).replace(" ", "%20") + "/50%25%20done.md"
    prompt = [
        {"type": "text", "text": "see"},
        {"type": "resource_link", "name": "50% done.md", "uri": f"file://{encoded}"},
        {"type": "resource", "resource": {"uri": "file:///x/y.py", "text": "print(1)"}},
        {"type": "_future", "data": 1},
        {"type": "text", "text": "end"},
    ]
    await editor.request("session/prompt", {"sessionId": session, "prompt": prompt})
    content = model.requests[0].messages[-1]["content"]
    text = content if isinstance(content, str) else "\n".join(part["text"] for part in content)
    order = [text.index(word) for word in ("see", "half", "print(1)", "_future", "end")]
    assert order == sorted(order)
    assert str(folder / "50% done.md") in text


@pytest.mark.parametrize("uri", ["file://[::1", "/" + "x" * 5000, "file:///a%00b", "https://example.org/a b", "weird:"])
async def test_a_link_that_leads_nowhere_does_not_cost_the_prompt(editor, model, project, uri):
    session = await editor.new_session(project)
    prompt = [{"type": "resource_link", "name": "that one", "uri": uri}, {"type": "text", "text": "look"}]
    await editor.request("session/prompt", {"sessionId": session, "prompt": prompt})
    sent = str(model.requests[0].messages[-1]["content"])
    assert "that one" in sent
    assert "look" in sent

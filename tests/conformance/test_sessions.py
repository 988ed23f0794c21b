"""Lines 23 to 38: making, finding, showing and ending sessions."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor
from tests.support.talk import cards, of_session, open_params

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_23_every_session_has_an_id_of_its_own(editor, project):
    sessions = await asyncio.gather(*(editor.new_session(project) for _ in range(20)))
    assert len(set(sessions)) == 20


async def test_24_the_folder_is_that_of_the_session_whatever_the_process_has(model, project, tmp_path):
    (project / "a.txt").write_text("in the project\n")
    model.say(Say(calls=[Call("read_file", {"path": "a.txt"}), Call("terminal", {"command": "pwd"})]), "Done.")
    async with open_editor(tmp_path / "home", model.url, cwd=tmp_path) as editor:
        await editor.initialize()
        await editor.prompt(await editor.new_session(project), "look")
        read, ran = [message["content"] for message in model.requests[1].messages if message["role"] == "tool"]
        assert "in the project" in read
        assert str(project) in ran


async def test_25_a_load_answers_with_an_object_after_all_that_it_shows(editor, model, project):
    model.say(Say(reasoning=["hm"], text=["Hello."]))
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    await editor.request("session/close", {"sessionId": session})
    before = len(editor.lines)
    result = await editor.request("session/load", open_params(session, project))
    assert isinstance(result, dict)
    answer = next(index for index, line in enumerate(editor.lines) if line.get("id") == editor.last_id)
    shown = [line["params"]["update"] for line in editor.lines[before:answer]]
    assert [(update["sessionUpdate"], update["content"]["text"]) for update in shown] == [
        ("user_message_chunk", "hi"),
        ("agent_thought_chunk", "hm"),
        ("agent_message_chunk", "Hello."),
    ]


async def test_26_a_resume_shows_nothing_before_its_answer(editor, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    await editor.request("session/close", {"sessionId": session})
    before = len(editor.lines)
    await editor.request("session/resume", open_params(session, project))
    assert editor.lines[before]["id"] == editor.last_id


@pytest.mark.parametrize("method", ["session/new", "session/fork"])
async def test_27_no_update_names_a_session_before_its_answer(editor, project, method):
    """Nor the title that a copy has from its source."""
    source = await editor.new_session(project)
    await editor.prompt(source, "What the title is made of")
    answers = await asyncio.gather(*(editor.request(method, open_params(source, project)) for _ in range(5)))
    for session in (answer["sessionId"] for answer in answers):
        await editor.wait_line(lambda line, it=session: (line.get("params") or {}).get("sessionId") == it)
        told = next(line for line in editor.lines if (line.get("result") or {}).get("sessionId") == session)
        assert editor.lines.index(told) < editor.lines.index(of_session(editor, session)[0])


async def test_30_an_empty_list_is_a_list(editor, tmp_path):
    assert await editor.request("session/list", {"cwd": str(tmp_path / "nothing here")}) == {"sessions": []}


@pytest.mark.parametrize("cursor", ["garbage", "W10=", "WzEsMl0=", "é", "bnVsbA==", "\ud800", "AA" * 50_000])
async def test_31_a_cursor_that_was_not_given_out_is_invalid(editor, cursor):
    with pytest.raises(AgentError) as error:
        await editor.request("session/list", {"cursor": cursor})
    assert error.value.code == -32602
    assert "cursor" in str(error.value)


async def test_32_the_filter_takes_exactly_one_folder(editor, tmp_path):
    made = {}
    for name in ("p", "p/inner", "pp", "P", "p%", "p_"):
        folder = tmp_path / name
        folder.mkdir()
        made[folder] = await editor.new_session(folder)
        await editor.prompt(made[folder], "hi")
    for folder, session in made.items():
        for spelled in (str(folder), f"{folder}/"):
            [row] = (await editor.request("session/list", {"cwd": spelled}))["sessions"]
            assert (row["sessionId"], row["cwd"]) == (session, str(folder))


async def test_33_a_session_info_update_holds_only_what_changed(editor, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "A title of its own")
    [update] = editor.updates(session, "session_info_update")
    assert update["title"] == "A title of its own"
    assert set(update) == {"sessionUpdate", "title", "updatedAt"}


@pytest.mark.parametrize("roots", [["relative"], ["/", 5], "/", {}, [None], ["/a\0b"], [""]])
async def test_34_one_malformed_root_refuses_the_whole_request(editor, project, roots):
    session = await editor.new_session(project)
    await editor.request("session/close", {"sessionId": session})
    for method in ("session/new", "session/load", "session/resume", "session/fork"):
        with pytest.raises(AgentError) as error:
            await editor.request(method, open_params(session, project, additionalDirectories=roots))
        assert error.value.code == -32602, method
        assert "additionalDirectories" in str(error.value)
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "hi")
    assert error.value.code == -32002, "a refused request has opened nothing"


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
async def test_35_further_roots_are_those_of_the_request_and_never_restored(
    editor, model, project, tmp_path, method, closed
):
    more = tmp_path / "more"
    more.mkdir()
    (more / "b.txt").write_text("beta\n")
    session = await editor.new_session(project, additionalDirectories=[str(more)])
    asked = watch_questions(editor)
    for roots, questions in (([str(more)], 0), ([], 1)):
        if closed:
            await editor.request("session/close", {"sessionId": session})
        params = open_params(session, project, additionalDirectories=roots)
        opened = (await editor.request(method, params)).get("sessionId", session)
        model.say(Say(calls=[Call("read_file", {"path": str(more / "b.txt")})]), "Read.")
        await editor.prompt(opened, "read")
        assert len(asked) == questions
        if closed and method == "session/fork":
            await editor.request("session/resume", open_params(session, project))


def watch_questions(editor):
    asked = []
    allow = editor.handlers["session/request_permission"]

    def answer(params):
        asked.append(params)
        return allow(params)

    editor.handlers["session/request_permission"] = answer
    return asked


async def test_36_file_tools_stay_within_the_folders_with_links_resolved(editor, model, project, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret\n")
    (project / "link.txt").symlink_to(outside / "secret.txt")
    (project / "linked").symlink_to(outside)
    (project / "dangling").symlink_to(outside / "new.txt")
    escapes = ("link.txt", "linked/secret.txt", "../outside/secret.txt", str(outside / "secret.txt"))
    writes = ("link.txt", "linked/new.txt", "dangling", "../outside/new.txt")
    model.say(
        Say(calls=[Call("read_file", {"path": path}) for path in escapes]),
        Say(calls=[Call("write_file", {"path": path, "content": "x\n"}) for path in writes]),
        "Done.",
    )
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    asked = []

    def reject(params):
        asked.extend(place["path"] for place in params["toolCall"]["locations"])
        return {"outcome": {"outcome": "selected", "optionId": "reject_once"}}

    editor.handlers["session/request_permission"] = reject
    await editor.prompt(session, "go")
    assert {card["status"] for card in cards(editor, session).values()} == {"failed"}
    assert len(cards(editor, session)) == len(escapes) + len(writes)
    assert "secret\\n" not in str(model.requests[-1].messages)
    assert (outside / "secret.txt").read_text() == "secret\n"
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert set(asked) == {str(outside / "secret.txt"), str(outside / "new.txt")}, "where the links lead to"

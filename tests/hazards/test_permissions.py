"""A and Z: questions that hang, are skipped or cover too much; the ways around them."""

import asyncio
import json
import os

import pytest

from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.registry import discover
from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, choose, open_editor
from tests.support.talk import states

pytestmark = pytest.mark.slow


def run(*commands):
    return Say(calls=[Call("terminal", {"command": command}) for command in commands])


def write(path, content="x\n"):
    return Call("write_file", {"path": path, "content": content})


def answering(editor, answer):
    """Let the person answer like this; the questions as they come."""
    asked = []

    def handle(params):
        asked.append(params)
        return answer(params)

    editor.handlers["session/request_permission"] = handle
    return asked


def last_result(model):
    return model.requests[-1].messages[-1]["content"]


async def test_a1_a_cancel_takes_an_open_question_back_and_a_late_answer_does_nothing(editor, model, project):
    late = asyncio.Event()

    async def answer(params):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            late.set()
            return choose("allow_once")(params)

    answering(editor, answer)
    model.say(Say(calls=[write("made")]), "Next.")
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "go")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await asyncio.wait_for(prompt, 2))["stopReason"] == "cancelled"
    await asyncio.wait_for(late.wait(), 2)
    assert await editor.prompt(session, "again") == "end_turn"
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("place", [0, 1])
async def test_a2_a_closed_question_ends_the_turn_and_runs_no_other_call(editor, model, project, place):
    calls = [Call("terminal", {"command": f"touch made{n}"}) for n in range(3)]
    answers = iter(["reject_once"] * place + ["cancelled"] + ["allow_once"] * 3)
    asked = answering(editor, lambda params: choose(next(answers))(params))
    model.say(Say(calls=calls))
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "cancelled"
    assert len(asked) == place + 1
    assert [card[-1] for card in states(editor, session).values()] == ["failed"] * 3
    assert list(project.iterdir()) == []


async def test_a3_always_for_a_file_ends_the_questions_about_that_file(editor, model, project):
    asked = answering(editor, choose("allow_always"))
    model.say(*[Say(calls=[write("a.txt", f"{n}\n")]) for n in range(5)], Say(calls=[write("b.txt")]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    assert (project / "a.txt").read_text() == "4\n"
    assert len(asked) == 2
    assert [option["kind"] for option in asked[0]["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    assert "this file" in asked[0]["options"][1]["name"]


async def test_a4_one_policy_holds_for_every_tool_that_edits(editor, model, project, tmp_path):
    """Edits inside run unasked, whichever tool makes them; what is sensitive is asked about all the same."""
    (project / "a.txt").write_text("one\n")
    asked = answering(editor, choose("reject_once"))
    patch = Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})
    sensitive = [
        ".env",
        ".git/config",
        ".git/hooks/pre-commit",
        ".hermes-acp.toml",
        str(tmp_path / "out.txt"),
        "id_rsa",
    ]
    model.say(Say(calls=[write("b.txt"), patch, *map(write, sensitive)]), "Done.")
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.prompt(session, "go")
    assert sorted(path.name for path in project.iterdir()) == ["a.txt", "b.txt"]
    assert (project / "a.txt").read_text() == "two\n"
    assert len(asked) == len(sensitive)


@pytest.mark.parametrize("code", [-32603, -32601])
async def test_a5_a_question_that_could_not_be_put_is_told_as_such_and_nothing_runs(editor, model, project, code):
    def fail(params):
        raise AgentError(code, "no dialogues here")

    editor.handlers["session/request_permission"] = fail
    model.say(run("touch made"), "Done.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert "could not be asked" in last_result(model)
    assert "user rejected" not in last_result(model).lower()
    assert list(project.iterdir()) == []


async def test_a5_a_question_that_nobody_answers_in_time_is_told_as_such(tmp_path, model, project):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[approvals]\ntimeout = 0.3\n")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        answering(editor, lambda params: asyncio.Event().wait())
        model.say(run("touch made"), "Done.")
        assert await editor.prompt(await editor.new_session(project), "go") == "end_turn"
        assert "No answer came within 0.3 seconds" in last_result(model)
        assert list(project.iterdir()) == []


async def test_a6_a_rejection_fails_its_call_alone_and_the_turn_goes_on(editor, model, project):
    answers = iter(["reject_once", "allow_once"])
    answering(editor, lambda params: choose(next(answers))(params))
    model.say(Say(calls=[write("no"), write("yes")]), "I see.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "go") == "end_turn"
    assert [path.name for path in project.iterdir()] == ["yes"]
    assert "I see." in editor.text(session)


def test_a7_plan_mode_offers_no_tool_that_changes_anything():
    plan, ask = Approvals("plan"), Approvals("ask")
    changing = {name for name, tool in discover().items() if not plan.offers(tool.effect)}
    assert {"patch", "write_file", "terminal"} <= changing
    assert all(ask.offers(tool.effect) for tool in discover().values())


@pytest.mark.parametrize("name", ["patch", "write_file", "terminal"])
async def test_a7_a_call_that_plan_mode_does_not_offer_is_refused_without_a_question(editor, model, project, name):
    (project / "a.txt").write_text("one\n")
    arguments = {
        "patch": {"path": "a.txt", "old_text": "one", "new_text": "two"},
        "write_file": {"path": "b.txt", "content": "x"},
        "terminal": {"command": "touch c.txt"},
    }[name]
    asked = answering(editor, choose("allow_once"))
    model.say(Say(calls=[Call(name, arguments)]), "Done.")
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    await editor.prompt(session, "go")
    assert asked == []
    assert "plan mode" in last_result(model)
    assert [(path.name, path.read_text()) for path in project.iterdir()] == [("a.txt", "one\n")]


async def test_a8_a_dangerous_command_is_asked_about_in_a_fresh_session_with_no_settings(editor, model, project):
    (project / "build").mkdir()
    asked = answering(editor, choose("reject_once"))
    model.say(run("rm -rf build"), "Done.")
    await editor.prompt(await editor.new_session(project), "go")
    assert [question["toolCall"]["rawInput"]["command"] for question in asked] == ["rm -rf build"]
    assert (project / "build").exists()


async def test_a9_always_covers_what_it_says_in_this_session_and_yields_to_a_stricter_mode(editor, model, project):
    asked = answering(editor, choose("allow_always"))
    first, other = [await editor.new_session(project) for _ in range(2)]
    for session, reply, questions in (
        (first, Say(calls=[write("a.txt")]), 1),
        (first, Say(calls=[write("a.txt", "again\n")]), 1),
        (first, run("touch b.txt"), 2),
        (first, run("touch b.txt"), 2),
        (other, Say(calls=[write("a.txt", "other\n")]), 3),
        (other, run("touch b.txt"), 4),
    ):
        model.say(reply, "Done.")
        await editor.prompt(session, "go")
        assert len(asked) == questions
    await editor.request("session/set_mode", {"sessionId": first, "modeId": "plan"})
    model.say(Say(calls=[write("a.txt", "planned\n")]), "Done.")
    await editor.prompt(first, "go")
    assert (len(asked), (project / "a.txt").read_text()) == (4, "other\n")


async def test_z1_always_for_a_command_covers_no_line_that_only_begins_like_it(editor, model, project):
    granted = "touch a"
    around = [
        *("touch a && touch pwn", "touch a; touch pwn", "touch a\ntouch pwn2", "touch a > pwn", "touch a $(touch pwn)"),
        *(
            "touch a | touch pwn",
            "touch a & touch pwn",
            "touch a pwn",
            "touch -c a",
            "touch `touch pwn` a",
            "X=1 touch a",
        ),
    ]
    answers = iter(["allow_always"] + ["reject_once"] * len(around))
    asked = answering(editor, lambda params: choose(next(answers))(params))
    model.say(run(granted), run(granted), run(*around), "Done.")
    await editor.prompt(await editor.new_session(project), "go")
    assert len(asked) == 1 + len(around)
    assert [path.name for path in project.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "command", ["git -c core.pager=./x log", "git --paginate log", "git -c alias.x='!touch pwn' x"]
)
async def test_z1_options_of_git_that_run_programs_are_asked_about(editor, model, project, command):
    asked = answering(editor, choose("reject_once"))
    model.say(run(command), "Done.")
    await editor.prompt(await editor.new_session(project), "go")
    assert len(asked) == 1


@pytest.mark.parametrize(
    "link", ["notes.txt", "dangling", "folder/new.txt", "../outside/new.txt", "deep/a/b.txt", "/proc"]
)
async def test_z2_a_write_through_a_link_is_asked_about_by_the_path_it_leads_to(editor, model, project, tmp_path, link):
    outside = tmp_path / "outside"
    link = f"/proc/self/root{outside}/new.txt" if link == "/proc" else link
    (outside / "a").mkdir(parents=True)
    (outside / "keys").write_text("mine\n")
    (project / "notes.txt").symlink_to(outside / "keys")
    (project / "dangling").symlink_to(outside / "new")
    (project / "folder").symlink_to(outside)
    (project / "deep").symlink_to("folder")
    asked = answering(editor, choose("reject_once"))
    before = sorted(os.listdir(outside))
    model.say(Say(calls=[Call("read_file", {"path": link})]), Say(calls=[write(link)]), "Done.")
    session = await editor.new_session(project)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.prompt(session, "go")
    assert str(outside) in json.dumps(asked[-1]["toolCall"])
    assert (outside / "keys").read_text() == "mine\n"
    assert sorted(os.listdir(outside)) == before

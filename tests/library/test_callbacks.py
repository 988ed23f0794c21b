"""The nine callbacks over real HTTP: what each is told, in which order, and what harms no turn."""

import asyncio
import json
import logging
import threading
import time

import pytest

from tests.fakes.model_server import Call, Say, Status
from tests.support.processes import until

TOLD = (
    "tool_progress_callback",
    "thinking_callback",
    "reasoning_callback",
    "step_callback",
    "stream_delta_callback",
    "tool_gen_callback",
    "status_callback",
)


def recording(log, names=TOLD):
    """Callbacks that note their names, without the last word, and their arguments."""
    return {name: lambda *args, name=name: log.append((name.removesuffix("_callback"), *args)) for name in names}


def test_all_nine_are_called_in_order_with_their_arguments(make, model, project):
    log = []

    def approve(request):
        assert request.reason
        log.append(("approval", request.tool, request.command, request.cwd))
        return "once"

    def clarify(question, choices):
        log.append(("clarify", question, choices))
        return "blue"

    agent = make(approval_callback=approve, clarify_callback=clarify, **recording(log))
    command = {"command": "touch made && echo hello"}
    model.say(
        Say(reasoning=["Look ", "first."], text=["I ", "run it."], calls=[Call("terminal", command)]),
        Say(calls=[Call("read_file", {"path": "missing.txt"}), Call("list_files", {})]),
        "All done.",
    )
    result = agent.run_conversation("Go.")
    assert result["final_response"] == "All done."

    ids = [call["id"] for message in result["messages"] for call in message.get("tool_calls", ())]
    [finished] = [entry for entry in log if entry[:2] == ("tool_progress", "finished") and entry[3] == ids[0]]
    assert [entry for entry in log if entry[:2] != ("tool_progress", "output")][:18] == [
        ("status", "sandbox", "Commands run in no sandbox: it is turned off by the setting sandbox.use."),
        ("thinking", "Thinking…"),
        ("status", "thinking", ""),
        ("reasoning", "Look "),
        ("reasoning", "first."),
        ("thinking", ""),
        ("stream_delta", "I "),
        ("stream_delta", "run it."),
        ("status", "calling", ""),
        ("tool_gen", "terminal"),
        ("stream_delta", None),
        ("status", "executing", ""),
        ("approval", "terminal", command["command"], str(project)),
        ("tool_progress", "started", "terminal", ids[0], command, "", False, 0.0),
        finished,
        ("step", 1, [{"name": "terminal", "is_error": False}]),
        ("thinking", "Thinking…"),
        ("status", "thinking", ""),
    ]
    _, _, name, _, args, text, is_error, duration = finished
    assert (name, args, text.splitlines()[0], is_error) == ("terminal", command, "hello", False)
    assert 0 < duration < 30
    assert ("step", 2, [{"name": "read_file", "is_error": True}, {"name": "list_files", "is_error": False}]) in log
    assert log[-5:] == [
        ("stream_delta", "All "),
        ("stream_delta", "done."),
        ("stream_delta", None),
        ("step", 3, []),
        ("status", "idle", ""),
    ]


def test_live_output_of_a_command_is_told_between_its_start_and_its_end(make, model):
    log = []
    agent = make(approval_callback=lambda request: "once", **recording(log, ["tool_progress_callback"]))
    model.say(Say(calls=[Call("terminal", {"command": "echo early; sleep 0.3; echo late"})]), "Done.")
    agent.chat("Go.")
    assert [entry[1] for entry in log] == ["started", *["output"] * (len(log) - 2), "finished"]
    assert log[1][5] == "early\n"
    assert 0 <= log[1][7] < 30


def test_a_failure_that_is_tried_again_is_told_as_a_status(make, model):
    log = []
    agent = make(**recording(log, ["status_callback"]))
    model.say(Status(503, {"error": {"message": "busy"}}, headers={"retry-after": "0"}), "Here.")
    assert agent.chat("Go.") == "Here."
    assert [entry[1] for entry in log] == ["sandbox", "thinking", "retrying", "thinking", "idle"]
    assert "busy" in log[2][2]


def test_an_interrupted_message_is_ended_too(make, model):
    log = []
    agent = make(**recording(log, ["stream_delta_callback", "thinking_callback", "status_callback"]))
    model.say(Say(text=["on "] * 1000, token_delay=0.01))
    threading.Thread(target=lambda: until(lambda: ("stream_delta", "on ") in log) and agent.interrupt()).start()
    assert agent.run_conversation("Go.")["interrupted"]
    assert log[-2:] == [("stream_delta", None), ("status", "idle", "")]
    assert ("thinking", "") in log


@pytest.mark.parametrize("answer", ["once", "session", "always"])
def test_what_is_allowed_runs_and_how_long_that_holds(make, model, project, answer):
    asked = []
    agent = make(approval_callback=lambda request: asked.append(request.command) or answer)
    call = Say(calls=[Call("terminal", {"command": "echo x >> log"})])
    model.say(call, call, "Done.")
    agent.chat("Go.")
    assert (project / "log").read_text() == "x\nx\n"
    assert len(asked) == (2 if answer == "once" else 1)


def test_what_is_allowed_always_is_allowed_to_the_next_agent_in_that_folder_alone(make, model, project, tmp_path):
    call = Say(
        calls=[Call("terminal", {"command": "echo x >> log"}), Call("write_file", {"path": "a", "content": "y"})]
    )
    model.say(call, "Done.")
    make(approval_callback=lambda request: "always").chat("Go.")
    model.say(call, "Done.")
    make().chat("Go.")
    assert (project / "log").read_text() == "x\nx\n"
    other = tmp_path / "other"
    other.mkdir()
    model.say(call, "Done.")
    make(cwd=other).chat("Go.")
    assert list(other.iterdir()) == []


def raising(request):
    raise LookupError("nobody home")


def leaving(request):
    raise SystemExit(3)


@pytest.mark.parametrize(
    "answer",
    [lambda request: "deny", lambda request: "yes", lambda request: True, lambda request: [], raising, leaving, None],
    ids=["deny", "unknown word", "no word", "a list", "raises", "exits", "no callback"],
)
def test_everything_but_a_clear_yes_is_a_no(make, model, project, answer, caplog):
    agent = make(approval_callback=answer)
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Not done.")
    result = agent.run_conversation("Go.")
    assert not (project / "made").exists()
    [told] = [message for message in result["messages"] if message["role"] == "tool"]
    assert told["is_error"]
    assert result["final_response"] == "Not done."


def test_an_approval_that_takes_too_long_is_a_no(make, model, project):
    agent = make(approval_callback=lambda request: time.sleep(1) or "once", approval_timeout=0.1)
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Not done.")
    assert agent.chat("Go.") == "Not done."
    assert not (project / "made").exists()


@pytest.mark.parametrize("waiting", ["in a thread", "on a loop"])
def test_a_question_that_nobody_answers_in_time_does_not_hold_the_turn(make, model, waiting):
    released = threading.Event()

    async def never(question, choices):
        await asyncio.Event().wait()

    hang = never if waiting == "on a loop" else lambda question, choices: released.wait(20) and "too late"
    agent = make(clarify_callback=hang, approval_timeout=0.1)
    model.say(Say(calls=[Call("clarify", {"question": "Which colour?"})]), "Which colour?")
    began = time.monotonic()
    result = agent.run_conversation("Paint.")
    assert time.monotonic() - began < 5
    released.set()
    [told] = [message for message in result["messages"] if message["role"] == "tool"]
    assert "The user has not answered here." in told["content"]
    assert result["final_response"] == "Which colour?"


def test_an_edit_is_asked_about_with_its_diff(make, model, project):
    (project / "a.txt").write_text("one\ntwo\n")
    asked = []
    agent = make(approval_callback=lambda request: asked.append(request) or "once")
    model.say(
        Say(calls=[Call("patch", {"path": "a.txt", "edits": [{"old_text": "two", "new_text": "three"}]})]),
        Say(calls=[Call("write_file", {"path": "b.txt", "content": "new"})]),
        "Done.",
    )
    agent.chat("Go.")
    assert "-two\n+three\n" in asked[0].diff
    assert asked[0].command == ""
    assert "--- /dev/null" in asked[1].diff
    assert asked[1].diff.endswith("+new\n\\ No newline at end of file\n")
    assert (project / "b.txt").read_text() == "new"


def test_a_callback_that_raises_is_logged_and_harms_nothing(make, model, caplog):
    def fails(*args):
        raise LookupError("out of order")

    told = []
    agent = make(stream_delta_callback=fails, status_callback=fails, step_callback=lambda *args: told.append(args))
    model.say("A whole answer.")
    with caplog.at_level(logging.WARNING):
        assert agent.chat("Go.") == "A whole answer."
    assert told == [(1, [])]
    assert "out of order" in caplog.text


def test_a_slow_callback_delays_no_turn_and_loses_no_text(make, model):
    heard = []

    def slow(text):
        time.sleep(0.2)
        heard.append(text)

    agent = make(stream_delta_callback=slow)
    agent.chat("Warm up.")
    heard.clear()
    model.say(Say(text=[f"{number} " for number in range(20)]))
    began = time.monotonic()
    answer = agent.chat("Go.")
    assert time.monotonic() - began < 3  # All of them take four seconds.
    assert until(lambda: heard[-1:] == [None])
    assert "".join(heard[:-1]) == answer


def test_sync_callbacks_are_called_one_after_the_other_in_a_thread_that_is_not_the_callers(make, model):
    threads = set()
    agent = make(stream_delta_callback=lambda text: threads.add(threading.current_thread()))
    model.say("One two three.")
    agent.chat("Go.")
    assert len(threads) == 1
    assert threading.main_thread() not in threads


def test_async_callbacks_work_without_a_loop_of_the_callers(make, model, project):
    heard = []

    async def hear(text):
        await asyncio.sleep(0)
        heard.append(text)

    async def approve(request):
        await asyncio.sleep(0)
        return "once"

    agent = make(stream_delta_callback=hear, approval_callback=approve)
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "One two.")
    agent.chat("Go.")
    assert (project / "made").exists()
    assert heard == ["One ", "two.", None]


async def test_async_callbacks_run_on_the_loop_of_whoever_awaits(make, model, project):
    here, loops = asyncio.get_running_loop(), []

    async def hear(text):
        loops.append(asyncio.get_running_loop())

    async def approve(request):
        loops.append(asyncio.get_running_loop())
        return "once"

    agent = make(stream_delta_callback=hear, approval_callback=approve)
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "One two.")
    await agent.arun_conversation("Go.")
    assert loops == [here] * 4
    assert (project / "made").exists()


def test_a_question_cannot_be_answered_by_asking_the_same_agent(make, model, caplog):
    """It would wait for itself."""
    agent = make(approval_callback=lambda request: agent.chat("May I?"))
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Not done.")
    assert agent.chat("Go.") == "Not done."
    assert "cannot ask its own agent" in caplog.text


@pytest.mark.parametrize(("answer", "read", "kept"), [("session", True, 0), ("always", True, 1), ("deny", False, 0)])
def test_what_a_project_brings_is_asked_of_the_program_and_kept_only_for_good(
    make, model, project, tmp_path, answer, read, kept
):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "sh", "args": ["-c", "touch started"]}}}')
    asked = []
    agent = make(approval_callback=lambda request: asked.append(request) or answer)
    agent.chat("Go.")
    agent.chat("Go on.")
    assert [request.tool for request in asked] == ["trust", "trust"]
    assert '"touch started"' in asked[1].reason
    assert ("Use tabs." in str(model.requests[0].messages[0])) is read
    assert (project / "started").exists() is read
    file = tmp_path / "home" / "trust.json"
    assert (len(json.loads(file.read_text())["trusted"]) if file.exists() else 0) == 2 * kept
    assert not (tmp_path / "home" / "config.toml").exists()


def test_without_anybody_to_ask_a_project_neither_steers_nor_starts_anything(make, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "sh", "args": ["-c", "touch started"]}}}')
    make(on_ask="deny").chat("Go.")
    assert "Use tabs." not in str(model.requests[0].messages)
    assert not (project / "started").exists()

"""What a call gives back, what it continues, and what goes wrong in a way that can be told."""

import inspect
import json
import logging
import re

import pytest

import hermes_acp
from hermes_acp import AIAgent
from hermes_acp.errors import ConfigError, SessionNotFound
from tests.fakes.model_server import Call, Say, fail
from tests.library.conftest import KEY
from tests.support.pictures import in_base64, plain

KEYS = [
    "final_response",
    "messages",
    "completed",
    "interrupted",
    "partial",
    "stop_reason",
    "api_calls",
    "usage",
    "session_id",
    "task_id",
    "model",
    "provider",
    "error",
]


def said(model):
    """The messages of the newest request without the system prompt: role and content."""
    return [(one["role"], one["content"]) for one in model.requests[-1].messages if one["role"] != "system"]


def without_answer(result):
    return (result["final_response"], result["completed"], result["interrupted"], result["stop_reason"])


# What it gives


def test_an_answer_with_all_that_is_told_of_it(make, model, project):
    (project / "a.txt").write_text("alpha\n")
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    model.say(
        Say(reasoning=["look"], calls=[Call("read_file", {"path": "a.txt"})], usage=usage),
        Say("It says alpha.", usage=usage),
    )
    agent = make()
    result = agent.run_conversation(user_message="What does it say?", task_id="task_abc123")
    assert list(result) == KEYS
    messages = result.pop("messages")
    assert result == {
        "final_response": "It says alpha.",
        "completed": True,
        "interrupted": False,
        "partial": False,
        "stop_reason": "end_turn",
        "api_calls": 2,
        "usage": {"input": 20, "output": 10, "cached": 8, "reasoning": 6, "kept": 0, "cost": None},
        "session_id": agent.session_id,
        "task_id": "task_abc123",
        "model": "fake-model",
        "provider": "custom",
        "error": None,
    }
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["reasoning"] == "look"
    assert "alpha" in messages[2]["content"]
    json.dumps(messages, allow_nan=False)


def test_the_seeds_call(make, model):
    """The parameters by the names and in the order of the requirement."""
    parameters = list(inspect.signature(AIAgent.run_conversation).parameters)
    assert parameters == ["self", "user_message", "system_message", "conversation_history", "task_id"]
    result = make().run_conversation("Hi.", None, None, None)
    assert result["task_id"]
    assert result["final_response"] == "Done."


def test_every_turn_has_a_task_of_its_own(make, model):
    agent = make()
    first, second = agent.run_conversation("One."), agent.run_conversation("Two.")
    assert first["task_id"] != second["task_id"]


@pytest.mark.parametrize(
    ("replies", "stop", "text", "partial"),
    [
        ([Say("I will not.", finish="content_filter")], "refusal", "I will not.", False),
        ([Say("It begins", finish="length"), Say(" and goes on", finish="length")], "max_tokens", None, True),
        ([Say(calls=[Call("list_files", {})]), Say(calls=[Call("list_files", {})]), "So far."], None, "So far.", False),
        ([Say(), Say(), Say()], "partial", "", True),
    ],
    ids=["refused", "cut", "out of calls", "no usable reply"],
)
def test_a_turn_that_did_not_end_with_an_answer_is_not_completed(make, model, replies, stop, text, partial):
    model.say(*replies)
    result = make(max_turns=2 if stop is None else 5).run_conversation("Go.")
    assert result["stop_reason"] == (stop or "max_turn_requests")
    assert result["final_response"] == ("It begins and goes on" if text is None else text)
    assert (result["completed"], result["partial"]) == (False, partial)
    assert (result["error"] is not None) == (stop == "partial")


@pytest.mark.parametrize(
    "reply",
    [
        fail(401, f"Incorrect API key provided: {KEY}"),
        fail(400, "no such thing"),
        Say("It begins", ending="cut"),
        Say("It begins", error={"message": "overloaded", "code": 503}),
    ],
    ids=["key refused", "bad request", "cut", "error in the stream"],
)
def test_a_failure_is_an_error_with_its_reason_and_never_an_answer(make, model, caplog, reply):
    """Peer fault: a provider failure arrives as an ordinary answer."""
    agent = make()
    model.say(reply)
    with caplog.at_level(logging.DEBUG):
        result = agent.run_conversation("Go.")
    assert without_answer(result) == ("", False, False, "error")
    assert len(result["error"]) > 10
    assert KEY not in str(result) + caplog.text
    assert result["api_calls"] >= 1
    model.say(reply, "Back again.")
    assert agent.chat("Go on.") == ""
    assert "There is no answer" in caplog.text
    assert agent.chat("Go on.") == "Back again."


def test_without_a_model_the_error_says_what_to_do(project, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with AIAgent() as agent:
        result = agent.run_conversation("Hi.")
    assert without_answer(result) == ("", False, False, "error")
    assert "No model is configured" in result["error"]
    assert (result["messages"], result["api_calls"]) == ([], 0)


# Settings


def test_what_is_not_given_comes_from_the_environment_and_the_persons_file(model, project, monkeypatch):
    home = project.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text(
        f'[model]\nprovider = "custom"\nbase_url = "{model.url}"\nname = "of-the-file"\n[agent]\nmax_turns = 1\n'
    )
    monkeypatch.setenv("HERMES_ACP_API_KEY", KEY)
    model.say(Say(calls=[Call("list_files", {})]), "Out of calls.")
    with AIAgent() as agent:
        assert agent.run_conversation("Go.")["stop_reason"] == "max_turn_requests"
    assert model.requests[0].body["model"] == "of-the-file"
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    monkeypatch.setenv("HERMES_ACP_MODEL", "of-the-environment")
    with AIAgent() as agent:
        agent.chat("Go.")
    assert model.requests[-1].body["model"] == "of-the-environment"
    with AIAgent(model="given") as agent:
        agent.chat("Go.")
    assert model.requests[-1].body["model"] == "given"


def test_a_projects_file_can_only_tighten_what_is_given(make, model, project):
    (project / ".hermes-acp.toml").write_text('[approvals]\nmode = "plan"\n')
    model.say(Say(calls=[Call("write_file", {"path": "made", "content": "x"})]), "Not done.")
    make(mode="accept_edits").chat("Go.")
    assert not (project / "made").exists()


def test_the_mode_that_is_given_holds(make, model, project):
    model.say(Say(calls=[Call("write_file", {"path": "made", "content": "x"})]), "Done.")
    make(mode="accept_edits").chat("Go.")
    assert (project / "made").read_text() == "x"


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"max_turn": 5}, TypeError, "did you mean max_turns?"),
        ({"max_turns": 0}, ConfigError, "max_turns: must be at least 1"),
        ({"max_turns": "many"}, ConfigError, "max_turns: must be a whole number"),
        ({"api_mode": "telepathy"}, ConfigError, "api_mode: must be"),
        ({"busy_prompt": "maybe"}, ConfigError, "busy_prompt: must be queue or interrupt"),
        ({"api_key": KEY}, ConfigError, "api_key: nothing says whose key it is"),
        ({"api_key": 5}, TypeError, "api_key: must be str"),
        ({"save_trajectories": "yes"}, TypeError, "save_trajectories: must be bool"),
        ({"step_callback": "print"}, TypeError, "step_callback: must be a function"),
        ({"cwd": "/no/such/folder"}, ConfigError, "cwd: /no/such/folder is no folder"),
    ],
)
def test_an_argument_of_no_use_is_one_clear_line(project, arguments, error, reason):
    with pytest.raises(error, match=re.escape(reason)) as caught:
        AIAgent(**arguments)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"user_message": None}, TypeError),
        ({"user_message": 5}, TypeError),
        ({"user_message": " \n"}, ValueError),
        ({"user_message": []}, ValueError),
        ({"user_message": [{"type": "text", "text": ""}]}, ValueError),
        ({"user_message": "Hi.", "system_message": 5}, TypeError),
        ({"user_message": "Hi.", "task_id": 5}, TypeError),
        ({"user_message": "Hi.", "conversation_history": "Hello"}, TypeError),
        ({"user_message": "Hi.", "conversation_history": {"role": "user"}}, TypeError),
        ({"user_message": "Hi.", "conversation_history": ["Hello"]}, TypeError),
        ({"user_message": "Hi.", "conversation_history": [{"role": "wizard"}]}, ValueError),
    ],
)
def test_wrong_types_are_raised_and_change_nothing(make, model, arguments, error):
    agent = make()
    with pytest.raises(error):
        agent.run_conversation(**arguments)
    assert model.requests == []
    agent.chat("Hi.")
    assert said(model) == [("user", "Hi.")]


# What it continues


def test_calls_continue_one_conversation(make, model):
    agent = make()
    agent.chat("One.")
    agent.chat("Two.")
    assert said(model) == [("user", "One."), ("assistant", "Done."), ("user", "Two.")]
    assert model.requests[0].messages[0] == model.requests[1].messages[0]


def test_a_session_is_gone_on_with_by_another_agent(make, model, project):
    first = make()
    session = first.run_conversation("One.")["session_id"]
    first.close()
    again = make(session_id=session)
    result = again.run_conversation("Two.")
    assert result["session_id"] == session == again.session_id
    assert said(model) == [("user", "One."), ("assistant", "Done."), ("user", "Two.")]
    assert model.requests[0].messages[0] == model.requests[1].messages[0]


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("gpt-5", "minimal", "minimal"),
        ("gpt-5", "max", "high"),
        ("gpt-5", None, None),
        ("fake-model", "high", "high"),
        ("gpt-4o", "high", None),
    ],
)
def test_a_thought_level_is_asked_of_models_that_take_one(make, model, name, level, said):
    make(model=name, thought_level=level).chat("One.")
    assert model.requests[0].body.get("reasoning_effort") == said


def test_a_thought_level_that_there_is_not_is_refused(make):
    with pytest.raises(ConfigError, match="thought_level: must be "):
        make(thought_level="hard")


def test_an_error_holds_no_key_whosever_it_is(make, model, tmp_path, monkeypatch):
    key = "reserve0123456789abcdef"
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(
        f'[[fallback_providers]]\nprovider = "backup"\nmodel = "m"\nbase_url = "{model.url}"\napi_key_env = "SPARE"\n'
    )
    monkeypatch.setenv("SPARE", key)
    model.say(fail(404, f"No model for {key}."), fail(404, "No."))
    error = make().run_conversation("One.")["error"]
    assert "No model for [key]." in error
    assert key not in error


def test_a_session_that_is_not_there_is_not_made(make, model):
    with pytest.raises(SessionNotFound):
        make(session_id="no-such-session").chat("Hi.")
    assert model.requests == []


def test_a_session_of_another_folder_is_not_continued_in_this_one(make, model, project):
    first = make()
    first.chat("One.")
    other = project / "other"
    other.mkdir()
    result = make(session_id=first.session_id, cwd=other).run_conversation("Two.")
    assert f"belongs to {project}" in result["error"]


def test_a_history_that_is_given_takes_the_place_of_the_sessions_own(make, model):
    agent = make()
    agent.chat("Forgotten.")
    history = [{"role": "user", "content": "Remember 7."}, {"role": "assistant", "content": "I will."}]
    first = agent.run_conversation("Which number?", conversation_history=history)
    assert said(model) == [("user", "Remember 7."), ("assistant", "I will."), ("user", "Which number?")]
    agent.chat("Sure?")
    assert len(said(model)) == 5
    assert first["session_id"] != agent.session_id, "it begins a segment of the same session"
    agent.close()
    again = make(session_id=first["session_id"])
    again.chat("Still?")
    assert said(model)[0] == ("user", "Remember 7.")
    assert len(said(model)) == 7


def test_handing_back_the_history_that_a_call_gave_changes_nothing(make, model, project):
    agent = make(approval_callback=lambda request: "once")
    model.say(Say(reasoning=["Run it."], calls=[Call("terminal", {"command": "echo x"})]), "Ran.")
    first = agent.run_conversation("Go.")
    second = agent.run_conversation("Again.", conversation_history=first["messages"])
    assert second["session_id"] == first["session_id"]
    assert second["messages"][:4] == first["messages"]


def test_a_history_with_faults_is_repaired(make, model):
    call = {"id": "", "type": "function", "function": {"name": "list_files", "arguments": "{broken"}}
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": "One."},
        {"role": "user", "content": "Two \ud800."},
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "unknown", "content": "An orphan."},
    ]
    agent = make()
    assert agent.run_conversation("Three.", conversation_history=history)["completed"]
    assert model.requests[-1].messages[0]["content"] == "Be brief."
    assert said(model)[2] == ("user", "One.\n\nTwo \ufffd.")
    assert agent.chat("Four.") == "Done."


def test_a_system_message_takes_the_place_of_the_built_prompt_from_then_on(make, model):
    agent = make()
    agent.run_conversation("One.", system_message="You are a pirate.")
    agent.run_conversation("Two.")
    assert [request.messages[0]["content"] for request in model.requests] == ["You are a pirate."] * 2


def test_pictures_in_a_prompt_and_in_a_history(make, model):
    data = in_base64(plain(4, 4))
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    broken = {"type": "image_url", "image_url": {"url": "data:text/html;base64,PGI+"}}
    history = [{"role": "user", "content": [picture, broken]}, {"role": "assistant", "content": "A square."}]
    agent = make()
    result = agent.run_conversation([{"type": "text", "text": "And this?"}, picture], conversation_history=history)
    assert result["completed"]
    first, last = (content for role, content in said(model) if role == "user")
    assert [part["type"] for part in first] == ["image_url", "text"]
    assert [part["type"] for part in last] == ["text", "image_url"]


def test_the_names_that_scripts_import():
    for name in ("AIAgent", "to_sharegpt", "convert_scratchpad_to_think", "save_trajectory"):
        assert callable(getattr(hermes_acp, name))

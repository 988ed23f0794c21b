"""K: contexts that get too long. What is sent is judged by a server that refuses broken histories and long prompts."""

import itertools
import json
import re
import time
from itertools import pairwise

import pytest

from tests.fakes.model_server import Call, Say, Status, fail
from tests.support.editor import AgentError
from tests.support.small_model import SmallModel, editor_with, facts, is_summary_request, tokens

pytestmark = pytest.mark.slow

KEEP_FOUR = "[compression]\nprotect_last_n = 4\n"


def usage_of(body):
    return {"prompt_tokens": tokens(body), "completion_tokens": 10}


@pytest.mark.parametrize("protected", [1, 2, 3, 5, 20])
async def test_k1_parallel_calls_and_their_results_are_never_parted(tmp_path, model, project, protected):
    """The server answers 400 to a call without its result, and to a result without its call."""
    for name in "abc":
        (project / name).write_text(f"{name} " * 400)

    def answer(body):
        if tokens(body) > 9_000:
            return fail(400, "maximum context length is 9000 tokens", code="context_length_exceeded")
        if is_summary_request(body):
            return facts(body)
        if body["messages"][-1]["role"] == "tool":
            return Say(text="Read. " * 40, usage=usage_of(body))
        return Say(calls=[Call("read_file", {"path": name}) for name in "abc"], usage=usage_of(body))

    model.script(answer)
    async with editor_with(tmp_path, model, 9_000, f"[compression]\nprotect_last_n = {protected}\n") as editor:
        session = await editor.new_session(project)
        for number in range(8):
            assert await editor.prompt(session, f"FACT-{number}: read all three.") == "end_turn"
    summaries = [one for one in model.requests if is_summary_request(one.body)]
    sent = json.dumps(model.requests[-1].messages)
    assert summaries or "left out" in sent
    assert "FACT-7" in sent
    assert model.problems == []


FAILING = {
    "an error that stays": lambda: fail(500, "no"),
    "an empty answer": lambda: Say(text=""),
    "an answer that stops": lambda: Say(text=["It was"], ending="stall"),
}


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING.keys())
async def test_k2_a_summary_that_fails_is_tried_twice_and_each_prompt_is_answered(tmp_path, model, project, failing):
    small = SmallModel(1_000_000, answer="word " * 400)
    model.script(lambda body: failing() if is_summary_request(body) else small(body))
    config = f"{KEEP_FOUR}[agent]\nstall_timeout = 1\n"
    async with editor_with(tmp_path, model, 12_000, config) as editor:
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        for number in range(16):
            assert await editor.prompt(session, f"Go on, {number}.", timeout=120) == "end_turn"
        assert "could not be compacted" in editor.text(session)
        asked = [one for one in model.requests if is_summary_request(one.body)]
        assert 2 <= len(asked) <= 2 * 3
        assert "FACT-one" in json.dumps(model.requests[-1].messages)


async def test_k2_a_cancel_frees_a_prompt_whose_summary_does_not_come(tmp_path, model, project):
    small = SmallModel(1_000_000)
    model.script(lambda body: Say(text="late", first_delay=60) if is_summary_request(body) else small(body))
    async with editor_with(tmp_path, model, 64_000, KEEP_FOUR) as editor:
        session = await editor.new_session(project)
        for number in range(6):
            await editor.prompt(session, f"Go on, {number}.")
        compacting = editor.begin_prompt(session, "/compact")
        await model.until(lambda server: is_summary_request(server.requests[-1].body))
        begun = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await compacting)["stopReason"] == "cancelled"
        assert time.monotonic() - begun < 10
        await model.until(lambda server: server.aborted)
        assert await editor.prompt(session, "And now?") == "end_turn"
        assert "Go on, 0." in json.dumps(model.requests[-1].messages)


async def test_k3_a_window_that_nothing_fits_into_is_an_error_with_its_cause_and_no_loop(tmp_path, model, project):
    """The system prompt and the tools alone are longer than the window."""
    model.script(SmallModel(700))
    async with editor_with(tmp_path, model) as editor:
        session = await editor.new_session(project)
        for _ in range(2):
            with pytest.raises(AgentError) as error:
                await editor.prompt(session, "Hello.")
            assert error.value.code == -32603
            assert "too small for what has to be in it" in error.value.message
        assert len(model.requests) <= 4


async def test_k3_a_summary_that_is_longer_than_the_window_is_cut_and_no_turn_compacts_twice(tmp_path, model, project):
    small = SmallModel(1_000_000)
    model.script(lambda body: Say(text="more " * 60_000) if is_summary_request(body) else small(body))
    async with editor_with(tmp_path, model, 12_000, KEEP_FOUR, {"session": {"compaction": {}}}) as editor:
        session = await editor.new_session(project)
        begun = []
        for number in range(20):
            assert await editor.prompt(session, f"Go on, {number}.") == "end_turn"
            states = [one["status"] for one in editor.updates(session, "compaction_update")]
            begun.append(states.count("in_progress"))
        assert max(after - before for before, after in pairwise(begun)) == 1
        assert begun[-1] < 10
        sizes = [tokens(one.body) for one in model.requests if not is_summary_request(one.body)]
        assert max(sizes) < 12_000
        await editor.prompt(session, "/compact")
        states = [one["status"] for one in editor.updates(session, "compaction_update")][len(states) :]
        assert states.count("in_progress") == 1


WORDINGS = {
    "Messages API": (fail(400, "prompt is too long: 208380 tokens > 9000 maximum"), 9_000),
    "a code alone": (fail(400, "Your input is too long.", code="context_length_exceeded"), 0),
    "Chat Completions": (
        fail(400, "This model's maximum context length is 9000 tokens. However, your messages resulted in 9801."),
        9_000,
    ),
    "413": (Status(413, "Request Entity Too Large"), 0),
    "llama.cpp": (
        Status(
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9801,
                    "n_ctx": 9000,
                }
            },
        ),
        9_000,
    ),
    "vLLM": (
        fail(400, "You passed 9801 input tokens. However, the model's context length is only 9000 tokens."),
        9_000,
    ),
}


@pytest.mark.parametrize(("refusal", "limit"), WORDINGS.values(), ids=WORDINGS.keys())
async def test_k4_every_refusal_of_a_long_prompt_is_learned_from_and_the_turn_goes_on(
    tmp_path, model, project, refusal, limit
):
    refused = []

    def answer(body):
        if tokens(body) > 9_000:
            refused.append(body)
            return refusal
        if is_summary_request(body):
            return facts(body)
        return Say(text="word " * 200, usage=usage_of(body))

    model.script(answer)
    async with editor_with(tmp_path, model, 0, KEEP_FOUR, {"session": {"compaction": {}}}) as editor:
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        while not refused:
            assert await editor.prompt(session, "Go on.") == "end_turn"
        for _ in range(10):
            assert await editor.prompt(session, "And on.") == "end_turn"
        assert "completed" in [one["status"] for one in editor.updates(session, "compaction_update")]
        assert "FACT-one" in json.dumps(model.requests[-1].messages)
        if limit:
            assert len(refused) == 1
            assert editor.updates(session, "usage_update")[-1]["size"] == limit
        else:
            assert len(refused) <= 3
    assert model.problems == []


REFUSALS = {
    "chat_completions": {"message": "maximum context length is 9000 tokens", "code": "context_length_exceeded"},
    "codex_responses": {
        "message": "Your input exceeds the context window of this model: the limit is 9000 tokens.",
        "code": "context_length_exceeded",
    },
    "anthropic_messages": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 9801 tokens > 9000 maximum",
    },
}


@pytest.mark.parametrize("mode", REFUSALS)
async def test_k4_in_each_api_a_long_talk_with_thoughts_and_calls_goes_on_after_the_refusal(
    tmp_path, model, project, mode
):
    (project / "a").write_text("alpha " * 300)
    refused, summaries = [], []

    def answer(body):
        sent = json.dumps(body)
        if "<conversation>" in sent and not body.get("tools"):
            summaries.append(body)
            return Say(text=" ".join(sorted(set(re.findall(r"FACT-\w+", sent)))) or "No facts.")
        if len(sent) // 4 > 9_000:
            refused.append(body)
            return Status(400, {"type": "error", "error": REFUSALS[mode]})
        usage = {"prompt_tokens": len(sent) // 4, "completion_tokens": 50}
        if next(steps) % 2:
            return Say(text="Read. " * 60, reasoning="I have read it. " * 20, usage=usage)
        return Say(calls=[Call("read_file", {"path": "a"})] * 2, reasoning="I look. " * 20, usage=usage)

    steps = itertools.count()
    model.script(answer)
    async with editor_with(tmp_path, model, 0, f'{KEEP_FOUR}[model]\napi_mode = "{mode}"\n') as editor:
        session = await editor.new_session(project)
        for number in range(16):
            assert await editor.prompt(session, f"FACT-{number}: read it.") == "end_turn"
        assert editor.updates(session, "usage_update")[-1]["size"] == 9_000
    assert len(refused) == 1
    assert summaries
    assert "FACT-0" in json.dumps(model.requests[-1].body)
    assert model.problems == []

"""What the model is told of earlier sessions, and whose sessions it may look into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.tools.session_search import MOST_WORDS, words_of
from hermes_acp.errors import StoreError, ToolError
from hermes_acp.messages import AssistantMessage, ToolCall, user
from hermes_acp.testing import RecordingHost


async def earlier(scene, session_id, *messages, cwd=None, title="A title"):
    record = SessionRecord(
        session_id, cwd or str(scene.talk.workspace.cwd), title=title, updated_at="2026-01-02T03:04:05Z"
    )
    await scene.store.create(record)
    journal = await scene.store.journal(session_id)
    journal.begin_turn()
    journal.update(prompted=True)
    for message in messages:
        journal.add_message(message)
    await journal.commit()


async def test_a_session_is_told_with_its_title_date_id_and_what_was_said_around_the_place(scene):
    question, answer = user("Where is\nthe flux capacitor?"), AssistantMessage("In the boot. " + "It hums. " * 100)
    await earlier(scene, "old", user("Hi."), AssistantMessage("Hello."), question, answer)
    told = (await scene.call("session_search", query="flux")).text.splitlines()
    assert told[0] == "## A title (2026-01-02, session old)"
    assert told[1:3] == ["assistant: Hello.", "> user: Where is the flux capacitor?"]
    assert told[3].startswith("assistant: In the boot. It hums.")
    assert len(told[3]) < 320


async def test_a_long_text_is_shown_where_the_word_is(scene):
    await earlier(scene, "old", user("begin " + "x " * 5_000 + "needle" + " y" * 5_000))
    told = (await scene.call("session_search", query="needle")).text
    assert "needle" in told
    assert len(told) < 1_000


async def test_this_session_is_not_searched(scene):
    scene.talk.begin(user("the very word"))
    await scene.talk.journal.commit()
    assert "No earlier session" in (await scene.call("session_search", query="very word")).text


async def ask_everywhere(scene, host):
    provider = scene.script(
        AssistantMessage(tool_calls=(ToolCall("1", "session_search", {"query": "secretive", "everywhere": True}),)),
        AssistantMessage("Done."),
    )
    await run_turn(scene.agent, scene.talk, user("go"), host)
    return provider.requests[1].messages[-1].text


async def test_sessions_of_other_folders_are_left_out_unless_the_person_lets_them_be_read(scene):
    await earlier(scene, "old", user("a secretive word"), cwd="/elsewhere")
    assert "No earlier session" in (await scene.call("session_search", query="secretive")).text
    host = RecordingHost("reject_once")
    assert "rejected" in await ask_everywhere(scene, host)
    [request] = host.requests
    assert "every folder" in request.title
    assert "outside the session's folders" in request.reason
    assert "session old, in /elsewhere" in await ask_everywhere(scene, RecordingHost("allow_once"))


@pytest.mark.parametrize("query", ["", "  ", '"*():^-', "___"])
async def test_a_query_without_words_is_told_so(scene, query):
    with pytest.raises(ToolError, match="no word"):
        await scene.call("session_search", query=query)


async def test_a_store_that_fails_is_told_to_the_model(scene, monkeypatch):
    async def fail(search):
        raise StoreError("It is locked.")

    monkeypatch.setattr(scene.store, "search", fail)
    with pytest.raises(ToolError, match="locked"):
        await scene.call("session_search", query="word")


async def test_hostile_queries_find_or_do_not_find_and_never_fail(scene):
    await earlier(scene, "old", user("it's NEAR the col:umn, 100% (sure) OR not"))
    for query in ("a AND", "NEAR(", "col:umn", "-x", "100%", "a\0b", "x'; DROP TABLE said; --", '"a', "x" * 10_000):
        assert (await scene.call("session_search", query=query)).text
    assert "session old" in (await scene.call("session_search", query="NEAR col:umn")).text


@given(st.text())
def test_the_words_of_a_query_are_few_short_and_plain(query):
    words = words_of(query)
    assert len(words) <= MOST_WORDS
    assert all(len(word) <= 64 and '"' not in word and "\0" not in word for word in words)

"""session/load shows again what was shown live: the same messages and cards, in order, compared with a golden list.

`GOLDEN=write` writes the list anew.
"""

import json
import os
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.small_model import editor_with, facts, is_summary_request
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden" / "replay.json"
CONFIG = '[compression]\nprotect_last_n = 2\n[approvals]\nmode = "accept_edits"\n'
CHUNKS = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
LONG = "The facts are FACT-one and FACT-two. " * 40


def todo(*states):
    names = ("read", "change", "report")
    return Call("todo", {"todos": [{"id": str(n), "content": names[n], "status": s} for n, s in enumerate(states)]})


def replies():
    read = [Call("read_file", {"path": "a.txt"}), Call("list_files", {})]
    return [
        Say(reasoning=["Let me ", "think."], text=["I shall ", "look."], calls=[todo("in_progress", "pending"), *read]),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})]),
        Say(calls=[Call("write_file", {"path": "new/b.txt", "content": "b\n"}), Call("read_file", {"path": "none"})]),
        Say(calls=[todo("completed", "completed", "in_progress")]),
        LONG,
        "A second answer.",
        Say(text=["I run ", "it."], calls=[Call("terminal", {"command": "echo begun; sleep 60"})]),
        "After all of it.",
    ]


class Shown:
    """What a person sees of a list of updates: the text of each message, the last state of each card, plans and
    compactions, in the order in which they appeared."""

    def __init__(self, updates, project):
        self._project, self._names = str(project), {}
        self.seen = []
        for update in updates:
            self._take(json.loads(json.dumps(update).replace(self._project, "PROJECT")))

    def _take(self, update):
        match update.pop("sessionUpdate"):
            case kind if kind in CHUNKS:
                self._say(kind, update)
            case "tool_call" | "tool_call_update":
                self._show(self._name("card", update.pop("toolCallId")), update)
            case "compaction_update":
                self._show(self._name("compaction", update.pop("compactionId")), update)
            case "plan":
                self.seen.append(["plan", update["entries"]])
            case _:
                """Commands, options, usage and titles are the state of a session, and no part of its past."""

    def _say(self, kind, update):
        entry = [kind, self._name("message", update["messageId"]), ""]
        if not self.seen or self.seen[-1][:2] != entry[:2]:
            self.seen.append(entry)
        self.seen[-1][2] += update["content"]["text"]

    def _show(self, name, update):
        known = next((entry[1] for entry in self.seen if entry[0] == name), None)
        if known is None:
            self.seen.append([name, update])
        else:
            known.update(update)

    def _name(self, kind, own):
        self._names.setdefault(own, f"{kind} {len(self._names) + 1}")
        return self._names[own]


def shown(editor, session, project):
    """Without what the person typed, which an editor shows by itself, and the names given anew."""
    typed = [update for update in editor.updates(session) if update["sessionUpdate"] != "user_message_chunk"]
    return Shown(typed, project).seen


async def live_session(editor, model, project):
    (project / "a.txt").write_text("one\n")
    left = iter(replies())
    model.script(lambda body: facts(body) if is_summary_request(body) else next(left))
    session = await editor.new_session(project)
    await editor.prompt(session, "Do everything.")
    await editor.prompt(session, "And more.")
    running = editor.begin_prompt(session, "Run it.")
    await editor.wait_update(lambda update: "begun" in json.dumps(update.get("content")))
    editor.notify("session/cancel", {"sessionId": session})
    assert (await running)["stopReason"] == "cancelled"
    await editor.prompt(session, "/compact")
    await editor.prompt(session, "And after?")
    return session


async def test_edits_parallel_tools_a_plan_a_cancel_and_a_compaction_are_shown_again_as_they_were(
    tmp_path, model, project
):
    capabilities = {"session": {"compaction": {}}, "plan": {}}
    async with editor_with(tmp_path, model, 64_000, CONFIG, capabilities) as editor:
        session = await live_session(editor, model, project)
        live = shown(editor, session, project)
        assert await editor.close() == 0
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(live, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert live == golden
    for _ in range(2):
        async with editor_with(tmp_path, model, 64_000, CONFIG, capabilities) as editor:
            await editor.request("session/load", open_params(session, project))
            assert shown(editor, session, project) == golden
            prompts = [update["content"]["text"] for update in editor.updates(session, "user_message_chunk")]
            assert prompts == ["Do everything.", "And more.", "Run it.", "/compact", "And after?"]
            editor.process.kill()
            await editor.end()


async def test_the_golden_list_holds_one_of_everything():
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    cards = [entry[1] for entry in golden if entry[0].startswith("card")]
    assert [card["status"] for card in cards].count("failed") == 2
    assert {"edit", "read", "execute", "search", "think"} == {card["kind"] for card in cards}
    assert sum(part["type"] == "diff" for card in cards for part in card.get("content", ())) == 2
    assert sum(entry[0] == "plan" for entry in golden) == 2
    [compaction] = [entry[1] for entry in golden if entry[0].startswith("compaction")]
    assert compaction["status"] == "completed"
    assert "FACT-two" in compaction["summary"][0]["text"]

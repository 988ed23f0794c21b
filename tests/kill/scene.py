"""A scripted talk of two prompts with something of everything, and what an editor may rely on of it afterwards."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.model_server import Call, ModelServer, Say
from tests.support.editor import Editor, agent_command, agent_env, choose
from tests.support.talk import open_params

PROMPTS = ("The first task.", "The second task.")
CONTENTS = ("one\n", "two\n", "three\n")
"""What `a.txt` holds before, after the first and after the second prompt."""

NEW = "new line\n" * 1_000
KEPT_WITHIN = 0.5
"""Seconds after which what was shown survives a kill."""

SLACK = 0.3
"""Seconds for a commit, and for a busy machine."""


@asynccontextmanager
async def agent(home: Path, model: ModelServer) -> AsyncIterator[Editor]:
    """An agent that may be killed: its last line may be cut."""
    editor = await Editor.start(agent_command(), env=agent_env(home, model.url))
    try:
        await editor.initialize()
        yield editor
        editor.assert_clean()
    finally:
        await editor.kill()


async def load(editor: Editor, session: str, project: Path) -> None:
    await editor.request("session/load", open_params(session, project))


def prepare(folder: Path) -> None:
    """The files that the talk is about."""
    folder.mkdir()
    (folder / "a.txt").write_text(CONTENTS[0], encoding="utf-8")
    (folder / "b.txt").write_text("beta\n", encoding="utf-8")


def script(model: ModelServer) -> None:
    """What the model says to both prompts."""
    for number in (0, 1):
        model.say(*_replies(number))


def _replies(number: int) -> Iterator[Say]:
    words = [f"{number}.{word} " for word in range(12)]
    yield Say(
        reasoning=[f"thought {word}" for word in words],
        text=words,
        calls=[Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b.txt"}), Call("list_files", {})],
        token_delay=0.008,
    )
    change = {"path": "a.txt", "old_text": CONTENTS[number].strip(), "new_text": CONTENTS[number + 1].strip()}
    yield Say(text=["Now the change. "], calls=[Call("patch", change)])
    left = "sleep 0.1; setsid sleep 300 >/dev/null 2>&1 & sleep 300 & echo started"
    yield Say(
        calls=[Call("terminal", {"command": f"{left} {number}"}), Call("terminal", {"command": "sleep 0.2; echo b"})]
    )
    made = Call("write_file", {"path": f"new{number}.txt", "content": NEW})
    yield Say(text=[f"slow {word} " for word in range(4)], calls=[made], token_delay=0.01)
    yield Say(text=[f"{number}: last {word} " for word in range(20)], token_delay=0.008)


def careful_person(dice: random.Random) -> Any:
    """A person who thinks a moment and then allows."""

    async def answer(params: dict[str, Any]) -> Any:
        await asyncio.sleep(dice.uniform(0, 0.05))
        return choose("allow_once")(params)

    return answer


@dataclass
class Shown:
    """What one connection has shown of a session: the words of each message in order, the state of each card."""

    words: dict[tuple[str, str], str] = field(default_factory=dict)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def ended(self) -> dict[str, dict[str, Any]]:
        """The cards that had come to their end."""
        return {key: card for key, card in self.cards.items() if card["status"] in ("completed", "failed")}

    @property
    def prompts(self) -> list[str]:
        return [text for (kind, _), text in self.words.items() if kind == "user_message_chunk"]


def shown(editor: Editor, session: str, until: float = float("inf")) -> Shown:
    """What was shown until a moment, as a person sees it."""
    seen = Shown()
    for line, moment in zip(editor.lines, editor.times, strict=True):
        if moment <= until and line.get("method") == "session/update" and line["params"]["sessionId"] == session:
            _show(line["params"]["update"], seen)
    return seen


def _show(update: dict[str, Any], seen: Shown) -> None:
    match update["sessionUpdate"]:
        case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" as kind:
            key = (kind, update["messageId"])
            seen.words[key] = seen.words.get(key, "") + update["content"]["text"]
        case "tool_call":
            seen.cards[update["toolCallId"]] = dict(update)
        case "tool_call_update":
            seen.cards[update["toolCallId"]] |= update


def assert_kept(before: Editor, after: Editor, session: str, died: float, answered: int) -> None:
    """What was acknowledged before is there after: `answered` prompts, and each card that had ended."""
    live, replayed = shown(before, session), shown(after, session)
    _assert_cards(live, replayed)
    _assert_words(shown(before, session, died - KEPT_WITHIN - SLACK), live, replayed)
    acknowledged = answered + (1 if _turn_began(before, session, answered) else 0)
    assert tuple(replayed.prompts[:acknowledged]) == PROMPTS[:acknowledged]
    for number in range(answered):
        last = "".join(f"{number}: last {word} " for word in range(20))
        assert last in replayed.words.values(), list(replayed.words.values())


def _assert_cards(live: Shown, replayed: Shown) -> None:
    for key, card in live.ended.items():
        again = replayed.cards[key]
        for name in ("status", "title", "kind", "content", "rawInput", "rawOutput", "locations"):
            assert again.get(name) == card.get(name), (name, str(card)[:500])
    for card in replayed.cards.values():
        assert card["status"] in ("completed", "failed"), str(card)[:500]


def _assert_words(early: Shown, live: Shown, replayed: Shown) -> None:
    for key, text in live.words.items():
        kept = replayed.words.get(key, "")
        assert kept.startswith(early.words.get(key, "")), (key, early.words.get(key), kept)
        assert text.startswith(kept) or kept.startswith(text), (key, text, kept)


def _turn_began(editor: Editor, session: str, answered: int) -> bool:
    """Whether something of the turn after these answers was shown."""
    answers = [index for index, line in enumerate(editor.lines) if "stopReason" in (line.get("result") or {})]
    since = answers[answered - 1] + 1 if answered else 0
    kinds = ("agent_message_chunk", "agent_thought_chunk", "tool_call")
    return any(
        line.get("method") == "session/update"
        and line["params"]["sessionId"] == session
        and line["params"]["update"]["sessionUpdate"] in kinds
        for line in editor.lines[since:]
    )


def assert_files(folder: Path, seen: Shown) -> None:
    """Each file is what it was or what it was to become, and is the latter where a card says so."""
    done = [card["title"] for card in seen.cards.values() if card["status"] == "completed"]
    changes = sum(
        card["status"] == "completed" and "oldText" in str(card["content"]) and "a.txt" in card["title"]
        for card in seen.cards.values()
    )
    content = (folder / "a.txt").read_text(encoding="utf-8")
    assert content in CONTENTS[changes:], (content, done)
    for number in (0, 1):
        made = folder / f"new{number}.txt"
        assert not made.exists() or made.read_text(encoding="utf-8") == NEW
        assert made.exists() or not any(made.name in title for title in done)
    assert {path.name for path in folder.iterdir()} <= {"a.txt", "b.txt", "new0.txt", "new1.txt"}

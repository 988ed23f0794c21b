"""Twelve conversations: what the model says, what the person says, and what is in the messages afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hermes_acp.agent.history import INTERRUPTED
from hermes_acp.messages import AssistantMessage, Image, Message, Text, ToolMessage, UserMessage, user
from tests.fakes.model_server import Call, Reply, Say, Status
from tests.support.pictures import picture

PICTURE = picture()
FILES: Mapping[str, bytes] = {"a.txt": b"alpha\n", "b.txt": b"beta\n"}
"""What stands in the folder of every conversation."""

OVERLOADED = {"type": "overloaded_error", "message": "Overloaded", "code": "server_is_overloaded"}
READ_A, READ_B = Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b.txt"})


@dataclass(frozen=True)
class Talk:
    """A conversation.

    `replies` are the model's, in order, and `reserve` those of the model that is asked when it fails.
    `messages` is what is left of them, as `told` tells it; `shown` the text that the person read; `stops` how
    the turns ended. The first turn of an `interrupted` one is stopped when its text has come.
    """

    replies: tuple[Reply, ...]
    messages: tuple[str, ...]
    shown: str
    prompts: tuple[UserMessage, ...] = (user("go"),)
    stops: tuple[str, ...] = ("end_turn",)
    reserve: tuple[Reply, ...] = ()
    max_calls: int = 50
    interrupted: bool = False
    files: Mapping[str, bytes] = field(default_factory=lambda: FILES)


def told(messages: list[Message]) -> tuple[str, ...]:
    """The messages as lines, without ids and without what belongs to one API; of results the beginning."""
    return tuple(_line(message) for message in messages)


def _line(message: Message) -> str:
    match message:
        case UserMessage(parts):
            return " ".join(["user:", *("(picture)" if isinstance(part, Image) else part.text for part in parts)])
        case AssistantMessage(text, reasoning, calls):
            thought = f"[{reasoning}]" if reasoning else ""
            named = (f"{call.name}{dict(call.arguments)}{'!' if call.problem else ''}" for call in calls)
            return " ".join(filter(None, ["assistant:", thought, text, *named]))
        case ToolMessage(_, name, text, is_error, images):
            mark = "failed" if is_error else "ok"
            return f"{name} {mark}: {' '.join(text.split())[:30].strip()}{' (picture)' * len(images)}"


CUT_CALL = Say(calls=[Call("write_file", '{"path": "a.txt", "content": "half of')], finish="length")

TALKS = {
    "text": Talk((Say("Hello there."),), ("user: go", "assistant: Hello there."), "Hello there."),
    "reasoning": Talk(
        (Say("42.", reasoning="hm hm"), Say("Still 42.", reasoning="well")),
        ("user: go", "assistant: [hm hm] 42.", "user: sure?", "assistant: [well] Still 42."),
        "42.Still 42.",
        prompts=(user("go"), user("sure?")),
        stops=("end_turn", "end_turn"),
    ),
    "one tool": Talk(
        (Say("I look.", [READ_A], "where"), Say("It says alpha.")),
        (
            "user: go",
            "assistant: [where] I look. read_file{'path': 'a.txt'}",
            "read_file ok: 1 alpha",
            "assistant: It says alpha.",
        ),
        "I look.It says alpha.",
    ),
    "parallel tools": Talk(
        (Say(calls=[READ_A, READ_B], reasoning="both"), Say("Both read.")),
        (
            "user: go",
            "assistant: [both] read_file{'path': 'a.txt'} read_file{'path': 'b.txt'}",
            "read_file ok: 1 alpha",
            "read_file ok: 1 beta",
            "assistant: Both read.",
        ),
        "Both read.",
    ),
    "bad arguments": Talk(
        (Say(calls=[Call("read_file", '{"path": nope}')]), Say(calls=[READ_A]), Say("Read.")),
        (
            "user: go",
            "assistant: read_file{}!",
            "read_file failed: The arguments are not valid JS",
            "assistant: read_file{'path': 'a.txt'}",
            "read_file ok: 1 alpha",
            "assistant: Read.",
        ),
        "Read.",
    ),
    "length cut": Talk(
        (Say("one two ", finish="length"), Say("three."), CUT_CALL, Say("In pieces, then.")),
        (
            "user: count",
            "assistant: one two three.",
            "user: write",
            "assistant: write_file{}!",
            "write_file failed: The output was cut off by its",
            "assistant: In pieces, then.",
        ),
        "one two three.In pieces, then.",
        prompts=(user("count"), user("write")),
        stops=("end_turn", "end_turn"),
    ),
    "refusal": Talk(
        (Say("I will not.", finish="content_filter"), Say("Gladly.")),
        ("user: be nice", "assistant: Gladly."),
        "I will not.Gladly.",
        prompts=(user("be bad"), user("be nice")),
        stops=("refusal", "end_turn"),
    ),
    "image": Talk(
        (Say(calls=[Call("read_file", {"path": "c.png"})]), Say("Both are red.")),
        (
            "user: look (picture)",
            "assistant: read_file{'path': 'c.png'}",
            "read_file ok: c.png: a PNG picture of 1x1 pi (picture)",
            "assistant: Both are red.",
        ),
        "Both are red.",
        prompts=(UserMessage((Text("look"), PICTURE)),),
    ),
    "interrupted": Talk(
        (Say("some text", ending="stall", reasoning="hm"), Say("Again.")),
        ("user: go", f"assistant: {INTERRUPTED.text}", "user: go on", "assistant: Again."),
        "some textAgain.",
        prompts=(user("go"), user("go on")),
        stops=("cancelled", "end_turn"),
        interrupted=True,
    ),
    "error then retry": Talk(
        (Status(503), Say(calls=[READ_A], reasoning="hm", error=OVERLOADED), Say("At last.")),
        ("user: go", "assistant: At last."),
        "At last.",
    ),
    "fallback": Talk(
        (Say("I look.", [READ_A], "where"), Say("It says alpha."), *[Status(500)] * 3),
        (
            "user: go",
            "assistant: [where] I look. read_file{'path': 'a.txt'}",
            "read_file ok: 1 alpha",
            "assistant: It says alpha.",
            "user: and b?",
            "assistant: [there] read_file{'path': 'b.txt'}",
            "read_file ok: 1 beta",
            "assistant: Here I am.",
        ),
        "I look.It says alpha.Here I am.",
        prompts=(user("go"), user("and b?")),
        stops=("end_turn", "end_turn"),
        reserve=(Say(calls=[READ_B], reasoning="there"), Say("Here I am.")),
    ),
    "budget end": Talk(
        (Say(calls=[READ_A]), Say(calls=[READ_B]), Say("So far alpha and beta.", [READ_A])),
        (
            "user: go",
            "assistant: read_file{'path': 'a.txt'}",
            "read_file ok: 1 alpha",
            "assistant: read_file{'path': 'b.txt'}",
            "read_file ok: 1 beta",
            "assistant: So far alpha and beta.",
        ),
        "So far alpha and beta.",
        stops=("max_turn_requests",),
        max_calls=2,
    ),
}

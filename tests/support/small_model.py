"""A model that can hold little, and what it is asked when a conversation is compacted."""

import json
import re
from contextlib import asynccontextmanager

from tests.fakes.model_server import Say, fail
from tests.support.editor import open_editor

FACT = re.compile(r"FACT-\w+")


def is_summary_request(body):
    return "tools" not in body and "<conversation>" in str(body["messages"][-1]["content"])


def facts(body):
    return Say(text=" ".join(dict.fromkeys(FACT.findall(str(body["messages"][-1]["content"])))) or "No facts.")


def tokens(body):
    return len(json.dumps(body["messages"])) // 4 + len(json.dumps(body.get("tools", []))) // 4


class SmallModel:
    """Answers with so much text, summarises by the facts, and refuses what is over its limit."""

    def __init__(self, limit, answer="word " * 200, told=True):
        self.limit, self.answer, self.told = limit, answer, told
        self.summaries, self.refused = 0, 0

    def __call__(self, body):
        if tokens(body) > self.limit:
            self.refused += 1
            words = f"maximum context length is {self.limit} tokens" if self.told else "the prompt is too long"
            return fail(400, words, code="context_length_exceeded")
        if is_summary_request(body):
            self.summaries += 1
            return facts(body)
        usage = {"prompt_tokens": tokens(body), "completion_tokens": len(self.answer) // 4}
        return Say(text=[self.answer], usage=usage)


@asynccontextmanager
async def editor_with(home, model, window=0, config="", capabilities=None):
    folder = home / "hermes-acp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(config, encoding="utf-8")
    async with open_editor(home, model.url, **({"HERMES_ACP_CONTEXT_WINDOW": str(window)} if window else {})) as editor:
        await editor.initialize(capabilities)
        yield editor


def goal_of(body):
    """The goal that the conversation of a request began with; "" for the parent's."""
    first = next(message for message in body["messages"] if message["role"] == "user")["content"]
    return first.partition("# Task\n")[2].partition("\n")[0] if isinstance(first, str) else ""

"""What everything that a turn asks of models costs, by the price of the model that answered: on the wire and stored."""

import json
import sqlite3
import sys
from contextlib import asynccontextmanager, closing

import pytest

from tests.fakes.model_server import Call, ModelServer, Say, fail
from tests.support.editor import Editor, agent_env
from tests.support.pictures import picture
from tests.support.small_model import is_summary_request

pytestmark = pytest.mark.slow

WITH_PRICES = """
import sys
from hermes_acp.agent import model_table
model_table._table = lambda: {table}
from hermes_acp.__main__ import main
sys.argv = ["hermes-acp", "--stdio"]
sys.exit(main())
"""
"""An agent that knows prices of models at the test's own servers; else nothing at a loopback address has one."""

PRICES = {"main": 1.0, "spare": 10.0, "side": 100.0}
"""US dollars for a thousand tokens of input."""

COMPACTING = "[compression]\nprotect_last_n = 2\n"
LONG = "word " * 400


def table():
    rows = {name: [64_000, 1000 * price, 0.0, None, None] for name, price in PRICES.items()}
    return {"127.0.0.1": {**rows, "free-of-price": [64_000, None, None, None, None]}}


def spending(thousands, text="Done.", calls=()):
    return Say(text=text, calls=calls, usage={"prompt_tokens": 1000 * thousands, "completion_tokens": 1})


@pytest.fixture
async def other():
    """The server of reserves and side tasks."""
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@asynccontextmanager
async def open_spender(tmp_path, model, *more, **env):
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True, exist_ok=True)
    model.models = ("main",)
    own = f'[model]\nprovider = "custom"\nname = "main"\nbase_url = "{model.url}"\n'
    (folder / "config.toml").write_text("\n".join([own, *more]), encoding="utf-8")
    command = [sys.executable, "-c", WITH_PRICES.format(table=table())]
    editor = await Editor.start(command, env={**agent_env(tmp_path / "home"), "HERMES_ACP_API_KEY": "sk-x", **env})
    try:
        await editor.initialize()
        yield editor
        editor.assert_clean()
    finally:
        await editor.kill()


def place_of(server, name):
    return f'provider = "else"\nmodel = "{name}"\nbase_url = "{server.url}"\n'


def told(editor, session):
    """The cost that the editor was told last."""
    cost = editor.updates(session, "usage_update")[-1].get("cost")
    return cost and cost["amount"]


def stored(tmp_path, session):
    with closing(sqlite3.connect(tmp_path / "home" / "hermes-acp" / "sessions.db")) as store:
        return store.execute("SELECT cost FROM sessions WHERE id = ?", (session,)).fetchone()[0]


async def test_a_reserve_is_paid_by_its_own_price(tmp_path, model, other, project):
    reserves = f"[[fallback_providers]]\n{place_of(other, 'spare')}"
    async with open_spender(tmp_path, model, reserves) as editor:
        session = await editor.new_session(project)
        model.say(spending(1), fail(401, "no such key"))
        other.say(spending(2))
        await editor.prompt(session, "First.")
        assert told(editor, session) == pytest.approx(1.0)
        await editor.prompt(session, "Second.")
        assert told(editor, session) == pytest.approx(1.0 + 20.0)
    assert stored(tmp_path, session) == pytest.approx(21.0)


@pytest.mark.parametrize("own_model", [False, True], ids=["of the model itself", "of a model of its own"])
async def test_a_summary_is_paid_for(tmp_path, model, other, project, own_model):
    side = f"[auxiliary.compression]\n{place_of(other, 'side')}" if own_model else ""
    asked = other if own_model else model
    asked.script(lambda body: spending(3, "The facts.") if is_summary_request(body) else None)
    async with open_spender(tmp_path, model, COMPACTING, side) as editor:
        session = await editor.new_session(project)
        for text in (LONG, "more", "and more"):
            model.say(spending(1, LONG))
            await editor.prompt(session, text)
        await editor.prompt(session, "/compact")
        assert "The context was compacted" in editor.text(session)
        expected = 3 * 1.0 + 3 * PRICES["side" if own_model else "main"]
        assert told(editor, session) == stored(tmp_path, session) == pytest.approx(expected)
        model.say(spending(1))
        await editor.prompt(session, "On.")
        assert told(editor, session) == pytest.approx(expected + 1.0)


async def test_a_summary_within_a_turn_counts_into_the_limit_of_the_turn(tmp_path, model, other, project):
    """A dozen calls cost less than eight dollars, each piece of the summary between them three hundred."""
    (project / "a.txt").write_text("line\n" * 20)
    side = f"[auxiliary.compression]\n{place_of(other, 'side')}"
    other.script(lambda body: spending(3, "The facts."))
    limit = "[agent]\nmax_cost = 250.0\n"
    async with open_spender(tmp_path, model, COMPACTING, side, limit, HERMES_ACP_CONTEXT_WINDOW="12000") as editor:
        session = await editor.new_session(project)
        for _ in range(12):
            usage = {"prompt_tokens": 600, "completion_tokens": 1}
            model.say(Say(text=LONG * 3, calls=[Call("read_file", {"path": "a.txt"})], usage=usage))
        model.script(lambda body: "The end." if body.get("tool_choice") == "none" else None)
        assert await editor.prompt(session, "Go.") == "max_turn_requests"
        assert len(model.requests) < 12
        paid = 300.0 * len(other.requests)
        assert paid < told(editor, session) < paid + 20.0


async def test_a_description_of_a_picture_is_paid_for_once(tmp_path, model, other, project):
    blind = f"[auxiliary.vision]\n{place_of(other, 'side')}"
    other.say(spending(1, "A red square."))
    async with open_spender(tmp_path, model, "vision = false", blind) as editor:
        session = await editor.new_session(project)
        image = {"type": "image", "data": picture().data, "mimeType": picture().mime_type}
        for _ in range(2):
            model.say(spending(1))
            await editor.request("session/prompt", {"sessionId": session, "prompt": [image]})
        assert "A red square." in json.dumps(model.requests[-1].messages)
        assert told(editor, session) == pytest.approx(2 * 1.0 + 100.0)


async def test_a_title_is_paid_for_by_the_session(tmp_path, model, other, project):
    side = f"[auxiliary.title]\n{place_of(other, 'side')}"
    other.say(spending(1, "A short title"))
    async with open_spender(tmp_path, model, side, HERMES_ACP_AUTO_TITLE="true") as editor:
        session = await editor.new_session(project)
        model.say(spending(1), spending(1))
        await editor.prompt(session, "First.")
        await editor.wait_update(lambda update: update.get("title") == "A short title")
        await editor.prompt(session, "Second.")
        assert told(editor, session) == pytest.approx(2 * 1.0 + 100.0)


async def test_what_a_subagent_pays_for_is_paid_by_its_parent(tmp_path, model, project):
    async with open_spender(tmp_path, model) as editor:
        session = await editor.new_session(project)
        task = Call("delegate_task", {"tasks": [{"goal": "look"}]})
        model.say(spending(1, calls=[task]), spending(5, "Seen."), spending(1))
        await editor.prompt(session, "Go.")
        assert told(editor, session) == pytest.approx(7.0)


async def test_a_side_task_without_a_price_makes_the_sum_unknown_and_the_limit_is_said_not_to_hold(
    tmp_path, model, other, project
):
    side = f"[auxiliary.compression]\n{place_of(other, 'free-of-price')}"
    other.script(lambda body: spending(1, "The facts."))
    async with open_spender(tmp_path, model, COMPACTING, side, "[agent]\nmax_cost = 50.0\n") as editor:
        session = await editor.new_session(project)
        for text in (LONG, "more", "and more"):
            model.say(spending(1, LONG))
            await editor.prompt(session, text)
        await editor.prompt(session, "/compact")
        assert "The limit of cost does not hold" in editor.text(session)
        model.say(spending(1))
        await editor.prompt(session, "On.")
        assert told(editor, session) is None
    assert stored(tmp_path, session) is None

"""Keys in the system's keyring: set up, read when needed, never waited for by a session, bound to an address."""

import asyncio
import json
import subprocess
import sys
import time

import pytest

from tests.support.editor import AgentError, agent_env, open_editor

KEY = "sk-in-the-keyring-0123456789"
PLAIN_FILE = {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"}


@pytest.fixture
def guarded(tmp_path):
    """The variables that choose a keyring that a test can lock."""
    return {"PYTHON_KEYRING_BACKEND": "tests.support.keyrings.Guarded", "TEST_KEYRING": str(tmp_path / "ring")}


@pytest.fixture
def ring(tmp_path):
    return tmp_path / "ring"


def run(home, *arguments, answers="", **env):
    done = subprocess.run(
        [sys.executable, "-m", "hermes_acp", *arguments],
        input=answers.encode(),
        env=agent_env(home, HERMES_ACP_LOCAL_SERVERS="off", **env),
        cwd="/",
        capture_output=True,
        timeout=60,
    )
    assert KEY.encode() not in done.stdout + done.stderr
    return done


def set_up(home, url, **env):
    done = run(home, "setup", "--offline", answers=f"custom\n{url}\n\n{KEY}\nfake-model\n", **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def credentials(home):
    return json.loads((home / "hermes-acp" / "credentials.json").read_text(encoding="utf-8"))


def keys_sent(model):
    return {request.headers.get("authorization") for request in model.requests}


async def test_a_key_of_setup_is_in_the_keyring_alone_and_reaches_the_model(tmp_path, model, project):
    assert "The key is in the system keyring." in set_up(tmp_path, model.url, **PLAIN_FILE)
    assert credentials(tmp_path) == {"keys": {}, "keyring": [model.url.removesuffix("/v1")]}
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert kept == []  # Not even the plain file holds it as it is.
    assert (
        f"stored for {model.url.removesuffix('/v1')} in the system keyring"
        in run(tmp_path, "doctor", **PLAIN_FILE).stdout.decode()
    )
    async with open_editor(tmp_path, **PLAIN_FILE) as editor:
        await editor.initialize()
        await editor.prompt(await editor.new_session(project), "hi")
        assert keys_sent(model) == {f"Bearer {KEY}"}
        assert KEY not in editor.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "backend", ["keyring.backends.null.Keyring", "keyring.backends.fail.Keyring", "no.such.Keyring"]
)
async def test_without_a_keyring_the_key_is_in_a_file_and_the_person_is_told(tmp_path, model, project, backend):
    told = set_up(tmp_path, model.url, PYTHON_KEYRING_BACKEND=backend)
    assert "The system keyring cannot be used" in told
    assert "credentials.json, which only you can read." in told
    assert credentials(tmp_path) == {"keys": {model.url.removesuffix("/v1"): KEY}}
    async with open_editor(tmp_path) as editor:
        await editor.initialize()
        await editor.prompt(await editor.new_session(project), "hi")
        assert keys_sent(model) == {f"Bearer {KEY}"}


@pytest.mark.slow
async def test_a_key_that_moves_leaves_nothing_behind(tmp_path, model, guarded):
    set_up(tmp_path, model.url)
    set_up(tmp_path, model.url, **guarded)
    assert credentials(tmp_path) == {"keys": {}, "keyring": [model.url.removesuffix("/v1")]}
    set_up(tmp_path, model.url)
    assert credentials(tmp_path) == {"keys": {model.url.removesuffix("/v1"): KEY}}


@pytest.mark.slow
async def test_a_keyring_that_takes_long_holds_up_no_session_and_no_loop(tmp_path, model, project, guarded, ring):
    set_up(tmp_path, model.url, **guarded)
    busy = ring.with_name("ring.busy")
    busy.touch()
    async with open_editor(tmp_path, **guarded) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "hi")
        began = time.monotonic()
        await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
        second = await editor.new_session(project)
        assert time.monotonic() - began < 5
        waiting = editor.begin_prompt(second, "never mind")
        editor.notify("session/cancel", {"sessionId": second})
        assert (await waiting)["stopReason"] == "cancelled"
        assert not prompt.done()
        assert model.requests == []
        busy.unlink()
        assert (await prompt)["stopReason"] == "end_turn"
        assert keys_sent(model) == {f"Bearer {KEY}"}
        asked = ring.with_name("ring.log").read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith("get") for line in asked) == 2  # Once by setup, to see that it is kept.


@pytest.mark.slow
async def test_an_agent_ends_although_the_keyring_does_not_answer(tmp_path, model, project, guarded, ring):
    set_up(tmp_path, model.url, **guarded)
    ring.with_name("ring.busy").touch()
    async with open_editor(tmp_path, **guarded) as editor:
        await editor.initialize()
        editor.begin_prompt(await editor.new_session(project), "hi")
        await asyncio.sleep(0.1)
        assert await editor.close(timeout=4) == 0


@pytest.mark.slow
async def test_a_locked_keyring_is_an_error_with_its_reason_until_it_is_unlocked(
    tmp_path, model, project, guarded, ring
):
    set_up(tmp_path, model.url, **guarded)
    locked = ring.with_name("ring.locked")
    locked.touch()
    assert "cannot be read: the collection is locked" in run(tmp_path, "doctor", **guarded).stdout.decode()
    async with open_editor(tmp_path, **guarded) as editor:
        await editor.initialize()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32603
        assert "the collection is locked" in str(error.value)
        locked.unlink()
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"
        assert keys_sent(model) == {f"Bearer {KEY}"}


@pytest.mark.slow
async def test_a_key_in_the_keyring_goes_to_its_own_address_only(tmp_path, model, project, guarded, ring):
    set_up(tmp_path, "https://other.example/v1", **guarded)
    async with open_editor(tmp_path, **guarded, HERMES_ACP_BASE_URL=model.url) as editor:
        await editor.initialize()
        await editor.prompt(await editor.new_session(project), "hi")
        assert KEY not in str(keys_sent(model))
    assert f"get hermes-acp {model.url}" not in ring.with_name("ring.log").read_text(encoding="utf-8")


@pytest.mark.slow
async def test_logout_and_login_work_with_a_key_in_the_keyring(tmp_path, model, project, guarded):
    set_up(tmp_path, model.url, **guarded)
    async with open_editor(tmp_path, **guarded) as editor:
        hello = await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        await editor.request("logout")
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32000
        assert await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]}) == {}
        assert await editor.prompt(session, "again") == "end_turn"
        assert keys_sent(model) == {f"Bearer {KEY}"}


@pytest.mark.slow
async def test_the_keyring_is_not_even_imported_where_no_key_is_in_it(tmp_path, model, project):
    package = tmp_path / "shadow" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemError('it was imported')\n", encoding="utf-8")
    paths = {"PYTHONPATH": f"{package.parent}:{agent_env(tmp_path)['PYTHONPATH']}"}
    async with open_editor(tmp_path, model.url, **paths) as editor:
        await editor.initialize()
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"
    assert not list(package.rglob("*.pyc"))


async def test_a_rejected_key_of_the_keyring_is_read_there_anew(tmp_path, model, project, guarded, ring):
    set_up(tmp_path, model.url, **guarded)
    async with open_editor(tmp_path, **guarded) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "one")
        [name] = json.loads(ring.read_text())
        ring.write_text(json.dumps({name: "sk-changed-in-the-ring-01"}))
        model.keys = ("sk-changed-in-the-ring-01",)
        assert await editor.prompt(session, "two") == "end_turn"
        sent = [request.headers["authorization"] for request in model.requests]
        assert sent == [f"Bearer {KEY}", f"Bearer {KEY}", "Bearer sk-changed-in-the-ring-01"]
        assert "changed-in-the-ring" not in editor.stderr


async def test_a_rejected_key_of_the_file_is_found_where_setup_put_the_next_one(
    tmp_path, model, project, guarded, ring
):
    set_up(tmp_path, model.url)
    async with open_editor(tmp_path, **guarded) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "one")
        model.keys = ("sk-moved-to-the-ring-01",)
        origin = model.url.removesuffix("/v1")
        ring.write_text(json.dumps({f"hermes-acp {origin}": model.keys[0]}))
        file = tmp_path / "hermes-acp" / "credentials.json"
        file.write_text(json.dumps({"keys": {}, "keyring": [f"{origin}"]}))
        assert await editor.prompt(session, "two") == "end_turn"
        assert model.requests[-1].headers["authorization"] == "Bearer sk-moved-to-the-ring-01"

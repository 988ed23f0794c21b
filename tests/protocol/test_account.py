"""The person's settings and logins, read and written without holding up what else goes on."""

import asyncio
import time

import pytest

from hermes_acp.protocol import account
from hermes_acp.protocol.account import Account
from hermes_acp.settings import is_signed_out, load_settings

DEMO = {"model.provider": "demo", "sandbox.use": "never"}
SLOW = 0.3


@pytest.fixture
def read(tmp_path):
    """Reads the settings as slowly as a folder on another machine may be."""

    def read():
        time.sleep(SLOW)
        return load_settings(DEMO, {"HERMES_ACP_HOME": str(tmp_path / "home")})

    return read


async def longest_pause(work):
    """So long nothing else could go on while this did."""
    pauses, last = [0.0], time.monotonic()
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0.005)
        pauses.append(time.monotonic() - last)
        last = time.monotonic()
    await task
    return max(pauses)


async def test_settings_that_are_slow_to_read_hold_up_only_who_asks_for_a_session(read, tmp_path):
    assert await longest_pause(Account(read).look((tmp_path,))) < SLOW / 2


async def test_a_login_that_reads_them_anew_holds_up_nobody(read, tmp_path):
    person = Account(read)
    await person.look((tmp_path,))
    assert await longest_pause(person.authenticate()) < SLOW / 2


async def test_a_logout_that_is_slow_to_write_holds_up_nobody_and_is_kept_when_its_request_is_cancelled(
    read, tmp_path, monkeypatch
):
    def slow(home, write=account.sign_out):
        time.sleep(SLOW)
        write(home)

    monkeypatch.setattr(account, "sign_out", slow)
    person = Account(read)
    await person.look((tmp_path,))
    home = person.home
    logout = asyncio.ensure_future(person.logout())
    await asyncio.sleep(0.05)
    logout.cancel()
    assert await longest_pause(asyncio.wait([logout])) < SLOW / 2
    assert is_signed_out(home)


async def test_a_logout_that_comes_while_somebody_logs_in_is_the_last_word(read, tmp_path, monkeypatch):
    def slow(home, forget=account.sign_in):
        time.sleep(SLOW)
        forget(home)

    monkeypatch.setattr(account, "sign_in", slow)
    person = Account(read)
    await asyncio.gather(person.authenticate(), person.logout())
    assert is_signed_out(person.home)

"""The file of keys, and a logout."""

import json
import stat

import pytest

from hermes_acp.errors import CredentialsMissing, HermesError
from hermes_acp.settings import is_signed_out, resolve_model, sign_in, sign_out
from hermes_acp.settings.credentials import store_key
from hermes_acp.settings.homes import Home
from tests.support.settings import load


def test_stored_keys_are_readable_by_their_owner_only(home):
    file = home / "new" / "credentials.json"
    store_key(file, "https://x.example", "k")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["credentials.json"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_keys_that_others_can_read_are_not_used(home, mode):
    file = home / "credentials.json"
    store_key(file, "https://api.openai.com", "sk-leaked")
    file.chmod(mode)
    settings = load(home)
    [warning] = settings.warnings
    assert "other users can read it" in warning
    assert "sk-leaked" not in warning
    with pytest.raises(CredentialsMissing):
        resolve_model(settings)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"keys": {"a": 1}}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_of_keys_is_a_warning(home, content):
    file = home / "credentials.json"
    file.write_bytes(content)
    file.chmod(0o600)
    [warning] = load(home).warnings
    assert "damaged" in warning


def test_a_logout_lasts_until_the_next_login(home):
    assert not is_signed_out(load(home).home)
    sign_out(load(home).home)
    sign_out(load(home).home)
    assert is_signed_out(load(home).home)
    sign_in(load(home).home)
    sign_in(load(home).home)
    assert not is_signed_out(load(home).home)


def test_a_logout_that_cannot_be_kept_says_so(tmp_path):
    (tmp_path / "file").touch()
    for home in (Home(None, None), Home(tmp_path / "file", tmp_path / "file")):
        with pytest.raises(HermesError, match="only until the program ends"):
            sign_out(home)
        assert not is_signed_out(home)


def test_stored_keys_are_json_by_address(home):
    store_key(home / "c.json", "https://x.example/v1", "k")
    assert json.loads((home / "c.json").read_text(encoding="utf-8")) == {"keys": {"https://x.example:443": "k"}}

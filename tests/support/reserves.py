"""An agent with two models, one in reserve, each on a server of its own."""

import pytest

from tests.fakes.model_server import ModelServer
from tests.support.editor import open_editor

PRIMARY_KEY, RESERVE_KEY = "sk-primary-0123456789", "sk-reserve-0123456789"
RESERVE = "small-model (backup)"


@pytest.fixture
async def reserve():
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@pytest.fixture
def configure(tmp_path, model, reserve):
    """Writes the settings: two endpoints and what is added to them."""
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    model.models = ("big-model",)

    def write(*more, cooldown=60, key='api_key_env = "PRIMARY_KEY"'):
        settings = f"""
[agent]
fallback_cooldown = {cooldown}
auto_title = false
[model]
provider = "custom"
name = "big-model"
base_url = "{model.url}"
{key}
[[fallback_providers]]
provider = "backup"
model = "small-model"
base_url = "{reserve.url}"
api_key_env = "RESERVE_KEY"
"""
        (folder / "config.toml").write_text("\n".join([settings, *more]), encoding="utf-8")

    write()
    return write


def start(tmp_path, **env):
    keys = {"PRIMARY_KEY": PRIMARY_KEY, "RESERVE_KEY": RESERVE_KEY}
    return open_editor(tmp_path / "home", **{**keys, **env})


def asked(server):
    """Each request: its key, its model, its last message."""
    return [
        (
            request.headers["authorization"].removeprefix("Bearer "),
            request.body["model"],
            request.messages[-1]["content"],
        )
        for request in server.requests
    ]


def model_shown(options):
    [option] = [option for option in options if option["id"] == "model"]
    return option["currentValue"], [choice["value"] for choice in option["options"]]


def models_told(editor, session):
    """The models that the editor was told to show, in order, without repetitions."""
    updates = editor.updates(session, "config_option_update")
    shown = [model_shown(update["configOptions"])[0] for update in updates]
    return [model for before, model in zip([None, *shown], shown, strict=False) if model != before]

"""A whole agent over its real stdio, and a model server over real HTTP."""

import pytest

from tests.support.editor import open_editor


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        yield editor

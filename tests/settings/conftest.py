"""The folder where the person's settings are."""

import pytest


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "my home"
    folder.mkdir()
    return folder

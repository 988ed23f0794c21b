"""The home of the person who types the commands."""

import pytest


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "a home with spaces"
    folder.mkdir()
    return folder

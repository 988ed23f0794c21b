"""The suite shares one agent: each test has sessions of its own."""

import pytest

from tests.support.shared import one_editor, one_model, raw_editor, server, shared_editor

__all__ = ["one_editor", "one_model", "raw_editor", "server", "shared_editor"]


@pytest.fixture
def editor(one_editor):
    return one_editor


@pytest.fixture
def model(one_model):
    return one_model

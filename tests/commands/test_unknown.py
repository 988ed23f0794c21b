"""What is told to a person who types a slash and a word that is no command."""

import pytest

from hermes_acp.commands.unknown import unknown_command

NAMES = ("help", "model", "mode", "context", "compact", "undo", "reset", "quit", "resume", "review")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/contxt", "`/context`"),
        ("/HELP", "`/help`"),
        ("/Help me", "`/help`"),
        ("/mod ask", "`/model` or `/mode`"),
        ("/exit", "`/quit`"),
        ("/clear", "`/reset`"),
        ("/reviw the tests", "`/review`"),
    ],
)
def test_the_commands_that_may_have_been_meant_are_named(tmp_path, typed, meant):
    told = unknown_command(typed, NAMES, tmp_path)
    assert f"There is no command `{typed.split()[0]}`" in told
    assert f"Did you mean {meant}" in told


def test_where_nothing_is_near_the_list_is_named(tmp_path):
    assert "`/help` lists those" in unknown_command("/xyzzy", NAMES, tmp_path)


@pytest.mark.parametrize(
    "typed",
    [
        "/help",
        "/review it",
        "/etc/hosts is wrong",
        "/tmp is full",
        "/app.py fails, why?",
        "/*.log",
        "//help",
        "/ hello",
        "/",
        " /contxt",
        "see /contxt",
        "/2 is a half",
        "/" + "a" * 60,
    ],
)
def test_a_path_or_another_text_is_for_the_model(tmp_path, typed):
    assert unknown_command(typed, NAMES, tmp_path) == ""

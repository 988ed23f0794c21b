"""What a person sees in a real terminal, as tmux captures it."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "chat.md"
PAST_THE_GUARD = 0.6
EDIT = Call("patch", {"path": "main.py", "old_string": "a - b", "new_string": "a + b"})
BEFORE = "def add(a, b):\n    return a - b\n"
AFTER = "def add(a, b):\n    return a + b\n"


def from_prompt(screen, prompt):
    """The lines from a prompt on, without blank ones at the end."""
    lines = [line.rstrip() for line in screen.splitlines()]
    return "\n".join(lines[lines.index(f"› {prompt}") :]).rstrip().splitlines()


def program_in(window):
    """The id of the process that the window's shell has started."""
    shell = int(window.run("display-message", "-p", "#{pane_pid}"))
    with open(f"/proc/{shell}/task/{shell}/children", encoding="utf-8") as file:
        [process] = map(int, file.read().split())
    return process


def test_the_prompt_is_there_before_much_was_done(chat):
    window = chat()
    with open(f"/proc/{program_in(window)}/stat", encoding="utf-8") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    # The model's client is loaded behind the prompt, before the screen has been looked at.
    assert (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") < 2.5


def test_an_answer_streams_and_stays_as_it_was_drawn(chat, model):
    text = "# Plan\n\nUse `add`, which is **short**.\n\n- one\n- two\n\n```python\nx = 1\n```\n\nDone."
    model.say(Say(text, token_delay=0.1))
    window = chat()
    window.say("How?")
    half = window.sees("Plan", "Use add")
    assert "Done." not in half
    assert re.search(r"Ctrl-C interrupts\n›", half)
    screen = window.until(lambda screen: "Done.\n\n›\nfake-model" in screen)
    assert from_prompt(screen, "How?") == [
        "› How?",
        "",
        "Plan",
        "",
        "Use add, which is short.",
        "",
        " • one",
        " • two",
        "",
        "  x = 1",
        "",
        "Done.",
        "",
        "›",
        "fake-model · ask",
    ]


def test_an_edit_is_allowed_after_its_diff(chat, model, project):
    (project / "main.py").write_text(BEFORE)
    model.say(Say("I mend it.", calls=[EDIT]), "It adds now.")
    window = chat()
    window.say("Mend it.")
    screen = window.sees("[y]es [s]ession [a]lways [n]o [c]omment")
    documented = re.search(r"```text\n(› Mend it.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert from_prompt(screen, "Mend it.")[:-1] == documented[1].splitlines()
    assert (project / "main.py").read_text() == BEFORE
    time.sleep(PAST_THE_GUARD)
    window.press("y")
    assert "✓ Edit main.py" in window.sees("It adds now.")
    assert (project / "main.py").read_text() == AFTER


def test_ctrl_c_once_interrupts_and_twice_leaves(chat, model):
    model.say(Say("Thinking aloud", ending="stall"), "Again here.")
    window = chat()
    window.say("Go.")
    window.sees("Thinking aloud")
    window.press("C-c")
    window.sees("Interrupted.")
    window.say("And now?")
    window.sees("Again here.")
    window.sees_no("Ctrl-C again leaves")
    time.sleep(2.1)
    window.press("C-c", "C-c")
    screen = window.sees("status 0")
    assert re.search(r"To go on: hermes-acp-agent chat --resume [\w-]{36}", screen)


def test_the_last_session_of_the_folder_is_gone_on_with(chat, model):
    model.say("The word is heron.")
    window = chat()
    window.say("Keep heron.")
    window.sees("The word is heron.")
    window.press("C-d")
    window.sees("status 0")
    model.say("It was heron.")
    other = chat("--resume")
    assert "The word is heron." in other.sees("› Keep heron.", "You go on from here.")
    other.say("What was it?")
    other.sees("It was heron.")
    said = [message["content"] for message in model.requests[-1].messages if message["role"] == "user"]
    assert said == ["Keep heron.", "What was it?"]


def test_the_log_goes_where_the_arguments_say_and_not_on_the_screen(chat, model, tmp_path):
    log = tmp_path / "chat.log"
    model.say("Well.")
    window = chat("--log-file", str(log), "--log-level", "debug")
    window.say("How are you?")
    window.sees("Well.")
    assert "DEBUG openai" in log.read_text("utf-8")
    assert "DEBUG" not in window.screen()


def test_there_are_no_colours_where_none_are_wanted(chat, model):
    model.say("A `code` and **bold** answer.")
    window = chat(NO_COLOR="1")
    window.say("Go.")
    window.sees("A code and bold answer.")
    coloured = window.screen(coloured=True)
    assert re.findall(r"\x1b\[(?:3[0-7]|4[0-7]|9\d)m", coloured) == []


def test_a_terminal_that_only_writes_lines_is_enough(chat, model, project):
    (project / "main.py").write_text(BEFORE)
    model.say(Say("I mend it.", calls=[EDIT]), "It adds now.")
    window = chat(TERM="dumb")
    window.say("Mend it.")
    window.sees("+    return a + b", "[y]es [s]ession")
    time.sleep(PAST_THE_GUARD)
    window.say("y")
    window.sees("It adds now.")
    assert "\x1b" not in window.screen(coloured=True)
    assert (project / "main.py").read_text() == AFTER
    window.press("C-d")
    window.sees("status 0")


def test_a_narrow_window_and_a_resize_break_nothing(chat, model):
    model.say("Words " * 30 + "over.", "Words " * 30 + "end.")
    window = chat(columns=24, rows=12)
    window.say("Go on.")
    window.until(lambda screen: "over.\n\n›" in screen)
    window.resize(70, 20)
    time.sleep(0.3)
    window.say("More.")
    screen = window.sees("end.")
    assert max(len(line) for line in screen.splitlines()) > 60


def test_a_locale_without_utf_8_breaks_nothing(chat, model):
    model.say("Grüße, ✓ and 你好.")
    window = chat(LC_ALL="POSIX", LANG="C")
    window.say("Hallo é")
    window.sees("Grüße")
    assert model.requests[-1].messages[-1]["content"] == "Hallo é"


def test_a_stopped_chat_goes_on_in_the_foreground(chat, model):
    model.say("Here I am.")
    window = chat()
    window.press("C-z")
    window.sees("Stopped")
    window.say("fg")
    time.sleep(0.5)
    window.say("Hello?")
    window.sees("Here I am.")


def test_a_terminal_that_goes_away_ends_the_chat(chat, model):
    model.say(Say("On and on", ending="stall"))
    window = chat()
    window.say("Go.")
    window.sees("On and on")
    process = program_in(window)
    window.run("kill-pane")
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{process}"):
        assert time.monotonic() < deadline, "it lives on"
        time.sleep(0.05)


def test_a_hangup_ends_the_chat_like_the_end_of_input(chat, model):
    model.say(Say("On and on", ending="stall"))
    window = chat()
    window.say("Go.")
    window.sees("On and on")
    process = program_in(window)
    os.kill(process, signal.SIGHUP)
    window.sees("To go on:", "status 0")

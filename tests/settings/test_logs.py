"""The log: no key in it, and none that holds up the start."""

import logging
import os
import subprocess
import sys
import textwrap

import pytest

from hermes_acp.settings import start_logging
from tests.support.settings import load


def test_no_key_is_written_to_the_log(home):
    log = home / "log.txt"
    settings = load(home, {"log.file": str(log), "log.level": "debug"}, OPENAI_API_KEY="sk-SECRET\n")
    before = logging.root.handlers[:], logging.root.level
    try:
        start_logging(settings)
        try:
            raise ValueError("401: the key sk-SECRET is wrong \ud800")
        except ValueError:
            logging.getLogger("x").exception("header %s", {"authorization": "Bearer sk-SECRET"})
        for handler in logging.root.handlers:
            handler.close()
    finally:
        logging.root.handlers[:], logging.root.level = before
    text = log.read_text(encoding="utf-8")
    assert "SECRET" not in text
    assert text.count("[key]") == 3  # the message, the line of source, the exception


@pytest.mark.parametrize("reader", [False, True], ids=["nobody reads", "somebody reads"])
def test_a_pipe_as_log_file_does_not_hold_up_the_start(tmp_path, reader):
    os.mkfifo(tmp_path / "log")
    reading = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK) if reader else None
    script = """
        import sys
        from hermes_acp.settings import load_settings, start_logging
        start_logging(load_settings({"log.file": sys.argv[1]}, {}))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert "The log cannot go to" in done.stderr
    if reading is not None:
        os.close(reading)

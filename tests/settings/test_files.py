"""Files of settings that are wrong, marked, or no files at all."""

import os

import pytest

from hermes_acp.errors import ConfigError
from tests.support.settings import load


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[model\nname", "not valid TOML"),
        (b'[model]\nname = "\xff"', "must be UTF-8"),
        (b"a = " + b"[" * 5000, "not valid TOML"),
        (b"#" * (1024 * 1024 + 1), "larger than 1 MiB"),
        (b'[model]\nnmae = "x"', "model.nmae"),
    ],
)
def test_a_wrong_file_is_one_line_with_its_name(home, content, reason):
    (home / "config.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(home)
    line = str(caught.value)
    assert line.startswith(str(home / "config.toml"))
    assert reason in line
    assert "\n" not in line


def test_a_file_from_an_editor_that_adds_a_mark_is_read(home):
    (home / "config.toml").write_bytes(b'\xef\xbb\xbf[model]\r\nname = "x"\r\n')
    assert load(home).config.model.name == "x"


def test_a_pipe_in_the_place_of_the_file_does_not_hang(home):
    os.mkfifo(home / "config.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        load(home)

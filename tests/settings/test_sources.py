"""Arguments of the command line become settings, and a wrong one is named."""

import pytest

from hermes_acp.errors import ConfigError
from hermes_acp.settings import from_arguments


def test_arguments_of_the_wire_become_settings():
    argv = ["--stdio", "--model", "m", "--mode=plan", "--log-level", "debug"]
    assert from_arguments(argv) == {"model.name": "m", "approvals.mode": "plan", "log.level": "debug"}


@pytest.mark.parametrize(
    ("argv", "reason"),
    [(["--modell", "x"], "did you mean --model"), (["--model"], "needs a value"), (["--model", "--stdio"], "needs")],
)
def test_a_wrong_argument_is_named(argv, reason):
    with pytest.raises(ConfigError, match=reason):
        from_arguments(argv)

"""The commands, run as a person or an editor runs them: in a process of their own, with a bare environment."""

import subprocess
import sys
from pathlib import Path

WITHOUT_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
"""How a person disables it, so that no test touches the one of this machine."""

SCRIPTS = Path(sys.executable).parent


def environment(home, **more):
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "HERMES_ACP_HOME": str(home)}
    return {**bare, "HERMES_ACP_LOCAL_SERVERS": "off", **WITHOUT_KEYRING, **more}


def hermes(home, *arguments, answers="", **more):
    return subprocess.run(
        [sys.executable, "-m", "hermes_acp", *arguments],
        input=answers.encode(),
        env=environment(home, **more),
        cwd="/",
        capture_output=True,
        timeout=30,
    )


def doctor(home, *arguments, **more):
    """The doctor's report where no model's server may be asked."""
    return hermes(home, "doctor", "--offline", *arguments, **more)


def report(done):
    """The lines of the doctor by name."""
    found = {}
    for line in done.stdout.decode().splitlines():
        state, name, text = line.split(maxsplit=2)
        found.setdefault(name, []).append((state, text))
    return found

"""Chats in a real terminal: tmux draws what the program writes, and its screen is read back."""

import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid

import pytest

KEY = "sk-test-0123456789"
PATIENCE = 40.0


@pytest.fixture
def model(model_in_thread):
    return model_in_thread


class Tmux:
    """One window of a tmux server of our own, in which a shell runs."""

    def __init__(self, folder, environment, columns, rows):
        self._name = f"hermes-{uuid.uuid4().hex[:8]}"
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._environment = {**kept, "LC_ALL": "C.UTF-8", **environment}
        size = ("-x", str(columns), "-y", str(rows))
        self.run("-f", os.devnull, "new-session", "-d", *size, "-c", str(folder), "env PS1='$ ' sh")
        self.run("set-option", "-g", "history-limit", "5000")

    def run(self, *arguments):
        done = subprocess.run(
            ["tmux", "-u", "-L", self._name, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=20,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def type(self, text):
        """Type the text as it is."""
        self.run("send-keys", "-l", text)

    def press(self, *keys):
        """Press keys by tmux's names: Enter, C-c, M-Enter."""
        self.run("send-keys", *keys)

    def say(self, line):
        self.type(line)
        self.press("Enter")

    def screen(self, *, coloured=False, whole=True):
        """What is on the screen, with what has left it at the top."""
        options = ["-e"] if coloured else []
        scrolled = ["-S", "-"] if whole else []
        return self.run("capture-pane", "-p", *options, *scrolled)

    def sees(self, *texts):
        """Wait until all the texts are on the screen; the screen."""
        return self.until(lambda screen: all(text in screen for text in texts), texts)

    def sees_no(self, *texts):
        return self.until(lambda screen: not any(text in screen for text in texts), texts)

    def until(self, holds, what=""):
        deadline = time.monotonic() + PATIENCE
        while not holds(screen := self.screen()):
            assert time.monotonic() < deadline, f"{what}\n{screen}"
            time.sleep(0.05)
        return screen

    def resize(self, columns, rows):
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self):
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, check=False, timeout=20)


@pytest.fixture
def terminal(model, project, tmp_path):
    """Opens a terminal of some size, with the model in its environment."""
    if shutil.which("tmux") is None:
        pytest.fail("tmux is missing: apt-get install tmux")
    opened = []

    def terminal(columns=80, rows=30, **environment):
        settings = {
            "HERMES_ACP_BASE_URL": model.url,
            "HERMES_ACP_MODEL": "fake-model",
            "HERMES_ACP_API_KEY": KEY,
            "HERMES_ACP_HOME": str(tmp_path / "home"),
            "HERMES_ACP_LOCAL_SERVERS": "off",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        opened.append(Tmux(project, {**settings, **environment}, columns, rows))
        return opened[-1]

    yield terminal
    for each in opened:
        each.close()


@pytest.fixture
def chat(terminal):
    """Begins a chat in a new terminal."""

    def chat(*arguments, columns=80, rows=30, **environment):
        opened = terminal(columns, rows, **environment)
        before = f"TERM={environment['TERM']} " if "TERM" in environment else ""
        opened.say(before + shlex.join([sys.executable, "-m", "hermes_acp", "chat", *arguments]) + "; echo status $?")
        opened.sees("/help")
        opened.until(lambda screen: "\n›" in screen or "\n>" in screen)
        return opened

    return chat

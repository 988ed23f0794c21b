"""kill -9 in the middle of writing files: each is old or new, whole, and hardly anything else is in the folder."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEED = 20261130
SIZE = 2_000_000

WRITER = """
import sys
from pathlib import Path
from hermes_acp.local.writing import write

folder, size = Path(sys.argv[1]), int(sys.argv[2])
contents = [bytes([digit]) * size for digit in b"0123456789"]
present = (folder / "changed").read_bytes()
print("ready", flush=True)
for turn in range(1, 100_000):
    following = contents[turn % 10]
    write(folder / "changed", following, present)
    present = following
    write(folder / f"made-{turn}", following, None)
    (folder / f"made-{turn}").unlink()
"""


@pytest.mark.slow
def test_files_are_old_or_new_and_little_is_left_beside_them(tmp_path: Path) -> None:
    dice = random.Random(SEED)
    changed = tmp_path / "changed"
    changed.write_bytes(b"0" * SIZE)
    beside = []
    for _ in range(25):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(SIZE)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(dice.uniform(0, 0.1))
        writer.kill()
        writer.communicate()
        for path in tmp_path.iterdir():
            content = path.read_bytes()
            assert len(content) == SIZE
            assert len(set(content)) == 1
            if path != changed:
                path.unlink()
            if path != changed and not path.name.startswith("made-"):
                beside.append(path.name)
    # Between the naming of a file and its renaming are some microseconds.
    assert len(beside) <= 2, beside

"""A folder that becomes a link to another place, and a folder again, while files in it are read and written."""

import sys
import time
from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local import files, removing, writing
from tests.support.swapping import swapping

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="renameat2 is a call of Linux")

SWAPS = 10_000
SECONDS = 1.0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder `d` with a file, a link `l` to a place outside with one of the same name."""
    for place, text in (("ws/d", "inside"), ("outside", "outside")):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "f").write_text(text)
    (tmp_path / "ws" / "l").symlink_to(tmp_path / "outside")
    return tmp_path / "ws"


def attempts(attempt):
    """How often it was done, and refused, within a second."""
    done = refused = 0
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            attempt()
            done += 1
        except ToolError:
            refused += 1
    return done, refused


def test_ten_thousand_swaps_lead_no_read_outside(project):
    read = set()
    with swapping(project, "d", "l") as race:
        done, refused = attempts(lambda: read.add(files.read(project / "d" / "f")))
    assert race.swaps >= SWAPS
    assert min(done, refused) > 10
    assert read == {b"inside"}


@pytest.mark.parametrize("new", [True, False])
def test_ten_thousand_swaps_lead_no_write_outside(project, new):
    outside, numbers = project.parent / "outside", iter(range(1_000_000))

    def write():
        if new:
            writing.write(project / "d" / f"new{next(numbers)}", b"x", None)
        else:
            writing.write(project / "d" / "f", b"inside", b"inside")

    with swapping(project, "d", "l") as race:
        done, refused = attempts(write)
    assert race.swaps >= SWAPS
    assert min(done, refused) > 3
    assert [path.name for path in outside.iterdir()] == ["f"]
    assert (outside / "f").read_text() == "outside"


def test_ten_thousand_swaps_lead_no_removal_outside(project):
    outside = project.parent / "outside" / "f"
    with swapping(project, "d", "l") as race:
        done, refused = attempts(lambda: removing.remove(project / "d" / "f", holding=b"outside"))
    assert race.swaps >= SWAPS
    assert done == 0
    assert refused > 10
    assert outside.read_text() == "outside"

"""The gate: what takes effect unasked, what is asked about, what is refused."""

import pytest

from hermes_acp.tools.approval import Approvals
from tests.tools.safety.cases import COMMANDS


@pytest.fixture
def decide(prepare, workspace):
    async def decided(command, approvals):
        return approvals.judge("terminal", await prepare("terminal", command=command), workspace.roots).decision

    return decided


@pytest.mark.parametrize("mode", ["ask", "accept_edits", "plan"])
async def test_of_the_kept_commands_no_dangerous_one_runs_unasked_and_no_reading_one_asks(decide, folder, mode):
    (folder / "README.md").write_text("x\n")
    (folder / ".env").write_text("x\n")
    approvals = Approvals(mode)
    for case in COMMANDS:
        decision = await decide(case["command"], approvals)
        if mode == "plan":
            assert decision == "deny"
        elif case["read_only"]:
            assert decision == "allow", case
        elif not case["debatable"]:
            assert decision == "ask" or not case["dangerous"], case


async def test_a_command_whose_link_was_moved_after_it_was_judged_does_not_run(prepare, folder):
    (folder / "a.txt").write_text("mine\n")
    (folder.parent / "outside.txt").write_text("OUTSIDE\n")
    (folder / "link").symlink_to("a.txt")
    action = await prepare("terminal", command="cat link")
    assert not action.judged.concern
    (folder / "link").unlink()
    (folder / "link").symlink_to("../outside.txt")
    with pytest.raises(Exception, match="changed since it was judged"):
        await action.run()


async def test_a_command_does_not_run_in_a_folder_that_was_put_in_the_place_of_the_sessions(prepare, folder, tmp_path):
    action = await prepare("terminal", command="touch made")
    folder.rename(tmp_path / "moved")
    (tmp_path / "other").mkdir()
    folder.symlink_to(tmp_path / "other")
    with pytest.raises(Exception, match="changed since it was judged"):
        await action.run()
    assert not list((tmp_path / "other").iterdir())

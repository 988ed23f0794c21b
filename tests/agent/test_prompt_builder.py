"""The system prompt: what it holds, and what a repository cannot make it hold."""

from hermes_acp.agent.prompt_builder import build_system_prompt
from hermes_acp.local.workspace import LocalWorkspace


async def prompt(*roots):
    return await build_system_prompt(LocalWorkspace(roots[0], roots[1:]))


async def test_it_holds_the_projects_guidance_and_where_it_works(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    text = await prompt(tmp_path)
    assert "Use tabs." in text
    assert str(tmp_path) in text


async def test_the_first_guidance_file_of_a_folder_counts(tmp_path):
    (tmp_path / "AGENTS.md").write_text("first\n")
    (tmp_path / "CLAUDE.md").write_text("second\n")
    text = await prompt(tmp_path)
    assert "first" in text
    assert "second" not in text


async def test_every_root_has_its_say(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(f"guidance of {name}\n")
    text = await prompt(tmp_path / "a", tmp_path / "b")
    assert "guidance of a" in text
    assert "guidance of b" in text


async def test_a_linked_guidance_file_does_not_send_the_persons_files_to_the_model(tmp_path):
    secret = tmp_path / "credentials"
    secret.write_text("sk-secret\n")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "AGENTS.md").symlink_to(secret)
    (project / ".git" / "HEAD").symlink_to(secret)
    assert "sk-secret" not in await prompt(project)


async def test_long_guidance_is_cut(tmp_path):
    (tmp_path / "AGENTS.md").write_text("x" * 100_000)
    assert len(await prompt(tmp_path)) < 20_000


async def test_the_branch_is_read_without_running_git(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    assert "feature/x" in await prompt(tmp_path)


async def test_guidance_that_is_not_utf8_is_read_all_the_same(tmp_path):
    (tmp_path / "AGENTS.md").write_bytes(b"caf\xe9 style\n")
    assert "style" in await prompt(tmp_path)

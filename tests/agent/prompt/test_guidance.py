"""The project's files for agents: which are read, in which order, and how much of them."""

import os

from hermes_acp.agent.prompt.guidance import FILE_CHARACTERS, TOTAL_CHARACTERS, project_guidance


def texts(*roots):
    return [file.text for file in project_guidance(roots, lambda path: True)]


def put(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / {"agents": "AGENTS.md", "claude": "CLAUDE.md", "hermes": ".hermes.md"}[name]).write_text(text)
    return folder


def test_the_nearest_goes_first_and_the_repository_is_the_end(tmp_path):
    put(tmp_path, agents="outside")
    repository = put(tmp_path / "repository", agents="top")
    (repository / ".git").mkdir()
    put(repository / "a", claude="middle")
    assert texts(put(repository / "a" / "b", hermes="near")) == ["near", "middle", "top"]


def test_without_a_repository_only_the_folder_itself_counts(tmp_path):
    put(tmp_path, agents="above")
    assert texts(put(tmp_path / "a", agents="here")) == ["here"]


def test_a_file_for_this_agent_goes_beside_the_common_one(tmp_path):
    assert texts(put(tmp_path, agents="all", claude="other", hermes="ours")) == ["all", "ours"]


def test_roots_in_one_repository_name_its_file_once(tmp_path):
    (put(tmp_path, agents="top") / ".git").mkdir()
    assert texts(put(tmp_path / "a"), put(tmp_path / "b", agents="b")) == ["top", "b"]


def test_each_file_and_all_together_are_capped(tmp_path):
    (tmp_path / ".git").mkdir()
    folder = tmp_path
    for name in "abcd":
        put(folder, agents=name * 100_000)
        folder = folder / name
    files = project_guidance([put(folder)], lambda path: True)
    assert [file.text[:1] for file in files] == ["d", "c"]
    assert all(len(file.text) < FILE_CHARACTERS + 100 for file in files)
    assert all("There is more of it: read AGENTS.md." in file.text for file in files)
    assert sum(len(file.text) for file in files) < TOTAL_CHARACTERS + 200


def test_pipes_and_folders_of_that_name_hold_nothing_up(tmp_path):
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").mkdir()
    assert texts(tmp_path) == []


def test_a_link_out_of_the_repository_is_not_followed_and_one_within_is(tmp_path):
    (tmp_path / "private.txt").write_text("private")
    repository = put(tmp_path / "r", agents="top")
    (repository / ".git").mkdir()
    (repository / "a").mkdir()
    (repository / "b").mkdir()
    (repository / "a" / "AGENTS.md").symlink_to(repository / "AGENTS.md")
    (repository / "b" / "AGENTS.md").symlink_to(tmp_path / "private.txt")
    assert texts(repository / "a") == ["top", "top"]
    assert texts(repository / "b") == ["top"]

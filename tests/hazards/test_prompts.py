"""P: what a prompt may hold (P2 to P4, its images, are in test_images). Each test is named for the hazard."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError

pytestmark = pytest.mark.asyncio(loop_scope="session")


def said(model):
    """The user message of the last request as one text."""
    content = model.requests[-1].messages[-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def prompt(session, *blocks):
    texts = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"sessionId": session, "prompt": texts}


def link(uri, name="AGENTS.md", **more):
    return {"type": "resource_link", "name": name, "uri": uri, **more}


@pytest.fixture
def spaced(tmp_path):
    folder = tmp_path / "My Proj (1)"
    (folder / "My Dir").mkdir(parents=True)
    for name in ("a b.md", "50% done.md", "c#.md", "é.md", "q?.md", "My Dir/é.md", "50%25.md"):
        (folder / name).write_text(f"content of {name}\n", encoding="utf-8")
    return folder


async def test_p1_a_link_is_told_with_its_name_its_decoded_path_and_its_content_in_order(one_editor, one_model, spaced):
    session = await one_editor.new_session(spaced)
    uri = f"file://{spaced}/My%20Dir/%C3%A9.md".replace("My Proj (1)", "My%20Proj%20(1)")
    blocks = (
        "before",
        link(uri),
        "check",
        link("https://example.org/a%20b", "page"),
        link("zed:///thread/1", "thread"),
    )
    await one_editor.request("session/prompt", prompt(session, *blocks))
    told = ("before", "AGENTS.md", str(spaced / "My Dir/é.md"), "content of My Dir/é.md", "check")
    told = (*told, "page", "https://example.org/a%20b", "thread", "zed:///thread/1")
    places = [said(one_model).index(word) for word in told]
    assert places == sorted(places)


@pytest.mark.parametrize("part", ["#L10:20", "#L3", "?symbol=main#L1:2"])
async def test_p1_a_link_to_a_part_of_a_file_brings_the_file_and_says_which_part(one_editor, one_model, spaced, part):
    session = await one_editor.new_session(spaced)
    for uri in (f"file://{spaced}/a%20b.md".replace("My Proj (1)", "My%20Proj%20(1)"), f"file://{spaced}/c%23.md"):
        await one_editor.request("session/prompt", prompt(session, "check", link(uri + part, "main")))
        name = "a b.md" if "a%20b" in uri else "c#.md"
        assert f"main ({part})" in said(one_model)
        assert f"content of {name}" in said(one_model)
        assert f'"{spaced}/{name}"' in said(one_model)


async def test_p1_the_mark_at_the_beginning_of_a_linked_file_is_not_shown(one_editor, one_model, project):
    (project / "marked.txt").write_bytes(b"\xef\xbb\xbfhello\n")
    session = await one_editor.new_session(project)
    await one_editor.request("session/prompt", prompt(session, "see", link(f"file://{project}/marked.txt")))
    assert "hello" in said(one_model)
    assert "\ufeff" not in said(one_model)


async def test_p1_links_that_cannot_be_read_are_told_all_the_same(one_editor, one_model, project, tmp_path):
    (tmp_path / "outside.txt").write_text("outside\n")
    (project / "binary").write_bytes(b"\0\1\2")
    (project / "large.txt").write_text("x" * 200_000)
    (project / "folder").mkdir()
    (project / ".env").write_text("TOKEN=secret\n")
    names = ("missing.txt", "binary", "large.txt", "folder", ".env", "../outside.txt", "é" * 200)
    session = await one_editor.new_session(project)
    uris = [f"file://{project}/{name}" for name in names]
    await one_editor.request(
        "session/prompt", prompt(session, "see", *(link(uri, name) for uri, name in zip(uris, names, strict=True)))
    )
    for name in names:
        assert name in said(one_model)
    assert "secret" not in said(one_model)
    assert "outside\n" not in said(one_model)
    assert len(said(one_model)) < 10_000


@pytest.mark.parametrize(
    "uri", ["", "file:", "file://", "file:///", "file://%", "file:///%00", "file:///%FF%FE", "\ud800", "a" * 100_000]
)
async def test_p1_no_link_costs_the_prompt(one_editor, one_model, project, uri):
    session = await one_editor.new_session(project)
    await one_editor.request("session/prompt", prompt(session, "the question", link(uri, "named")))
    assert "the question" in said(one_model)
    assert "named" in said(one_model)


@pytest.mark.parametrize(
    "text", ["/home/me/app.py fails, why?", "/unknowncmd hi", "/ hello", "/", "//help", "/HELP", "/help/x", "/Help me"]
)
async def test_p5_a_text_that_begins_with_a_slash_and_is_no_command_goes_to_the_model(
    one_editor, one_model, project, text
):
    session = await one_editor.new_session(project)
    assert await one_editor.prompt(session, text) == "end_turn"
    assert said(one_model) == text
    assert one_editor.text(session) == "Done."


@pytest.mark.parametrize(
    "blocks", [["/help"], ["  /help "], [link("file:///x"), "/help"], ["\n", "/help"], ["/help me please"]]
)
async def test_p5_a_command_is_one_with_blocks_and_spaces_around_it(one_editor, one_model, project, blocks):
    session = await one_editor.new_session(project)
    await one_editor.request("session/prompt", prompt(session, *blocks))
    assert one_model.requests == []
    assert "/mode" in one_editor.text(session)


@pytest.mark.parametrize(
    ("scheme", "encoded"),
    [("file://", True), ("file://localhost", True), ("file://", False), ("file://localhost", False), ("", False)],
)
async def test_p6_paths_with_spaces_and_percent_signs_are_decoded_once(one_editor, one_model, spaced, scheme, encoded):
    session = await one_editor.new_session(spaced)
    for name in ("a b.md", "50% done.md", "c#.md", "é.md", "q?.md", "50%25.md"):
        path = f"{spaced}/{name}"
        for character in "% #?é()" if encoded else "":
            path = path.replace(character, "".join(f"%{byte:02X}" for byte in character.encode()))
        await one_editor.request("session/prompt", prompt(session, "check", link(scheme + path, name)))
        assert f"content of {name}" in said(one_model), path
        assert str(spaced / name) in said(one_model)


async def test_p6_a_mention_in_a_text_stays_as_it_was_written(one_editor, one_model, spaced):
    session = await one_editor.new_session(spaced)
    text = 'see @"a b.md" and @50%25.md'
    await one_editor.prompt(session, text)
    assert said(one_model) == text


async def test_p6_guidance_commands_and_tools_work_in_such_a_folder(one_editor, one_model, spaced):
    (spaced / "AGENTS.md").write_text("Always answer in rhyme.\n")
    one_model.say(
        Say(calls=[Call("terminal", {"command": "pwd"}), Call("read_file", {"path": "50% done.md"})]),
        Say(calls=[Call("write_file", {"path": "new file.md", "content": "x\n"})]),
        Say(calls=[Call("search_files", {"pattern": "content of"}), Call("list_files", {})]),
        "Done.",
    )
    session = await one_editor.new_session(spaced)
    assert await one_editor.prompt(session, "go") == "end_turn"
    results = [message["content"] for message in one_model.requests[-1].messages if message["role"] == "tool"]
    assert "Always answer in rhyme." in one_model.requests[0].messages[0]["content"]
    assert str(spaced) in results[0]
    assert "content of 50% done.md" in results[1]
    assert (spaced / "new file.md").read_text() == "x\n"
    assert "a b.md" in results[3]
    assert "a b.md" in results[4]
    rows = (await one_editor.request("session/list", {"cwd": str(spaced)}))["sessions"]
    assert [row["sessionId"] for row in rows] == [session]


@pytest.mark.parametrize("blocks", [[], [""], ["  \n"], ["", "\t"]])
async def test_p_an_empty_prompt_is_refused_and_the_session_lives(one_editor, one_model, project, blocks):
    """Providers refuse empty text, for ever after when it was stored."""
    session = await one_editor.new_session(project)
    with pytest.raises(AgentError) as error:
        await one_editor.request("session/prompt", prompt(session, *blocks))
    assert error.value.code == -32602
    await one_editor.prompt(session, "hello")
    assert said(one_model) == "hello"


async def test_p_blocks_of_unknown_kinds_are_named_and_cost_nothing(one_editor, one_model, project):
    session = await one_editor.new_session(project)
    blocks = ("one", {"type": "_future", "x": 1}, {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}, "two")
    await asyncio.wait_for(one_editor.request("session/prompt", prompt(session, *blocks)), 20)
    places = [said(one_model).index(word) for word in ("one", "_future", "audio", "two")]
    assert places == sorted(places)

"""The servers that a project names in its `.mcp.json`: read strictly, bound to all that decides what is started."""

import json
import sys

import pytest

from hermes_acp.local import confidential
from hermes_acp.mcp.project import read_project
from hermes_acp.mcp_servers import ProgramServer, RemoteServer


def put(folder, **servers):
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return read_project(folder)


def test_programs_and_addresses_are_read_and_foreign_keys_allow_nothing(tmp_path):
    found = put(
        tmp_path,
        program={"command": "./bin/server", "args": ["-v"], "env": {"A": "b"}, "autoApprove": ["*"], "timeout": 1},
        remote={"type": "streamable-http", "url": "https://mcp.example/x", "headers": {"X": "y"}},
        off={"command": "x", "disabled": True},
    )
    assert found.servers == (
        ProgramServer("program", str(tmp_path / "bin" / "server"), ("-v",), (("A", "b"),)),
        RemoteServer("remote", "https://mcp.example/x", "http", (("X", "y"),)),
    )
    assert "autoApprove" not in "".join(found.words)


def test_variables_are_filled_in_where_they_are_set_and_a_models_key_never_is(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTES_TOKEN", "their-own-token")
    monkeypatch.setenv("MODEL_KEY", "sk-model-0123456789")
    monkeypatch.delenv("NOT_SET", raising=False)
    confidential.keep("sk-model-0123456789")
    env = {"TOKEN": "${NOTES_TOKEN}", "MODE": "${NOT_SET:-quiet}"}
    found = put(tmp_path, x={"command": "good", "env": env})
    assert found.servers[0].env == (("TOKEN", "their-own-token"), ("MODE", "quiet"))
    assert "${NOTES_TOKEN}" in found.words[0]
    assert "their-own-token" not in found.words[0]
    assert "MODEL_KEY holds the key of a model" in put(tmp_path, x={"command": "c", "args": ["${MODEL_KEY}"]}).problem
    assert "NOT_SET is not set" in put(tmp_path, x={"command": "${NOT_SET}"}).problem


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"mcpServers": 5}',
        '{"mcpServers": {"x": 5}}',
        '{"mcpServers": {"x": {}}}',
        '{"mcpServers": {"x": {"url": "file:///etc/passwd"}}}',
        '{"mcpServers": {"x": {"command": "a\\u0000b"}}}',
        "[" * 100_000,
        "\ud800",
    ],
)
def test_what_cannot_be_read_starts_nothing_and_says_why(tmp_path, text):
    (tmp_path / ".mcp.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    found = read_project(tmp_path)
    assert (found.servers, found.digest) == ((), "")
    assert found.problem


def test_no_file_and_no_server_say_nothing(tmp_path):
    assert read_project(tmp_path).problem == ""
    assert put(tmp_path).problem == ""


def test_a_link_out_of_the_project_is_not_followed(tmp_path):
    (tmp_path / "project").mkdir()
    put(tmp_path, x={"command": "good"})
    (tmp_path / "project" / ".mcp.json").symlink_to(tmp_path / ".mcp.json")
    assert read_project(tmp_path / "project").servers == ()


def test_the_hash_holds_the_file_and_the_projects_programs_and_no_others(tmp_path, monkeypatch):
    project, programs = tmp_path / "project", tmp_path / "project" / "node_modules" / ".bin"
    programs.mkdir(parents=True)
    (programs / "own").write_text("#!/bin/sh\n")
    (programs / "own").chmod(0o755)
    (project / "server.js").write_text("1")
    (project / "beside.js").write_text("1")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin")
    (project / "data.db").write_text("1")
    servers = {
        "x": {"command": "own", "args": ["data.db"]},
        "y": {"command": sys.executable, "args": ["--entry=server.js", "data.db"]},
    }
    digests = [put(project, **servers).digest]
    for changed in (programs / "own", project / "server.js"):
        changed.write_text("changed")
        digests.append(read_project(project).digest)
    (project / "beside.js").write_text("changed")
    (project / "data.db").write_text("changed")
    digests.append(read_project(project).digest)
    assert len(set(digests)) == 3
    assert digests[2] == digests[3]


def test_the_first_file_that_an_interpreter_is_given_is_a_program_whatever_its_name(tmp_path):
    (tmp_path / "serve").write_text("1")
    before = put(tmp_path, x={"command": "python3", "args": ["-u", "serve"]}).digest
    (tmp_path / "serve").write_text("2")
    assert read_project(tmp_path).digest not in ("", before)


def test_a_program_that_is_found_by_the_servers_own_environment_counts_too(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "good").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "good").chmod(0o755)
    (tmp_path / "hook.js").write_text("1")
    env = {"PATH": f"{tmp_path / 'bin'}:/usr/bin", "NODE_OPTIONS": "--trace --require=./hook.js"}
    digests = [put(tmp_path, x={"command": "good", "env": env}).digest]
    for changed in ("bin/good", "hook.js"):
        (tmp_path / changed).write_text("changed")
        digests.append(read_project(tmp_path).digest)
    assert len(set(digests)) == 3


def test_what_is_too_long_to_be_looked_at_is_not_offered(tmp_path):
    found = put(tmp_path, x={"command": "good", "args": ["a" * 3_000, "--evil", "a" * 3_000]})
    assert found.servers == ()
    assert "more than can be shown" in found.problem

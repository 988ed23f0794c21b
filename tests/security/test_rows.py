"""Attacks through the calls of the model, and work that must not be held up, on the whole agent over its wire."""

import asyncio
import json
import random
import sys

import pytest

from tests.fakes.model_server import Call, Say
from tests.security.harness import ROWS, World, final_statuses, play, rules_of, staged, staged_in
from tests.support.editor import AgentError, choose, open_editor
from tests.support.processes import processes_tagged, until

pytestmark = pytest.mark.slow

PLAYED = {
    "SEC-C01": "a new line before another command",
    "SEC-C02": "a command in the background before another",
    "SEC-C03": "a backslash in an option",
    "SEC-C04": "a file whose name is an option",
    "SEC-C05": "a substitution in double quotes",
    "SEC-C07": "a text that the shell's own test evaluates",
    "SEC-C08": "a comment with half a quote",
    "SEC-C09": "a denied command behind many others",
    "SEC-C10": "a NUL",
    "SEC-C11": "a denied command behind wrappers",
    "SEC-C12": "a continued line runs as it was written",
    "SEC-A01": "an option of git that writes a file",
    "SEC-A02": "a helper that the repository chooses",
    "SEC-A03": "an option of a search that runs a program",
    "SEC-A04": "an option of a sort that writes a file",
    "SEC-A05": "a sed script that runs a program",
    "SEC-P01": "a path that climbs out",
    "SEC-P02": "a link to a folder outside",
    "SEC-P03": "a link to a key",
    "SEC-P06": "a key that is read",
    "SEC-P07": "a redirection behind an allowed word",
    "SEC-T05": "the agent's own settings",
    "SEC-T09": "a hook of git",
    "SEC-D01": "characters that hide others",
    "SEC-D02": "white space that pushes a command out of sight",
    "SEC-X04": "a secret in the name of a host",
    "SEC-I01": "a file that imitates a call",
    "USE-01": "listing files does not ask",
    "USE-02": "searching does not ask",
    "USE-03": "reading through a pipe does not ask",
    "USE-04": "a search and a count do not ask",
    "USE-07": "tests run unasked in the sandbox",
}
"""The hazards of the rows that consist of calls alone."""

ELSEWHERE = {
    "SEC-T01": "test_trust_starts_nothing_of_a_workspace",
    "SEC-T02": "test_trust_takes_no_address_and_no_setting_from_a_workspace",
    "SEC-T03": "test_trust_a_workspace_cannot_allow",
    "SEC-P04": "test_path_swapped_while_the_question_is_open",
    "SEC-D03": "test_question_and_deed_are_the_same_with_double_keys",
    "SEC-D04": "test_question_everything_but_a_yes_denies",
    "SEC-D05": "test_question_answers_never_cross_sessions",
    "SEC-X01": "test_exfil_keys_are_in_no_environment",
    "SEC-X03": "test_exfil_no_redirect_leads_into_the_network",
    "SEC-I02": "hazards/test_mcp.py",
    "SEC-S01": "test_process_nothing_is_left_when_the_editor_goes",
    "SEC-S02": "test_process_a_cancel_ends_what_ignores_signals",
    "SEC-S03": "test_process_nothing_is_left_when_the_agent_is_killed",
    "SEC-T04": "test_trust_an_approved_server_cannot_become_another",
    "SEC-S04": "test_sandbox_a_renamed_repository_gets_no_hook",
}


def test_every_row_has_its_test():
    assert {*PLAYED, *ELSEWHERE} == set(ROWS)
    named = [name for name in ELSEWHERE.values() if name.startswith("test_")]
    assert all(hasattr(sys.modules[__name__], name) for name in named)


@pytest.mark.parametrize("name", PLAYED, ids=lambda name: f"{name} {PLAYED[name]}")
async def test_a_row_comes_out_as_it_should(name, tmp_path, model):
    stage = await play(ROWS[name], tmp_path, model)
    if name == "SEC-D01":
        text = json.dumps(stage.asked, ensure_ascii=False)
        assert r"\\u{202e}\\u{200b}\\u{1b}[2K" in text
        assert not any(hidden in text for hidden in ("\u202e", "\u200b", r"\u001b"))
    if name == "SEC-D02":
        title = stage.asked[0]["toolCall"]["title"]
        assert len(title) <= 200
        assert "…" in title


def test_what_no_rule_may_say_is_refused():
    """The rows of a wrapper and of git as allowed prefixes: without the rule the command asks, or is denied."""
    assert [len(rules_of(ROWS[name]["setup"])) for name in ("SEC-C11", "SEC-A01", "SEC-A02")] == [1, 0, 0]


async def test_trust_starts_nothing_of_a_workspace(tmp_path, model):
    row = ROWS["SEC-T01"]
    async with staged(row, tmp_path, model) as stage:
        model.say("Hello.")
        await stage.editor.prompt(stage.session, "hi")
        assert not stage.world.marker.exists()


async def test_trust_takes_no_address_and_no_setting_from_a_workspace(tmp_path, model):
    async with staged(ROWS["SEC-T02"], tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", {"command": "pwn a"})]), "Hello.")
        assert await stage.editor.prompt(stage.session, "hi") == "end_turn"
        assert len(stage.asked) == 1
        assert len(model.requests) == 2
        assert not stage.world.marker.exists()


async def test_trust_a_workspace_cannot_allow(tmp_path, model):
    """Neither by words to the model nor by a file: that one is refused, and without it the command asks."""
    row = ROWS["SEC-T03"]
    async with staged(row, tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", {"command": "pwn a"})]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        assert ["AGENTS.md" in json.dumps(question) for question in stage.asked] == [True, False]
        (stage.world.ws / ".hermes-acp.toml").write_text('[[approvals.rules]]\ndecision = "allow"\nprefix = ["pwn"]\n')
        with pytest.raises(AgentError, match="only deny and ask"):
            await stage.editor.new_session(stage.world.ws)
        assert not stage.world.marker.exists()


async def test_path_swapped_while_the_question_is_open(tmp_path, model):
    async with staged(ROWS["SEC-P04"], tmp_path, model) as stage:
        ws, out = stage.world.ws, stage.world.out

        def swap(params):
            (ws / "d").rename(ws / "d0")
            (ws / "d").symlink_to(out)
            return choose("allow_once")(params)

        stage.editor.handlers["session/request_permission"] = swap
        model.say(Say(calls=[Call("write_file", {"path": "d/x.txt", "content": "new"})]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        assert final_statuses(stage) == ["failed"]
        stage.world.check_disk(ROWS["SEC-P04"]["expect"]["disk"])


async def test_question_and_deed_are_the_same_with_double_keys(tmp_path, model):
    row = ROWS["SEC-D03"]
    async with staged(row, tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool_raw"]["arguments_json"])]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        ran = stage.world.marker.exists()
        assert [question["toolCall"]["rawInput"]["command"] for question in stage.asked] == (["pwn a"] if ran else [])


@pytest.mark.parametrize("answer", ["cancelled", "unknown_option", "rpc_error", "reject_always", "nonsense"])
async def test_question_everything_but_a_yes_denies(tmp_path, model, answer):
    async with staged(ROWS["SEC-D04"], tmp_path, model) as stage:

        def handle(params):
            stage.asked.append(params)
            if answer == "rpc_error":
                raise AgentError(-32603, "broken")
            if answer == "nonsense":
                return {"outcome": "allow_once"}
            if answer == "unknown_option":
                return {"outcome": {"outcome": "selected", "optionId": "allow_all"}}
            return choose(answer)(params)

        stage.editor.handlers["session/request_permission"] = handle
        model.say(Say(calls=[Call("terminal", {"command": "pwn a"})]), "Done.")
        stop = await stage.editor.prompt(stage.session, "go")
        assert stop == ("cancelled" if answer == "cancelled" else "end_turn")
        assert len(stage.asked) == 1
        assert not stage.world.marker.exists()


async def test_question_answers_never_cross_sessions(tmp_path, model):
    async with staged(ROWS["SEC-D05"], tmp_path, model) as stage:
        other = await stage.editor.new_session(stage.world.ws)
        names = {stage.session: "S1", other: "S2"}
        chance = random.Random(5)

        async def answer(params):
            await asyncio.sleep(chance.random() * 0.01)
            return choose("allow_once" if names[params["sessionId"]] == "S1" else "reject_once")(params)

        def reply(body):
            said = body["messages"][-1]
            if said["role"] != "user":
                return "Done."
            return Say(calls=[Call("terminal", {"command": f"pwn {said['content']}"})])

        stage.editor.handlers["session/request_permission"] = answer
        model.script(reply)
        for _ in range(200):
            order = list(names)
            chance.shuffle(order)
            await asyncio.gather(*(stage.editor.begin_prompt(session, names[session]) for session in order))
        assert stage.world.marker.read_bytes().split(b"\0")[:-1] == [b"S1"] * 200


async def test_exfil_keys_are_in_no_environment(tmp_path, model):
    row = ROWS["SEC-X01"]
    async with staged(row, tmp_path, model, **row["setup"]["env"]) as stage:
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool"]["arguments"])]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        told = str(model.requests[-1].messages)
        assert "PATH=" in told
        assert "CANARY" not in told


async def test_trust_an_approved_server_cannot_become_another(tmp_path, model):
    """Asked about before it starts, kept over a restart, and asked about again under the same name."""
    row = ROWS["SEC-T04"]
    world = World(tmp_path)
    world.build(row["setup"])
    good = world.bin / "good"
    good.write_text(f"#!/bin/sh\necho started >>{world.out}/good.log\n")
    good.chmod(0o755)
    (world.out / "good.log").touch()
    log = world.out / "good.log"
    steps = (("good", "allow_always", 1, 1), ("good", "allow_always", 0, 2), ("pwn", "", 1, 2))
    for command, decision, questions, starts in steps:
        (world.ws / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"command": command}}}))
        async with staged_in(row, world, model) as stage:
            answer = choose(decision or row["expect"].get("answer", "reject_once"))
            stage.editor.handlers["session/request_permission"] = lambda params, stage=stage, answer=answer: (
                stage.asked.append(params) or answer(params)
            )
            await stage.editor.prompt(stage.session, "hi")
            assert len(stage.asked) == questions, command
            assert await asyncio.to_thread(until, lambda starts=starts: log.read_text().count("started") >= starts, 20)
    assert '"command": "pwn"' in json.dumps(stage.asked).replace("\\", "")
    assert not world.marker.exists()


async def test_exfil_no_redirect_leads_into_the_network(tmp_path, model):
    """No tool fetches, a command in the sandbox reaches nothing, and a server that was agreed to leads nowhere else."""
    reached = []

    def serving(name, answer):
        async def serve(reader, writer):
            reached.append(name)
            await reader.readline()
            writer.write(answer)
            writer.close()

        return asyncio.start_server(serve, "127.0.0.1", 0)

    metadata = await serving("metadata", b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
    target = f"http://127.0.0.1:{metadata.sockets[0].getsockname()[1]}/latest/meta-data/"
    canary = await serving("canary", f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode())
    address = f"http://127.0.0.1:{canary.sockets[0].getsockname()[1]}/redir"
    fetch = f"python3 -c \"import urllib.request; urllib.request.urlopen('{address}')\""
    async with metadata, canary, staged(ROWS["SEC-X03"], tmp_path, model, HERMES_ACP_SANDBOX="auto") as stage:
        stage.editor.handlers["session/request_permission"] = choose("allow_once")
        calls = [Call("fetch_url", {"url": address}), Call("terminal", {"command": fetch})]
        model.say(*(Say(calls=[call]) for call in calls), "Done.", "Done.")
        await stage.editor.prompt(stage.session, "go")
        assert final_statuses(stage) == ["failed", "failed"]
        assert reached == []
        (stage.world.ws / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"url": address}}}))
        await stage.editor.prompt(stage.session, "again")
        assert set(reached) == {"canary"}


async def test_process_nothing_is_left_when_the_editor_goes(tmp_path, model):
    row = ROWS["SEC-S01"]
    async with staged(row, tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool"]["arguments"])]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        await stage.editor.close(timeout=4)
        assert until(lambda: not processes_tagged(stage.editor.tag), 2)


async def test_process_a_cancel_ends_what_ignores_signals(tmp_path, model):
    row = ROWS["SEC-S02"]
    async with staged(row, tmp_path, model) as stage:
        before = processes_tagged(stage.editor.tag)
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool"]["arguments"])]))
        prompt = stage.editor.begin_prompt(stage.session, "go")
        await stage.editor.wait_update(lambda update: update.get("status") == "in_progress")
        await asyncio.sleep(0.5)
        stage.editor.notify("session/cancel", {"sessionId": stage.session})
        assert (await asyncio.wait_for(prompt, 4))["stopReason"] == "cancelled"
        assert until(lambda: len(processes_tagged(stage.editor.tag)) <= len(before) + 1, 2)


async def test_process_nothing_is_left_when_the_agent_is_killed(tmp_path, model):
    row = ROWS["SEC-S03"]
    async with staged(row, tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool"]["arguments"])]))
        stage.editor.begin_prompt(stage.session, "go")
        await stage.editor.wait_update(lambda update: update.get("status") == "in_progress")
        await asyncio.sleep(1)
        stage.editor.process.kill()
        assert until(lambda: not processes_tagged(stage.editor.tag), 4)


async def test_sandbox_a_renamed_repository_gets_no_hook(tmp_path, model):
    """It asks, since it names the repository; and when it is allowed, the walls hold."""
    row = ROWS["SEC-S04"]
    async with staged({**row, "expect": {"answer": "allow_once"}}, tmp_path, model) as stage:
        model.say(Say(calls=[Call("terminal", row["input"][0]["model_tool"]["arguments"])]), "Done.")
        await stage.editor.prompt(stage.session, "go")
        assert [question["toolCall"]["rawInput"]["command"] for question in stage.asked]
        assert "In the sandbox." in json.dumps(stage.asked)
        stage.world.check_disk(row["expect"]["disk"])
        assert (stage.world.ws / ".git" / "HEAD").exists()


async def test_nothing_runs_with_an_open_question_when_the_editor_goes(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        (tmp_path / "ws").mkdir()
        session = await editor.new_session(tmp_path / "ws")
        editor.handlers["session/request_permission"] = lambda params: asyncio.Event().wait()
        model.say(Say(calls=[Call("terminal", {"command": "touch made"})]))
        editor.begin_prompt(session, "go")
        await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
        await editor.close(timeout=4)
    assert list((tmp_path / "ws").iterdir()) == []

"""Escapes from the sandbox, each tried for real."""

import asyncio
import math
import os
import resource
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from hermes_acp.local import survivors
from hermes_acp.local.sandbox import limits, probing
from hermes_acp.local.sandbox.walls import Sandbox
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.workspace import Access, Command
from tests.support.processes import until
from tests.support.swapping import swapping

OUTSIDE = "/var/lib" if os.access("/var/lib", os.W_OK) else os.path.expanduser("~")
"""A folder that can be written, outside of the session's folders and of what the sandbox empties."""


async def test_the_sessions_folder_is_written_and_nothing_else(walled, tmp_path):
    outside = Path(OUTSIDE, "hermes-acp-test-outside")
    done = await walled(f"echo a > made; echo b > {outside}; echo c > /etc/made-by-a-test; echo d > ../beside")
    assert (walled.workspace.cwd / "made").read_text() == "a\n"
    assert not outside.exists()
    assert not os.path.exists("/etc/made-by-a-test")
    assert not (tmp_path / "beside").exists()
    assert done.output.count("ead-only file system") == 2


async def test_a_link_out_of_the_folder_is_not_written_through(walled):
    with tempfile.TemporaryDirectory(dir=OUTSIDE) as outside:
        (walled.workspace.cwd / "link").symlink_to(outside)
        done = await walled("echo x > link/file")
        assert done.exit_code != 0
        assert os.listdir(outside) == []


async def test_a_hard_link_to_a_file_outside_cannot_be_made(walled):
    with tempfile.NamedTemporaryFile(dir=OUTSIDE) as outside:
        done = await walled(f"ln {outside.name} here && echo x > here")
        assert done.exit_code != 0
        assert os.path.getsize(outside.name) == 0


async def test_there_is_no_network_by_tcp_or_udp(walled):
    server, datagrams = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
    with server, datagrams:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.3)
        datagrams.bind(("127.0.0.1", 0))
        datagrams.settimeout(0.3)
        tcp, udp = server.getsockname()[1], datagrams.getsockname()[1]
        done = await walled(f"echo x > /dev/tcp/127.0.0.1/{tcp} || echo refused; echo x > /dev/udp/127.0.0.1/{udp}")
        assert "refused" in done.output
        with pytest.raises(TimeoutError):
            datagrams.recv(10)


async def test_the_network_is_there_once_it_is_allowed(walled):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        done = await walled(f"echo x > /dev/tcp/127.0.0.1/{server.getsockname()[1]}", network=True)
        assert done.exit_code == 0


async def test_sockets_of_other_programs_are_not_there(walled):
    """Whatever has a socket in the file system: containers, agents of keys, a desktop."""
    script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with tempfile.TemporaryDirectory(dir=OUTSIDE) as folder, socket.socket(socket.AF_UNIX) as server:
        path = os.path.join(folder, "agent.sock")
        server.bind(path)
        server.listen()
        done = await walled(f"python3 -c '{script}' {path}")
        assert done.exit_code == 1
        assert "Error" in done.output


async def test_no_process_but_its_own_is_seen(walled):
    done = await walled(f"kill -0 {os.getpid()} && echo seen; ls /proc | grep -cx '[0-9]*'")
    assert "seen" not in done.output
    assert int(done.output.split()[-1]) < 8


async def test_what_is_hidden_is_empty(walled):
    hidden = walled.workspace.cwd / "hidden"
    hidden.mkdir()
    (hidden / "state.db").write_text("secret")
    done = await walled("ls -A hidden; cat hidden/state.db; echo x > hidden/made")
    assert "secret" not in done.output
    assert os.listdir(hidden) == ["state.db"]


async def test_password_hashes_of_the_system_are_hidden(walled):
    assert "$" not in (await walled("cat /etc/shadow")).output


async def test_only_known_variables_are_inherited(walled, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("WHATEVER", "canary")
    monkeypatch.setenv("MY_API_KEY", "canary")
    done = await walled("env")
    assert "PATH=" in done.output
    assert "canary" not in done.output
    assert "SSH_AUTH_SOCK" not in done.output


async def test_ten_thousand_swaps_of_a_folder_and_a_link_write_nothing_outside(walled):
    ws = walled.workspace.cwd
    (ws / "d").mkdir()
    with tempfile.TemporaryDirectory(dir=OUTSIDE) as outside:
        Path(outside, "f").write_text("outside")
        (ws / "l").symlink_to(outside)
        with swapping(ws, "d", "l") as race:
            line = "end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do echo x > d/f; echo x >> d/g; done 2>/dev/null"
            done = await walled(line, timeout=20)
        assert done.exit_code in (0, 1)
        assert race.swaps >= 10_000
        assert os.listdir(outside) == ["f"]
        assert Path(outside, "f").read_text() == "outside"
        assert any((ws / name / "f").exists() for name in ("d", "l") if not (ws / name).is_symlink())


@pytest.mark.parametrize("program", ["prlimit", "no-such-program"])
async def test_a_command_has_limits_whatever_sets_them(walled, monkeypatch, program):
    limits._prlimit.cache_clear()
    monkeypatch.setattr(limits, "PROGRAM", program)
    done = await walled("ulimit -c; ulimit -u; ulimit -f; echo $0")
    assert done.output.split()[:1] == ["0"]
    assert 0 < int(done.output.split()[1]) <= 8192
    assert int(done.output.split()[2]) == 33554432
    assert os.path.basename(done.output.split()[3]) == "bash"
    limits._prlimit.cache_clear()


async def test_exit_codes_and_output_come_through(walled):
    assert (await walled("echo out; echo err >&2; exit 7")).exit_code == 7
    assert (await walled("kill -9 $$")).exit_code == 128 + 9
    assert "err" in (await walled("echo err >&2")).output


async def test_a_command_out_of_time_may_clean_up(walled):
    done = await walled("trap 'echo cleaned; exit 4' TERM; sleep 60 & wait", timeout=0.3)
    assert done.timed_out
    assert "cleaned" in done.output


async def test_a_cancel_leaves_nothing(walled):
    tag = walled.workspace._shell._tag
    marked = f"300.{os.getpid()}"
    line = f"trap '' TERM HUP; (setsid env -i sleep {marked} &) ; (env -i sleep 301 &); sleep 302"
    running = asyncio.create_task(walled(line, timeout=60))
    assert await asyncio.to_thread(until, lambda: len(survivors.find(tag)) >= 5, 5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not survivors.find(tag)
    # The system takes down what is left in the namespace of a process that has ended, in its own time.
    assert await asyncio.to_thread(until, lambda: not _runs(f"sleep\x00{marked}"), 1)


async def test_what_an_ended_command_leaves_behind_ends_with_it(walled):
    marked = f"333.{os.getpid()}"
    await walled(f"(setsid env -i sleep {marked} >/dev/null 2>&1 &)")
    assert await asyncio.to_thread(until, lambda: not _runs(f"sleep\x00{marked}"), 2)


async def test_the_sessions_own_tmp_lasts_as_long_as_the_session(walled):
    await walled("echo kept > /tmp/note")
    assert (await walled("cat /tmp/note")).output == "kept\n"
    assert not os.path.exists("/tmp/note")
    (own,) = [walled.workspace._shell._dressing.sandbox._tmp]
    await walled.workspace.aclose()
    assert not os.path.exists(own)


async def test_a_session_in_the_whole_home_is_not_walled(wrapper, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    workspace = LocalWorkspace(tmp_path, (), Sandbox(wrapper))
    with pytest.raises(Exception, match="whole home"):
        await workspace.run(Command("true", tmp_path, 5), lambda text, terminal_id=None: None)
    await workspace.aclose()


async def test_outside_means_outside(walled, tmp_path):
    await walled("echo x > ../beside", outside=True)
    assert (tmp_path / "beside").read_text() == "x\n"


def test_a_sandboxed_start_costs_little_more_than_a_bare_one(wrapper, tmp_path):
    """The fastest of twenty or more, in the same run: other work on the machine can only add to a start."""
    sandbox = Sandbox(wrapper)
    command = Command("true", tmp_path, 5, access=Access())
    bare = [wrapper.program, *wrapper.options, b"--unshare-net", b"--ro-bind", b"/", b"/", b"--dev", b"/dev"]
    bare += [b"--proc", b"/proc", b"--", b"/bin/bash", b"-c", b"true"]
    ours = theirs = math.inf
    for count in range(1, 201):
        ours = min(ours, _cpu(list(sandbox._argv(command, (tmp_path,)))))
        theirs = min(theirs, _cpu(bare))
        if count >= 20 and ours <= 1.5 * theirs:
            break
    sandbox.tidy()
    assert ours <= 1.5 * theirs, (ours, theirs)


def test_the_probe_says_why_there_is_no_sandbox(monkeypatch):
    probing.find.cache_clear()
    monkeypatch.setattr(probing, "PROGRAM", "no-such-bwrap")
    assert "not installed" in probing.find()
    probing.find.cache_clear()


def _runs(words):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def _cpu(argv):
    """Seconds of processor time, which others who use the machine do not change much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

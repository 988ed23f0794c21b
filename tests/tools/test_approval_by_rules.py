"""The person's rules at the gate: deny before ask before allow, and what no rule lets pass."""

import pytest

from hermes_acp.approval_rules import Rule
from hermes_acp.cards import ToolResult
from hermes_acp.host import ApprovalRequest
from hermes_acp.tools.approval import Approvals, describe_always, lasting_rules
from hermes_acp.tools.base import Action


@pytest.fixture
def decide(prepare, workspace):
    async def decided(approvals, command="", *, tool="terminal", **arguments):
        given = {"command": command} if command else arguments
        return approvals.judge(tool, await prepare(tool, **given), workspace.roots).decision

    return decided


def rules(*given, **more):
    return Approvals(more.get("mode", "ask"), tuple(given))


def allow(*prefix):
    return Rule("allow", prefix=prefix)


def deny(*prefix):
    return Rule("deny", prefix=prefix)


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *(("npm run test", "allow"), ("npm run test -- --watch=false", "allow"), ("npm  run 'test'", "allow")),
        *(
            ("npm run test && npm run test", "allow"),
            ("ls && npm run test", "allow"),
            ("cd sub && npm run test", "allow"),
        ),
        *(
            ("npm run testing", "ask"),
            ("npm run", "ask"),
            ("npm", "ask"),
            ("./npm run test", "ask"),
            ("npx run test", "ask"),
        ),
        *(("npm run test; touch x", "ask"), ("npm run test && touch x", "ask"), ("npm run test | sh", "ask")),
        *(("npm run test\ntouch x", "ask"), ("npm run test > f", "ask"), ("npm run test $(touch x)", "ask")),
        *(
            ("npm run test &", "ask"),
            ("A=b npm run test", "ask"),
            ("npm run test `x`", "ask"),
            ("env npm run test", "ask"),
        ),
        *(("npm run test <(x)", "ask"), ("npm run test #", "ask"), ("npm run test *", "ask"), ("NPM run test", "ask")),
        *(("git status && npm run test", "ask"), ("cat /etc/hostname && npm run test", "ask")),
    ],
)
async def test_a_prefix_allows_that_command_and_nothing_around_it(decide, folder, command, decision):
    (folder / "sub").mkdir()
    assert await decide(rules(allow("npm", "run", "test")), command) == decision


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        *(
            (("find",), "find . -name x -delete"),
            (("find",), "find . -name '*.tmp' -d\\elete"),
            (("rg",), "rg --pre ./x y ."),
        ),
        *((("sort",), "sort -o a b"), (("sed", "-n"), "sed -n '1e x' a"), (("test",), "test -v 'b[$(x)0]'")),
        *((("cat",), "cat .env"), (("grep",), "grep -r x .."), (("rg",), "rg x .."), (("printf",), "printf -v x y")),
    ],
)
async def test_a_rule_about_a_reading_program_lifts_the_folders_and_never_the_options(decide, folder, prefix, command):
    (folder.parent / "outside.txt").write_text("x")
    assert await decide(rules(allow(*prefix)), command) == "ask"
    assert await decide(rules(allow("cat"), allow("sort"), allow("find")), "cat ../outside.txt | sort -u") == "allow"
    assert await decide(rules(allow("cat")), "sort ../outside.txt") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *("pwn", "pwn a", "/bin/pwn a", "ls && pwn a", "ls | pwn", "ls; pwn a", "ls\npwn", "'pwn' a", 'pw"n" a'),
        *(
            "env X=1 pwn a",
            "timeout 5 env X=1 nice -n1 pwn a",
            "sudo -u me pwn",
            "nohup pwn",
            "xargs pwn",
            "command pwn a",
        ),
        *(
            "find . -exec pwn {} ';'",
            "sh -c 'pwn a'",
            "bash -c 'ls && pwn a'",
            "env sh -c 'sudo pwn'",
            'bash -lc "pwn"',
        ),
        *("pwn > x", "ls & pwn a", "(pwn a)", "{ pwn; }", "if true; then pwn; fi", "A=b pwn", "p\\wn a", "x=$(pwn a)"),
        *("`pwn`", "! pwn", 'echo "$(pwn)"', "cat <(pwn)", "pwn #", "while pwn; do ls; done", "ls >x; pwn", "time pwn"),
        " && ".join(["true"] * 60 + ["pwn a"]),
        " && ".join(["true"] * 600 + ["pwn a"]),
    ],
)
async def test_a_denied_program_is_found_wherever_it_stands(decide, command):
    assert await decide(rules(deny("pwn"), allow("pwn"), allow("true")), command) == "deny"


@pytest.mark.parametrize(
    "command", ["git push", "git -C . push -f", "git -c a=b --no-pager push x", "/usr/bin/git push"]
)
async def test_a_denied_subcommand_of_git_is_found_behind_its_options(decide, command):
    assert await decide(rules(deny("git", "push")), command) == "deny"
    assert await decide(rules(deny("git", "push")), "git stash push") == "ask"


async def test_deny_goes_before_ask_and_ask_before_allow(decide):
    assert await decide(rules(allow("make"), Rule("ask", prefix=("make", "install"))), "make install") == "ask"
    assert await decide(rules(allow("make"), Rule("ask", prefix=("make", "install"))), "make all") == "allow"
    assert await decide(rules(Rule("ask", prefix=("ls",))), "ls") == "ask"
    assert await decide(rules(Rule("ask", prefix=("make",)), deny("make")), "make") == "deny"
    assert await decide(rules(Rule("ask", tool="terminal")), "ls") == "ask"
    assert await decide(rules(Rule("deny", tool="terminal")), "ls") == "deny"
    assert await decide(rules(allow("make"), mode="plan"), "make") == "deny"


async def test_a_whole_command_is_allowed_in_its_folder_alone(decide, folder):
    here = Rule("allow", command="python -m  build", cwd=str(folder))
    assert await decide(rules(here), "python -m build") == "allow"
    assert await decide(rules(here), "python -m build x") == "ask"
    assert await decide(rules(Rule("allow", command="python -m build", cwd="/elsewhere")), "python -m build") == "ask"
    assert await decide(rules(Rule("allow", command="a > b", cwd=str(folder))), "a > b") == "allow"
    assert await decide(rules(Rule("deny", command="ls  -l")), "ls -l;") == "deny"
    assert await decide(rules(Rule("deny", command="make  x")), "make x;") == "deny"


@pytest.mark.parametrize(
    ("glob", "path", "decision"),
    [
        *(("docs/**", "docs/a.md", "allow"), ("docs/**", "docs/x/y/a.md", "allow"), ("docs/**", "src/a.md", "ask")),
        *(("docs/*.md", "docs/a.md", "allow"), ("docs/*.md", "docs/x/a.md", "ask"), ("**/*.md", "x/y/a.md", "allow")),
        *(("**/*.md", "a.md", "allow"), ("a?.md", "ab.md", "allow"), ("docs/**", "docs/../src/a.md", "ask")),
        *(
            ("**", "../outside.md", "ask"),
            ("**", ".env", "ask"),
            ("**", ".git/hooks/x", "ask"),
            ("**", "link/a.md", "ask"),
        ),
        *(("**", ".hermes-acp.toml", "ask"), ("/etc/**", "/etc/a", "allow"), ("/**", "/home/x/.ssh/a", "ask")),
    ],
)
async def test_a_path_allows_edits_of_what_it_really_leads_to(decide, folder, glob, path, decision):
    (folder.parent / "out").mkdir()
    (folder / "link").symlink_to(folder.parent / "out")
    rule = Rule("allow", path=glob)
    assert await decide(rules(rule), tool="write_file", path=path, content="x") == decision


async def test_a_denied_path_is_denied_by_every_name(decide, folder):
    (folder / "gen").mkdir()
    (folder / "link").symlink_to("gen")
    approvals = rules(Rule("deny", path="gen/**"), Rule("allow", path="**"), mode="accept_edits")
    for path in ("gen/a", "./gen/../gen/a", "link/a", "GEN/a", str(folder / "gen" / "a")):
        assert await decide(approvals, tool="write_file", path=path, content="x") == "deny"
    assert await decide(approvals, tool="write_file", path="b", content="x") == "allow"


@pytest.mark.parametrize("effect", ["call", "query"])
async def test_a_tool_of_a_server_is_denied_asked_about_or_allowed_by_its_name(workspace, effect):
    async def nothing():
        return ToolResult("")

    def judged(approvals, tool="files__get"):
        return approvals.judge(tool, Action("Get", nothing, effect), workspace.roots).decision

    assert judged(rules()) == "ask"
    assert judged(rules(Rule("allow", tool="files__get"))) == "allow"
    assert judged(rules(Rule("allow", tool="files__get")), "files__put") == "ask"
    assert judged(rules(Rule("allow", tool="files__get"), Rule("deny", tool="files__get"))) == "deny"
    assert judged(rules(allow("files__get"), Rule("allow", path="**"))) == "ask"


async def test_an_answer_for_the_session_holds_against_an_ask_rule_and_can_be_taken_back(prepare, workspace, decide):
    approvals = rules(Rule("ask", prefix=("touch",)))
    action = await prepare("terminal", command="touch a")
    approvals.remember("terminal", action, "allow_always", workspace.cwd)
    assert await decide(approvals, "touch 'a'") == "allow"
    assert await decide(approvals, "touch b") == "ask"
    assert approvals.granted() == (f"run `touch a` in {workspace.cwd}",)
    approvals.forget()
    assert (approvals.granted(), await decide(approvals, "touch a")) == ((), "ask")


async def test_what_is_allowed_for_good_is_what_was_asked_for(prepare, workspace, decide, folder):
    for tool, arguments in (
        ("terminal", {"command": "python x.py > 'y'"}),
        ("write_file", {"path": "a*?[b].txt", "content": "x"}),
        ("write_file", {"path": "../outside.txt", "content": "x"}),
    ):
        action = await prepare(tool, **arguments)
        request = ApprovalRequest(
            "1",
            tool,
            action.title,
            "other",
            action.effect,
            "",
            str(workspace.cwd),
            action.command,
            arguments,
            action.diffs,
        )
        assert await decide(rules(), tool=tool, **arguments) == "ask"
        kept = lasting_rules(request)
        assert await decide(rules(*kept), tool=tool, **arguments) == "allow"
        assert describe_always(tool, action)
        assert await decide(rules(*kept), "python x.py > 'z'") == "ask"
        assert await decide(rules(*kept), tool="write_file", path="azz[b].txt", content="x") == "ask"

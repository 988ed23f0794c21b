"""The person's rules about what may take effect: their form, and the strict reading of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import words

RuleDecision = Literal["deny", "ask", "allow"]
DECISIONS: tuple[RuleDecision, ...] = get_args(RuleDecision)
"""What a rule can say, the severest first: the severest rule that applies decides."""

WRAPPERS = words(
    "env sudo doas su runuser pkexec nice ionice chrt taskset timeout nohup setsid setpriv stdbuf unbuffer time watch "
    "script xargs parallel find fd entr chroot unshare nsenter bwrap firejail flock strace ltrace gdb command builtin "
    "exec eval busybox toybox caffeinate systemd-run at batch ssh rlwrap xvfb-run proxychains torsocks expect tmux "
    "screen"
)
"""Programs that run the command that follows among their arguments."""

SHELLS = words("sh bash dash ash zsh fish ksh mksh csh tcsh pwsh powershell rbash")

_INTERPRETERS = words(
    "python pypy node nodejs deno bun ruby perl php lua luajit awk gawk mawk nawk ed ex vi vim nvim view emacs nano "
    "less more man pager tclsh wish guile racket erl elixir iex ghci runghc scala java jshell groovy julia R Rscript "
    "octave gnuplot sqlite3 psql mysql mongo redis-cli osascript npx bunx pnpx uvx pipx docker podman kubectl tar zip "
    "unzip rsync scp sftp ftp socat nc ncat telnet crontab dc bc m4 source . [ git"
)
"""Programs that run what their arguments say, or that can be made to by an option."""

_VERSIONED = re.compile(r"(python|pypy|lua|ruby|perl|php|node)[0-9.]+w?")
_BY_WHAT_THEY_DO = words("terminal process read_file write_file patch list_files search_files")
"""Tools whose calls are judged one by one, by their command or path."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, about exactly one of: commands that begin with the words of `prefix`; edits of files whose path matches
    the glob `path`; the calls of a `tool`; one `command` line, in one folder `cwd` ("": in any)."""

    decision: RuleDecision
    prefix: tuple[str, ...] = ()
    path: str = ""
    tool: str = ""
    command: str = ""
    cwd: str = ""

    @property
    def text(self) -> str:
        """The rule in words."""
        if self.prefix:
            return f"{self.decision} commands that begin with {' '.join(map(_shown, self.prefix))}"
        if self.path:
            return f"{self.decision} edits of {_shown(self.path)}"
        if self.tool:
            return f"{self.decision} the tool {_shown(self.tool)}"
        where = f" in {_shown(self.cwd)}" if self.cwd else ""
        return f"{self.decision} the command {_shown(self.command)}{where}"

    @property
    def table(self) -> str:
        """The rule as it stands in a settings file (TOML)."""
        values = {
            "decision": self.decision,
            "prefix": list(self.prefix),
            "path": self.path,
            "tool": self.tool,
            "command": self.command,
            "cwd": self.cwd,
        }
        lines = [f"{key} = {json.dumps(value, ensure_ascii=True)}" for key, value in values.items() if value]
        return "\n".join(["[[approvals.rules]]", *lines])


def read_rules(value: Any) -> tuple[Rule, ...]:
    """The rules of a settings file.

    Raises:
        ValueError: one of them is of no use; the text says which and why.
    """
    if not isinstance(value, list) or not all(isinstance(table, Mapping) for table in value):
        raise ValueError("must be tables: [[approvals.rules]]")
    return tuple(_rule(table, f"rule {number}") for number, table in enumerate(value, 1))


def runs_others(program: str) -> bool:
    """Whether a program runs whatever its arguments say, so that its name alone tells nothing. Not `find`, whose
    arguments are judged one by one whatever the rules say."""
    name = os.path.basename(program)
    return name in (WRAPPERS - {"find"}) | SHELLS | _INTERPRETERS or _VERSIONED.fullmatch(name) is not None


def _rule(table: Mapping[str, Any], place: str) -> Rule:
    if unknown := sorted(set(table) - {"decision", "prefix", "path", "tool", "command", "cwd"}):
        raise ValueError(f"{place}: unknown key {ascii(unknown[0])[1:-1]}")
    decision = next((each for each in DECISIONS if each == table.get("decision")), None)
    if decision is None:
        raise ValueError(f"{place}: decision must be allow, ask or deny")
    subjects = [key for key in ("prefix", "path", "tool", "command") if key in table]
    if len(subjects) != 1 or ("cwd" in table and subjects != ["command"]):
        raise ValueError(f"{place}: give exactly one of prefix, path, tool and command (a command with its cwd)")
    rule = Rule(
        decision,
        prefix=_prefix(table["prefix"], place) if "prefix" in table else (),
        **{key: _line(table[key], key, place) for key in ("path", "tool", "command", "cwd") if key in table},
    )
    if problem := _too_wide(rule):
        raise ValueError(f"{place}: {problem}")
    return rule


def _prefix(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise ValueError(f'{place}: prefix must be a list of words, such as ["npm", "run", "test"]')
    if not all(word.isprintable() for word in value) or " " in value[0].strip():
        raise ValueError(f"{place}: prefix must hold a word in each place, and nothing that is not printable")
    return tuple(value)


def _line(value: Any, key: str, place: str) -> str:
    if not isinstance(value, str) or not value.strip() or (key != "command" and not value.isprintable()):
        raise ValueError(f"{place}: {key} must be a text")
    return value


def _too_wide(rule: Rule) -> str:
    """Why a rule would let more happen than its words say, "" when it would not."""
    if rule.path and ".." in rule.path.split("/"):
        return "path must not hold .."
    if rule.cwd and not os.path.isabs(rule.cwd):
        return "cwd must be an absolute path"
    if rule.decision != "allow":
        return ""
    if rule.prefix and runs_others(rule.prefix[0]):
        return f"{rule.prefix[0]} can run anything, so no beginning of it can be allowed; allow a whole command instead"
    if rule.command and not rule.cwd:
        return "a command is allowed in one folder: give its cwd"
    if rule.tool in _BY_WHAT_THEY_DO:
        return f"{rule.tool} is not allowed as a whole; allow a prefix or a path"
    return ""


def _shown(text: str) -> str:
    return f"`{text if text.isprintable() else ascii(text)[1:-1]}`"

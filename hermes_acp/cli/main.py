"""Finding the command and its settings among the arguments."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import PurePath
from typing import Any, NoReturn

from hermes_acp import __version__
from hermes_acp.errors import ConfigError, HermesError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings.sources import OPTIONS, Option
from hermes_acp.text import nearest

USAGE_ERROR = 2

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does in a few words, and what does it with its settings and other arguments."""

    summary: str
    run: Callable[[Mapping[str, str], Sequence[str]], int]


class Parser(argparse.ArgumentParser):
    """Refuses with an exception in place of leaving the program with several lines, and says what may have been
    meant."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(_not_understood(unknown[0], self._every_option()))
        return found

    def _every_option(self) -> list[str]:
        """Its options, and those of its actions."""
        inner = [action.choices for action in self._actions if isinstance(action.choices, dict)]
        parsers = [parser for choices in inner for parser in choices.values() if isinstance(parser, Parser)]
        return [*self._option_string_actions, *(option for parser in parsers for option in parser._every_option())]


def run(argv: Sequence[str]) -> int:
    """Do what the arguments say; the process's exit status: 0 for success, 2 for arguments that mean nothing."""
    _speak_utf8()
    try:
        return _run([word for word in argv if word != "--stdio"])
    except ConfigError as error:
        sys.stderr.write(f"hermes-acp: {error}\n")
        return USAGE_ERROR
    except HermesError as error:
        sys.stderr.write(f"hermes-acp: {error}\n")
        return 1
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough.
        return _without_output()
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        sys.stderr.write(f"hermes-acp: the output cannot be written: {error.strerror}\n")
        return _without_output()


def _without_output() -> int:
    """The exit status when standard output takes nothing more, also when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 1


def _run(argv: Sequence[str]) -> int:
    parser = _parser()
    found = vars(parser.parse_args(argv))
    name, rest = found.pop("command"), found.pop("arguments")
    if found.pop("version"):
        sys.stdout.write(f"hermes-acp {__version__}\n")
        return 0
    if name is None or found.pop("help"):
        sys.stdout.write(parser.format_help())
        return 0
    if name not in COMMANDS:
        raise ConfigError(_unknown(name))
    status = COMMANDS[name].run(found, rest)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _parser() -> Parser:
    parser = Parser(
        prog="hermes-acp",
        usage=f"{typed_name()} --stdio [OPTIONS]\n       {typed_name()} COMMAND [OPTIONS]",
        description="A coding agent for editors. They start it with --stdio; the commands are for you.",
        epilog=_commands_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("command", nargs="?", default=None, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.add_argument("-h", "--help", action="store_true", default=False, help="show this and exit")
    parser.add_argument("--version", action="store_true", default=False, help="show the version and exit")
    parser.add_argument("--stdio", action="store_true", help="talk ACP on standard input and output")
    _add_settings(parser, OPTIONS)
    return parser


def _add_settings(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    for option in options:
        if option.flag:
            text = f"{option.help} [{option.variable}]"
            parser.add_argument(option.flag, dest=option.key, metavar=option.flag.split("-")[-1].upper(), help=text)


def _not_understood(word: str, options: Iterable[str]) -> str:
    if not word.startswith("-"):
        return f"{word!r} is one word too many"
    flag = word.partition("=")[0]
    near = get_close_matches(flag, [*dict.fromkeys(options)], n=2, cutoff=0.7)
    return f"{flag}: unknown option" + (f" (did you mean {' or '.join(near)}?)" if near else "")


def _commands_help() -> str:
    return "commands:\n" + "".join(f"  {name:<14}{command.summary}\n" for name, command in COMMANDS.items())


def _unknown(name: str) -> str:
    near = nearest(name, COMMANDS)
    hint = f"did you mean {near}?" if near else f"see {typed_name()} --help"
    return f"there is no command {name!r} ({hint})"


def settings_parser(usage: str, description: str) -> argparse.ArgumentParser:
    """A parser of the arguments after a command that takes settings; it raises `ConfigError`. What concerns editors
    alone is none of them."""
    parser = Parser(
        prog="hermes-acp",
        usage=f"{typed_name()} {usage}",
        description=description,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    _add_settings(parser, [option for option in OPTIONS if not option.key.startswith("acp.")])
    return parser


def _with_arguments(module: str) -> Callable[[Mapping[str, str], Sequence[str]], int]:
    """A command that takes settings and arguments of its own."""

    def start(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
        status: int = import_module(module).run(overrides, list(arguments))
        return status

    return start


def _without_settings(name: str, module: str) -> Callable[[Mapping[str, str], Sequence[str]], int]:
    """A command that reads its own arguments and knows no settings; it is told the words that call it."""

    def start(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
        if overrides:
            raise ConfigError(f"the options of {name} stand after its name")
        status: int = import_module(module).run(list(arguments), f"{typed_name()} {name}")
        return status

    return start


def typed_name() -> str:
    """What the person typed to start this program: the name of its script, or the module."""
    name = PurePath(sys.argv[0]).name
    return "python -m hermes_acp" if name == "__main__.py" else name.removesuffix(".exe")


def _speak_utf8() -> None:
    """Say and hear UTF-8 whatever the locale is."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


COMMANDS: Mapping[str, Command] = {
    "setup": Command("choose a model and store its key", _with_arguments("hermes_acp.cli.setup")),
    "doctor": Command("show what is found here, and what is missing", _with_arguments("hermes_acp.cli.doctor")),
    "chat": Command("talk with the agent here: chat [-q TEXT] [--resume [ID]]", _with_arguments("hermes_acp.cli.chat")),
    "demo": Command("watch the agent at work, without any model", _without_settings("demo", "hermes_acp.demo")),
    "sessions": Command(
        "list, show, export and delete sessions", _without_settings("sessions", "hermes_acp.cli.sessions")
    ),
    "trust": Command(
        "what of projects may instruct the agent: trust [list | add PATH | remove PATH]",
        _without_settings("trust", "hermes_acp.cli.trust"),
    ),
    "trajectories": Command(
        "check files of trajectories", _without_settings("trajectories", "hermes_acp.cli.trajectories")
    ),
}

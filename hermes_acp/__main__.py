"""The console command: a wire for editors, or words for a person."""

import os
import sys

_QUESTIONS = {"--help", "-h", "--version"}


def main() -> int:
    """Run the agent for an editor (`--stdio`, or no arguments and a piped stdin), else the command line."""
    _take_names_as_utf8()
    argv = sys.argv[1:]
    if speaks_acp(argv):
        from hermes_acp.protocol import boot

        return boot.run(argv)
    from hermes_acp import cli

    return cli.run(argv)


def _take_names_as_utf8() -> None:
    """Start again in UTF-8 mode where the locale would have the names of files in another encoding.

    Editors and models write them in UTF-8, and an encoding of Python's cannot be changed while it runs. The
    environment stays as it is: commands of the person are to see their own locale.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and "utf8" not in sys._xoptions:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def speaks_acp(argv: list[str]) -> bool:
    """Whether these arguments ask for the wire. A command word after `--stdio` (an editor appends the
    arguments of a terminal login to the launch it has configured) asks for that command instead."""
    if not argv:
        return sys.stdin is None or not sys.stdin.isatty()
    return "--stdio" in argv and not _QUESTIONS & {*argv} and not _command_words(argv)


def _command_words(argv: list[str]) -> list[str]:
    """The arguments that are neither options nor the values of options."""
    pairs = zip(["", *argv], argv, strict=False)
    return [word for before, word in pairs if not word.startswith("-") and not _takes_value(before)]


def _takes_value(option: str) -> bool:
    return option.startswith("--") and "=" not in option and option != "--stdio"


if __name__ == "__main__":
    sys.exit(main())

"""The shells that there are, and what lines for them are made of."""

import shutil

from hermes_acp.text import words

BUILTINS = words(
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo "
    "enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf "
    "pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit "
    "umask unalias unset wait chdir"
)
"""What a shell does itself, so that no program of that name can be put in its place."""

SHELLS = [shell for shell in ("bash", "dash") if shutil.which(shell)]

PIECES = [
    *("prog", "a-b", "-l", "x=1", "A=b", "it's", "'a b'", '"a b"', "''", '""', "'$x'", '"\\$x"', '"\\\\"', '"a\\b"'),
    *("HEAD~1", "~", "~/x", "a~", "x=~", "'if'", "if", "'A=b'", "!", "#x", "a#b", "{a,b}", "$x", "`x`", "$(x)", "*.py"),
    *("&&", "||", ";", "|", "&", "\n", "|&", ">", "2>&1", "<<<", "\\\n", "\t", "  ", "'\n'", "'", '"', "\\", "für"),
    *("^", "%", "@", ",", ":", "+", "-", "--", "(", ")", "[", "]", "?", "\r", "\u200b", "\u00a0", "ｍ", "\x01"),
]


def quoted(line):
    return "'" + line.replace("'", "'\\''") + "'"

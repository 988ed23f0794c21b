"""Git, as far as it only reads: a plain repository, known options, and nothing that a repository could make it run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import files, paths
from hermes_acp.local.paths import inside
from hermes_acp.text import words
from hermes_acp.tools.safety import options as sorting
from hermes_acp.tools.safety.options import Operands, Options, Sorted, options
from hermes_acp.tools.safety.reach import Reach, Unproven

Arguments = tuple[str, ...]

UNSET = words(
    "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES "
    "GIT_NAMESPACE GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PAGER "
    "GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS GIT_EDITOR GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT "
    "GIT_TRACE2_PERF GIT_ATTR_SOURCE GIT_DIFF_OPTS GIT_LITERAL_PATHSPECS GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE"
)
"""Variables that would lead git elsewhere, or to another program."""

SETTINGS = ("GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat")

HARDENED = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.pager=cat"),
    *("-c", "diff.submodule=short"),
    *("-c", "log.showSignature=false"),
    *("-c", "status.submoduleSummary=false"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
)
"""What git is told before its subcommand, whatever the repository says."""

_DIFF = (
    "-pusbwRaz -U: -M? -C? -S: -G: --patch --no-patch --unified: --stat? --shortstat --numstat --dirstat? --summary "
    "--name-only --name-status --raw --minimal --patience --histogram --diff-algorithm: --compact-summary --color? "
    "--no-color --word-diff? --word-diff-regex: --color-words? --find-renames? --find-copies? --no-renames --check "
    "--full-index --binary --abbrev? --diff-filter: --pickaxe-all --pickaxe-regex --relative? --text "
    "--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --inter-hunk-context: "
    "--function-context --exit-code --quiet --src-prefix: --dst-prefix: --no-prefix --no-ext-diff --no-textconv"
)
_LOG = (
    "-# -n: -gi -L: --oneline --graph --all --decorate? --no-decorate --abbrev-commit --no-abbrev-commit --since: "
    "--after: --until: --before: --author: --committer: --grep: --all-match --invert-grep --extended-regexp "
    "--fixed-strings --format? --pretty? --date: --follow --first-parent --merges --no-merges --reverse --skip: "
    "--max-count: --topo-order --date-order --author-date-order --branches? --tags? --remotes? --left-right "
    "--cherry-pick --cherry-mark --cherry --boundary --no-walk --source --show-pulls --full-history --simplify-merges "
    "--ancestry-path --name-only --walk-reflogs --regexp-ignore-case --notes? --no-notes --children --parents"
)
_LIST = (
    "-arv --all --remotes --verbose --list --show-current --contains: --no-contains: --merged? --no-merged? --sort: "
    "--format: --points-at: --color? --no-color --column? --no-column --ignore-case --abbrev? --no-abbrev"
)
_PLAIN_SAFETY = ("--no-ext-diff", "--no-textconv")
_LISTING = words("--list --contains --no-contains --merged --no-merged --points-at")
_SIGNATURE = re.compile(r"%G|signature")


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand that only reads: its options, what its operands are, and what is added to its options."""

    options: Options
    operands: Operands
    added: Arguments = ()


def _revisions_and_paths(found: Sorted, reach: Reach) -> None:
    """Each may be a revision or a path; both are judged as paths, and so is what a revision names of a tree."""
    for word in found.operands:
        if word.startswith(":"):
            raise Unproven("what it names could be any file")
        reach.check(word)
        reach.check(word.partition(":")[2] or ".")


def _only_listed(found: Sorted, reach: Reach) -> None:
    """A name makes a branch or a tag, unless an option asks for a list."""
    if found.operands and not found.names & _LISTING:
        raise Unproven("it may make or change a branch or tag")


def _subcommand(notation: str, operands: Operands = _revisions_and_paths, added: Arguments = ()) -> Subcommand:
    return Subcommand(options(notation), operands, added)


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "status": _subcommand(
        "-sbz -u? --short --branch --show-stash --porcelain? --long --untracked-files? --ignored? --ahead-behind "
        "--no-ahead-behind --renames --no-renames --column? --no-column",
        added=("--ignore-submodules=dirty",),
    ),
    "log": _subcommand(f"{_DIFF} {_LOG}", added=_PLAIN_SAFETY),
    "show": _subcommand(f"{_DIFF} {_LOG}", added=_PLAIN_SAFETY),
    "diff": _subcommand(
        f"{_DIFF} --cached --staged --merge-base --base --ours --theirs",
        added=(*_PLAIN_SAFETY, "--ignore-submodules=dirty"),
    ),
    "branch": _subcommand(_LIST, _only_listed),
    "tag": _subcommand(
        "-n? --list --contains: --no-contains: --merged? --no-merged? --sort: --format: --points-at: --color? "
        "--no-color --column? --no-column --ignore-case",
        _only_listed,
    ),
    "ls-files": _subcommand(
        "-cdmostuzk --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory "
        "--exclude-standard --full-name --error-unmatch --deduplicate --eol --abbrev?"
    ),
    "ls-tree": _subcommand("-drtlz --name-only --name-status --full-name --full-tree --long --abbrev?"),
    "rev-parse": _subcommand(
        "-q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --show-toplevel --show-prefix "
        "--show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir "
        "--is-bare-repository --is-shallow-repository --all --branches? --tags? --remotes? --not --revs-only --no-revs",
    ),
    "rev-list": _subcommand(f"{_LOG} --count --objects --quiet"),
    "blame": _subcommand(
        "-lstfnewcb -L: -M? -C? --date: --root --show-stats --porcelain --line-porcelain", added=_PLAIN_SAFETY
    ),
    "describe": _subcommand("--all --tags --contains --abbrev? --candidates: --exact-match --long --match: --always"),
    "shortlog": _subcommand("-nsec --numbered --summary --email --since: --until: --no-merges --all"),
    "cat-file": _subcommand("-tspe"),
    "merge-base": _subcommand("-a --all --is-ancestor --fork-point --octopus"),
    "name-rev": _subcommand("--tags --name-only --always --all"),
    "stash list": _subcommand(f"{_DIFF} {_LOG}", added=_PLAIN_SAFETY),
    "stash show": _subcommand(_DIFF, added=_PLAIN_SAFETY),
    "reflog": _subcommand("-# -n: --oneline --all --date:", sorting.none),
    "reflog show": _subcommand("-# -n: --oneline --all --date:"),
    "count-objects": _subcommand("-vH", sorting.none),
}
"""The subcommands by name. Not `remote` and `config`, whose values can hold passwords."""


def hardened(arguments: Arguments, reach: Reach, git: str, env: str) -> Arguments:
    """All words of a git command that only reads, made proof against what a repository can say.

    Raises:
        Unproven: it may do more, or the repository is not a plain one.
    """
    if arguments == ("--version",):
        return git, *arguments
    name, rest = _named(arguments)
    subcommand = SUBCOMMANDS[" ".join(name)]
    found = subcommand.options.sort(rest)
    if any(map(_SIGNATURE.search, found.options)):
        raise Unproven("telling signatures runs another program")
    subcommand.operands(found, reach)
    tree = check_repository(reach)
    if not all(inside(reach.check(path), (tree,)) for path in found.operands):
        raise Unproven("it compares files that are not of one repository")
    unset = [word for variable in sorted(UNSET) for word in ("-u", variable)]
    return env, *unset, *SETTINGS, git, *HARDENED, *name, *subcommand.added, *rest


def _named(arguments: Arguments) -> tuple[Arguments, Arguments]:
    """The words of the subcommand, and what follows them."""
    start = next((at for at, word in enumerate(arguments) if word not in _WITHOUT_MEANING), len(arguments))
    for end in (start + 2, start + 1):
        if " ".join(arguments[start:end]) in SUBCOMMANDS:
            return arguments[start:end], arguments[end:]
    raise Unproven(f"git {' '.join(arguments[start : start + 1])} is not known to only read")


_WITHOUT_MEANING = ("--no-pager", "-P", "--no-optional-locks")
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.\-]+)\s*(?:"(?:[^"\\\n]|\\.)*")?\s*\]\s*')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9\-]*)\s*(?:=.*)?")
_PLAIN: Mapping[str, frozenset[str]] = {
    "core": words(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol "
        "safecrlf quotepath abbrev untrackedcache compression longpaths"
    ),
    "remote": words("url pushurl fetch tagopt mirror prune gh-resolved"),
    "branch": words(
        "remote merge rebase description pushremote autosetuprebase autosetupmerge vscode-merge-base gh-merge-base "
        "github-pr-owner-number"
    ),
    "user": words("name email signingkey"),
    "submodule": words("url active"),
    "init": words("defaultbranch"),
    "pull": words("rebase ff"),
    "push": words("default followtags autosetupremote"),
    "fetch": words("prune prunetags"),
    "merge": words("ff conflictstyle"),
    "rebase": words("autostash autosquash"),
    "commit": words("gpgsign"),
    "color": words("ui status diff branch"),
    "gui": words("wmstate geometry"),
    "lfs": words("repositoryformatversion"),
}
"""What the configuration of a repository may say without naming a program, or another place."""


def check_repository(reach: Reach) -> Path:
    """The work tree around a folder, once it is seen that its repository can make git run nothing.

    Git passes over what is no repository after all, so each that could be one is looked at.

    Raises:
        Unproven: there is none, or its configuration says more than that of a plain one.
    """
    folders = (reach.cwd, *reach.cwd.parents)
    if any(all(_there(folder / name) for name in ("HEAD", "objects", "refs")) for folder in folders):
        raise Unproven("the git repository has no work tree")
    trees = [folder for folder in folders if _there(folder / ".git")]
    if not trees:
        raise Unproven("there is no git repository here")
    for tree in trees:
        _check_git_dir(tree / ".git")
    return trees[0]


def _check_git_dir(place: Path) -> None:
    git_dir = place if os.path.isdir(paths.encode(place)) else _pointed_at(place)
    common = _text(git_dir / "commondir").strip()
    _check_config(_text((git_dir / common if common else git_dir) / "config"))


def _there(path: Path) -> bool:
    return os.path.lexists(paths.encode(path))


def _pointed_at(file: Path) -> Path:
    """The folder that a `.git` file names (a worktree, a submodule)."""
    text = _text(file)
    if not text.startswith("gitdir: "):
        raise Unproven("the git repository is not a plain one")
    return file.parent / text.removeprefix("gitdir: ").strip()


def _text(path: Path) -> str:
    try:
        return files.read(paths.real(path)).decode("utf-8", "surrogateescape") if _there(path) else ""
    except ToolError:
        raise Unproven("the git repository cannot be read") from None


def _check_config(text: str) -> None:
    section = ""
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        if header := _SECTION.match(line):
            section, line = header[1].lower(), line[header.end() :]
        if not line:
            continue
        key = _KEY.fullmatch(line)
        if line.endswith("\\") or not key or key[1].lower() not in _PLAIN.get(section, frozenset()):
            raise Unproven("the git repository's own configuration says more than a plain one's")

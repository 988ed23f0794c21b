"""The programs that only read, and which of their options are known to keep it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.tools.safety import options as sorting
from hermes_acp.tools.safety.options import Operands, Options, Sorted, options
from hermes_acp.tools.safety.paths import SECRET_FOLDERS, SECRET_NAMES
from hermes_acp.tools.safety.reach import Reach, ReachesOut, Unproven

Arguments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that only reads: its options, what its operands are, and what is added when it runs unasked."""

    notation: str
    operands: Operands = sorting.paths
    harden: Callable[[Sorted, Arguments], Arguments] = lambda found, arguments: arguments

    @property
    def options(self) -> Options:
        """The options that may be used."""
        return _options(self.notation)

    def check(self, arguments: Arguments, reach: Reach) -> Arguments:
        """The arguments that it runs with.

        Raises:
            ReachesOut: it would read outside the session's folders, and that is all.
            Unproven: it may do more than read, or read what looks secret.
        """
        found = self.options.sort(arguments)
        hardened = self.harden(found, arguments)
        try:
            self.operands(found, reach)
            for path in found.paths:
                reach.check(path)
        except ReachesOut as reason:
            raise reason if hardened == arguments else Unproven(str(reason)) from None
        return hardened


@cache
def _options(notation: str) -> Options:
    return options(notation)


def _search(found: Sorted, added: list[str]) -> Arguments:
    """The arguments of a search, with more options behind its own: the last one holds."""
    return (*found.options, *added, "--", *found.operands)


def _grep(found: Sorted, arguments: Arguments) -> Arguments:
    """In folders, files that look secret are left out."""
    if not found.names & {"-r", "--recursive"}:
        return arguments
    files = [f"--exclude={name}" for name in SECRET_NAMES]
    return _search(found, [*files, *(f"--exclude-dir={name}" for name in sorted(SECRET_FOLDERS))])


def _ripgrep(found: Sorted, arguments: Arguments) -> Arguments:
    """No settings of its own, which could name a program; files that look secret are left out."""
    globs = [f"--iglob=!{name}" for name in (*SECRET_NAMES, *sorted(SECRET_FOLDERS))]
    return _search(found, ["--no-config", *globs])


_GREP = Reader(
    "-EFGPiIvwxcloLqsbHhnTzZarU -# -e: -f@ -m: -A: -B: -C: --extended-regexp --fixed-strings --basic-regexp "
    "--perl-regexp --regexp: --file@ --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp "
    "--count --color? --colour? --files-with-matches --files-without-match --max-count: --only-matching --quiet "
    "--silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --null "
    "--after-context: --before-context: --context: --text --binary-files: --exclude: --exclude-dir: --include: "
    "--recursive --null-data --line-buffered --version --help",
    sorting.pattern_and_paths,
    _grep,
)

_RIPGREP = Reader(
    "-cFhHiIlnNopPqsSuUvVwxa0. -e: -f@ -g: -t: -T: -A: -B: -C: -m: -M: -j: -r: -d: -E: --regexp: --file@ --glob: "
    "--iglob: --type: --type-not: --type-list --after-context: --before-context: --context: --max-count: "
    "--max-columns: --max-columns-preview --max-depth: --max-filesize: --threads: --replace: --encoding: --color: "
    "--colors: --column --no-column --count --count-matches --include-zero --files --files-with-matches "
    "--files-without-match --fixed-strings --no-fixed-strings --heading --no-heading --hidden --no-hidden "
    "--ignore-case --case-sensitive --smart-case --invert-match --json --line-number --no-line-number --line-regexp "
    "--word-regexp --multiline --multiline-dotall --no-ignore --no-ignore-vcs --no-ignore-dot --no-ignore-parent "
    "--no-config --no-messages --no-require-git --null --null-data --one-file-system --only-matching --passthru "
    "--pcre2 --pretty --quiet --sort: --sortr: --stats --text --trim --unrestricted --vimgrep --with-filename "
    "--no-filename --byte-offset --crlf --line-buffered --context-separator: --engine: --version --help",
    sorting.pattern_and_paths,
    _ripgrep,
)

_CHECKSUM = Reader("-bltz -a: --binary --text --tag --zero --length: --algorithm: --version --help")


READERS: Mapping[str, Reader] = {
    "ls": Reader(
        "-1AabBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ -I? -T? -w? --all --almost-all --author --escape --block-size: "
        "--ignore-backups --color? --directory --dired --classify? --file-type --format: --full-time "
        "--group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink? "
        "--indicator-style: --inode --ignore: --kibibytes --size --sort: --time: --time-style: --recursive --reverse "
        "--numeric-uid-gid --literal --quote-name --quoting-style: --width: --zero --version --help"
    ),
    "cat": Reader(
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs "
        "--show-nonprinting --version --help"
    ),
    "tac": Reader("-br -s: --before --regex --separator: --version --help"),
    "head": Reader("-qvz -# -n: -c: --lines: --bytes: --quiet --silent --verbose --zero-terminated --version --help"),
    "tail": Reader("-qvz -# -n: -c: --lines: --bytes: --quiet --silent --verbose --zero-terminated --version --help"),
    "nl": Reader("-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --version --help"),
    "wc": Reader("-clLmw --bytes --chars --lines --max-line-length --words --version --help"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RIPGREP,
    "file": Reader(
        "-bihLkNnpr0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension "
        "--version --help"
    ),
    "stat": Reader("-Lft -c: --format: --printf: --dereference --file-system --terse --version --help"),
    "du": Reader(
        "-0abchHklmsSx -d: -t: -B: --null --all --apparent-size --bytes --total --max-depth: --human-readable --inodes "
        "--separate-dirs --si --summarize --threshold: --time? --exclude: --one-file-system --block-size: --version "
        "--help"
    ),
    "df": Reader(
        "-ahHiklPT -t: -x: -B: --all --block-size: --human-readable --si --inodes --local --portability --print-type "
        "--type: --exclude-type: --total --output? --version --help"
    ),
    "tree": Reader("-adfhinpqrstuvDFNQCJX -L: -I: -P: --dirsfirst --filelimit: --gitignore --noreport --prune --du"),
    "sort": Reader(
        "-bcCdfghiMmnrRsuVz -k: -t: -S: --ignore-leading-blanks --check? --dictionary-order --ignore-case "
        "--general-numeric-sort --human-numeric-sort --ignore-nonprinting --key: --month-sort --merge --numeric-sort "
        "--reverse --random-sort --stable --unique --version-sort --zero-terminated --field-separator: --parallel: "
        "--sort: --buffer-size: --version --help"
    ),
    "uniq": Reader(
        "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields: --ignore-case --skip-chars: --unique "
        "--zero-terminated --check-chars: --group? --version --help",
        sorting.at_most(1),
    ),
    "cut": Reader(
        "-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited "
        "--output-delimiter: --zero-terminated --version --help"
    ),
    "tr": Reader("-cCdst --complement --delete --squeeze-repeats --truncate-set1 --version --help", sorting.texts),
    "comm": Reader("-123z --check-order --nocheck-order --output-delimiter: --total --version --help"),
    "fold": Reader("-bs -w: --bytes --spaces --width: --version --help"),
    "rev": Reader("--version --help"),
    "diff": Reader(
        "-abBcdeEinNpqstTuwyZ -C: -I: -L: -U: -W: --brief --report-identical-files --context? --unified? --ed --normal "
        "--side-by-side --width: --left-column --suppress-common-lines --show-c-function --show-function-line: "
        "--label: --expand-tabs --initial-tab --ignore-case --ignore-tab-expansion --ignore-trailing-space "
        "--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text "
        "--strip-trailing-cr --minimal --speed-large-files --color? --version --help",
        sorting.files_only,
    ),
    "cmp": Reader(
        "-bls -i: -n: --print-bytes --verbose --silent --quiet --ignore-initial: --bytes:", sorting.at_most(2)
    ),
    "md5sum": _CHECKSUM,
    "sha1sum": _CHECKSUM,
    "sha224sum": _CHECKSUM,
    "sha256sum": _CHECKSUM,
    "sha384sum": _CHECKSUM,
    "sha512sum": _CHECKSUM,
    "b2sum": _CHECKSUM,
    "cksum": _CHECKSUM,
    "shasum": Reader("-b -a: --algorithm:"),
    "od": Reader("-abcdfiloshvx -A: -j: -N: -t: -w? --version --help"),
    "hexdump": Reader("-bcCdovx -n: -s:"),
    "strings": Reader("-af -n: -t: -e: --all --bytes: --radix: --encoding:"),
    "base64": Reader("-di -w: --decode --ignore-garbage --wrap: --version --help"),
    "basename": Reader("-az -s: --multiple --suffix: --zero --version --help", sorting.texts),
    "dirname": Reader("-z --zero --version --help", sorting.texts),
    "realpath": Reader("-eLmPqsz --canonicalize-existing --canonicalize-missing --no-symlinks --relative-to:"),
    "readlink": Reader("-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"),
    "seq": Reader("-w -f: -s: --equal-width --format: --separator:", sorting.texts),
    "printf": Reader("", sorting.texts),
    "which": Reader("-as --all", sorting.texts),
    "uname": Reader("-amnoprsv --all --kernel-name --nodename --kernel-release --machine --operating-system"),
    "whoami": Reader("--version", sorting.none),
    "id": Reader("-aGgnru", sorting.none),
    "nproc": Reader("--all", sorting.none),
    "arch": Reader("--version", sorting.none),
    "hostname": Reader("-fs", sorting.none),
    "uptime": Reader("-ps", sorting.none),
}
"""The programs whose arguments follow the common form, by name."""

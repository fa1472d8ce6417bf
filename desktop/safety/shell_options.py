"""Options by which a well-known program does more than its name says: it starts another program, writes a file, or
takes its orders from one (R-BLK-8, R-PRM-11).

What starts another program makes the command admin. What writes a file, or says nothing of what will be done, is
covered by no rule that does not name that very option: ``git diff*`` does not stand for ``git diff --output=x``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from desktop.safety.blocklist import git_command
from desktop.safety.shell_words import Word

NET_FILES = ("/dev/tcp/", "/dev/udp/")
TAKES_ORDERS = frozenset(
    "sqlite3 sqlite psql mysql mariadb dc ed ex ftp lftp sftp gdb lldb telnet expect m4 gnuplot".split()
)
"""Programs that take what they are fed with for commands, which can start other programs."""
SHORTEST = 3
"""Long options may be shortened: ``--out`` counts as every option that begins so."""


@dataclass(slots=True)
class Found:
    """``starts``: options that start another program; ``writes``: the files that others write; ``changes``: it changes
    files that stand elsewhere among its arguments; ``obeys``: what it does stands in a file; ``said``: words that only
    a rule which says them covers."""

    starts: list[str] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    changes: bool = False
    obeys: bool = False


@dataclass(frozen=True)
class Options:
    """Of one program, by what they do: start a program, write the file that they name, change files without naming one,
    take orders from elsewhere. Single letters are found in groups of letters, too, where ``grouped``."""

    starts: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    orders: frozenset[str] = frozenset()
    grouped: bool = False

    @cached_property
    def all(self) -> tuple[str, ...]:
        """Every option of interest."""
        return (*self.starts, *self.writes, *self.changes, *self.orders)


def _of(starts: str = "", writes: str = "", changes: str = "", orders: str = "", *, grouped: bool = False) -> Options:
    return Options(
        frozenset(starts.split()), frozenset(writes.split()), frozenset(changes.split()), frozenset(orders.split()),
        grouped,
    )  # fmt: skip


_SSH = _of("-S", orders="-F")
_COMPILER = _of("-wrapper -fplugin -B -specs --specs")
OPTIONS: dict[str, Options] = {
    "git": _of(
        "--ext-diff --extcmd --exec --exec-path --upload-pack --receive-pack --open-files-in-pager --template "
        "--config-env --smtp-server --sendmail-cmd --to-cmd --cc-cmd",
        "--output --output-directory", "", "--git-dir --work-tree -C --textconv --contents --namespace",
    ),
    "rg": _of("--pre --hostname-bin"), "ag": _of("--pager"), "ack": _of("--pager", "--output", "", "--ackrc"),
    "less": _of("-k --lesskey-file --lesskey-src", "-o -O --log-file --LOG-FILE"),
    "man": _of("-P --pager -H --html -X", orders="-C --config-file"),
    "tar": _of(
        "--to-command -I --use-compress-program -F --info-script --new-volume-script --rmt-command --rsh-command "
        "--checkpoint-action", "--index-file --volno-file", "-P --absolute-names",
    ),
    "zip": _of("-TT --unzip-command"), "split": _of("--filter"),
    "sort": _of("--compress-program", "-o --output", "", "--files0-from", grouped=True),
    "shuf": _of("", "-o --output", grouped=True), "tree": _of("", "-o", grouped=True),
    "iconv": _of("", "-o --output"), "xmllint": _of("--shell", "-o --output"), "yq": _of("", "", "-i --inplace"),
    "sed": _of("", "", "-i --in-place", "-f --file", grouped=True),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _of(
        "-l --load", "-o --pretty-print -p --profile -d --dump-variables", "-i --include", "-f --file -E --exec",
    )),
    "find": _of("", "-fprint -fprintf -fls -fprint0"),
    **dict.fromkeys(("scp", "sftp"), _SSH), "ssh": _SSH,
    "rsync": _of("--rsync-path", "--log-file --write-batch --only-write-batch", "", "--files-from --read-batch"),
    "curl": _of(
        "", "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts "
        "--alt-svc --output-dir", "-O --remote-name --remote-name-all -J --remote-header-name",
        "-K --config --unix-socket --abstract-unix-socket -x --proxy --preproxy --socks5", grouped=True,
    ),
    "wget": _of(
        "--use-askpass", "-O --output-document -o --output-file -a --append-output --save-cookies -P "
        "--directory-prefix --warc-file --hsts-file", "", "-i --input-file -e --execute --config", grouped=True,
    ),
    **dict.fromkeys(("nc", "ncat", "netcat"), _of("-e --exec -c --sh-exec --lua-exec", "-o --output")),
    "openssl": _of("-engine -provider", "-out -writerand"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    "go": _of("-exec -toolexec -vettool"), "cargo": _of("--config"),
    **dict.fromkeys(("make", "gmake"), _of("--eval -E")),
    "file": _of("", "", "-C --compile"), "date": _of("", "", "-s --set"), "ld": _of("-plugin"),
    "dc": _of(), "uniq": _of(), "xxd": _of(),
}  # fmt: skip
_SECOND_WRITES = frozenset(("uniq", "xxd"))
_GIT_STARTS = frozenset("difftool mergetool hook send-email instaweb gui gitk daemon citool".split())
_VALUE_STARTS = re.compile(
    r"(?i)-?o?\s*(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand|PKCS11Provider|SecurityKeyProvider|"
    r"IdentityAgent|Include|ProxyUseFdpass)\b"
)


def options_of(name: str, words: Sequence[Word]) -> Found:
    """What the options of a program do. ``name`` is its base name, ``words`` its arguments."""
    found = Found()
    options = OPTIONS.get(name) or OPTIONS.get(name.rstrip("0123456789.-"))
    if options is None:
        return found
    for at, word in enumerate(words):
        if not word.text.startswith("-"):
            continue
        if word.text == "--":
            break
        for wanted in _options_in(word.text, options):
            _take(wanted, word, words[at + 1 : at + 2], options, found)
    more = _MORE.get(name)
    if more is not None:
        more(words, found)
    if name in _SECOND_WRITES:
        plain = [word for word in words if not word.text.startswith("-") or word.text == "-"]
        found.writes += plain[1:2]
        found.said += [word.text for word in plain[1:2]]
    return found


def _options_in(text: str, options: Options) -> Iterator[str]:
    """The options of interest that a word is, holds or shortens."""
    if not text.startswith("-") or len(text) < 2:
        return
    given = text.partition("=")[0]
    for wanted in options.all:
        if wanted.startswith("--") or len(wanted) > 2:
            long = given.startswith("--") and len(given) >= SHORTEST and wanted.startswith(given)
            if given == wanted or long:
                yield wanted
        elif not text.startswith("--") and (text.startswith(wanted) or (options.grouped and wanted[1] in text[1:])):
            yield wanted


def _take(wanted: str, word: Word, after: Sequence[Word], options: Options, found: Found) -> None:
    if wanted in options.starts:
        found.starts.append(wanted)
        return
    spelled = wanted if word.text.startswith(wanted) else word.text.partition("=")[0]
    found.said += [spelled] if spelled not in found.said else []
    found.changes = found.changes or wanted in options.changes
    found.obeys = found.obeys or wanted in options.orders
    if wanted not in options.writes:
        return
    _, equals, value = word.text.partition("=")
    if equals and wanted.startswith("--"):
        found.writes.append(Word(value, word.known.partition("=")[2], word.dynamic, word.glob))
    elif len(word.text) > 2 and len(wanted) == 2 and word.text.startswith(wanted):
        found.writes.append(Word(word.text[2:], word.known[2:], word.dynamic, word.glob))
    else:
        found.writes += [next_one for next_one in after if not next_one.text.startswith("-")]


# -- programs whose other arguments decide ----------------------------------------------------------------------------


def _git(words: Sequence[Word], found: Found) -> None:
    subcommand, rest = git_command(words)
    texts = [word.text for word in rest]
    if subcommand in _GIT_STARTS:
        found.starts.append(subcommand)
    if subcommand == "grep" and any(text.startswith("-O") for text in texts):
        found.starts.append("-O")
    if subcommand in ("archive", "format-patch", "bundle", "fast-export"):
        for at, text in enumerate(texts):
            if text.startswith("-o"):
                found.said.append("-o")
                found.writes += rest[at + 1 : at + 2] if text == "-o" else []
    if (subcommand, texts[:1]) in (("bisect", ["run"]), ("submodule", ["foreach"])):
        found.starts.append(f"{subcommand} {texts[0]}")
    if subcommand == "rebase" and any(text == "-x" or text.startswith("--exec") for text in texts):
        found.starts.append("-x")


def _values(words: Sequence[Word], found: Found) -> None:
    """``-o ProxyCommand=x``."""
    if any(_VALUE_STARTS.match(word.text) for word in words):
        found.starts.append("-o")


def _make(words: Sequence[Word], found: Found) -> None:
    """Variables on its command line: SHELL is what runs everything."""
    for word in words:
        if re.match(r"(\.?SHELL\w*|MAKEFLAGS|MAKE|CC|CXX|LD|AR|AS|RM|INSTALL)\s*[:+?!]*=", word.text):
            found.starts.append(word.text.partition("=")[0])


def _dc(words: Sequence[Word], found: Found) -> None:
    if any("!" in word.text for word in words):
        found.starts.append("!")


def _less(words: Sequence[Word], found: Found) -> None:
    if any(word.text.startswith(("+", "-+")) and set("!|v") & set(word.text) for word in words):
        found.starts.append("+")


_MORE: dict[str, Callable[[Sequence[Word], Found], None]] = {
    "git": _git, "scp": _values, "sftp": _values, "ssh": _values, "make": _make, "gmake": _make, "less": _less,
    "dc": _dc,
}  # fmt: skip

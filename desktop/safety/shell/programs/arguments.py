"""Programs whose arguments decide in a way of their own what they do (see ``options``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from desktop.safety.shell.programs.blocklist import git_command
from desktop.safety.shell.programs.builtins import BUILTINS
from desktop.safety.shell.programs.git import SUBCOMMANDS
from desktop.safety.shell.programs.known_options import known
from desktop.safety.shell.programs.option_tables import Found
from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS
from desktop.safety.shell.syntax.words import Word

_UNPACKS = "which files it unpacks or changes is not among the words"
_GIT_STARTS = frozenset("difftool mergetool hook send-email instaweb gui gitk daemon citool".split())
_GH = frozenset("pr issue repo run release search browse status gist label workflow project org cache".split())
_STRATEGIES = frozenset("ours recursive resolve octopus subtree ort theirs".split())
_VALUE_STARTS = re.compile(
    r"(?i)-?o?\s*(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand|PKCS11Provider|SecurityKeyProvider|"
    r"IdentityAgent|Include|ProxyUseFdpass)\b"
)
_CLOCK = "it sets the clock of this computer"
_SSH = re.compile(r"(\S*/)?ssh(\s+-p\s*\d+|\s+-[46CqT]+|\s+-i\s+\S+)*")


def values(words: Sequence[Word], name: str, letter: str, *long: str) -> list[str]:
    """The values given to an option by its letter, also in a group, or by its long name, also cut short."""
    short_options, found = SHORT_OPTIONS[name], []
    for at, word in enumerate(words):
        text, following = word.text, words[at + 1].text if at + 1 < len(words) else ""
        if text.startswith("--"):
            given, equals, value = text.partition("=")
            if len(given) > 2 and any(option.startswith(given) for option in long):
                found.append(value if equals else following)
        elif text.startswith("-"):
            found += [value or following for one, value, _ in short_options.split(text) if one == letter]
    return found


def _git(words: Sequence[Word], found: Found) -> None:
    subcommand, rest = git_command(words)
    texts = [word.text for word in rest]
    plain = [text for text in texts if not text.startswith("-")]
    if subcommand in _GIT_STARTS:
        found.starts.append(subcommand)
    elif subcommand and subcommand not in SUBCOMMANDS:
        found.say(subcommand)
    if (subcommand, plain[:1]) in (("bisect", ["run"]), ("submodule", ["foreach"])):
        found.starts.append(f"{subcommand} {plain[0]}")
    if subcommand in ("merge", "pull", "rebase", "cherry-pick", "revert"):
        chosen = values(rest, f"git {subcommand}", "s", "--strategy")
        if subcommand in ("cherry-pick", "revert"):
            chosen = values(rest, f"git {subcommand}", "", "--strategy")
        found.starts += ["--strategy"] if any(one not in _STRATEGIES for one in chosen) else []


def _values(words: Sequence[Word], found: Found) -> None:
    """Find options of the form ``-o ProxyCommand=x``, which start a program."""
    if any(_VALUE_STARTS.match(word.text) for word in words):
        found.starts.append("-o")


def _make(words: Sequence[Word], found: Found) -> None:
    """Variables on its command line: SHELL is what runs everything, and flags reach the compilers."""
    for word in words:
        if re.match(r"(\.?SHELL\w*|MAKEFLAGS|MAKE|CC|CXX|LD|AR|AS|RM|INSTALL|\w*FLAGS)\s*[:+?!]*=", word.text):
            found.starts.append(word.text.partition("=")[0])
        elif "$(" in word.text or "${" in word.text:
            found.starts.append("$(...)")
        elif "=" in word.text and not word.text.startswith("-"):
            found.say(word.text.partition("=")[0])


def _dc(words: Sequence[Word], found: Found) -> None:
    if any("!" in word.text for word in words):
        found.starts.append("!")


def _less(words: Sequence[Word], found: Found) -> None:
    if any(word.text.startswith(("+", "-+")) and set("!|v") & set(word.text) for word in words):
        found.starts.append("+")


def _man(words: Sequence[Word], found: Found) -> None:
    if any("/" in word.text for word in words if not word.text.startswith("-")):
        found.say("/")


_XXD_WAITS = frozenset("-c -cols -g -group -l -len -n -name -o -offset -R -s -seek -skip".split())
"""Options of xxd whose value is the next word; it knows no groups of letters."""


def _second_writes(name: str, *, permutes: bool) -> Callable[[Sequence[Word], Found], None]:
    """Programs that write their second operand. Not ``permutes``: behind the first one every word is an operand."""

    def read(words: Sequence[Word], found: Found) -> None:
        table = known(name)
        waiting, plain = False, list[Word]()
        for word in words:
            if waiting:
                waiting = False
            elif word.text.startswith("-") and len(word.text) > 1 and (permutes or not plain):
                waits = table.short_options.waits(word.text) if table is not None else False
                waiting = waits if permutes else word.text in _XXD_WAITS
            else:
                plain.append(word)
        found.writes += plain[1:2]
        found.say(*(word.text for word in plain[1:2]))

    return read


def _tar(words: Sequence[Word], found: Found) -> None:
    """Find the effects of tar's options, also without a dash before the letters; for archives on other computers it
    runs rsh."""
    if not words:
        return
    first = words[0].text
    old = "" if first.startswith("-") else first
    groups = [old, *(w.text[1:] for w in words if w.text.startswith("-") and not w.text.startswith("--"))]
    for letter in set("IF") & set(old):
        found.starts.append(f"-{letter}")
    if set("PTg") & set(old):
        found.say(first)
        found.obeys = True
    longs = [w.text.partition("=")[0] for w in words if w.text.startswith("--") and len(w.text) > 3]
    unpacks = any("x" in LETTERS_BEFORE.match(group)[0] for group in groups)  # type: ignore[index]
    if unpacks or any(option.startswith(text) for text in longs for option in ("--extract", "--get")):
        found.hidden = _UNPACKS
    remote = re.compile(r"(?:--file=|-\w*f)?[\w.@\-]+:")
    if not any("--force-local".startswith(text) for text in longs) and any(remote.match(w.text) for w in words[:4]):
        found.starts.append("-f HOST:")


LETTERS_BEFORE = re.compile(r"[^bCfgHKLNTVXFI]*")
"""Letters of a group of tar's up to the first that takes a value."""


def _unpacks_unless(short_options: str) -> Callable[[Sequence[Word], Found], None]:
    def read(words: Sequence[Word], found: Found) -> None:
        groups = "".join(w.text[1:] for w in words if w.text.startswith("-"))
        if not set(groups) & set(short_options):
            found.hidden = _UNPACKS

    return read


def _packer(words: Sequence[Word], found: Found) -> None:
    """7z, ar, unrar, jar: the first word says what is done."""
    if (words and "x" in words[0].text) or (words[:1] and words[0].text in ("e", "-e")):
        found.hidden = _UNPACKS


def _zip(words: Sequence[Word], found: Found) -> None:
    """``-TT`` is an option of its own, whatever stands before it."""
    if any(re.match(r"-[^-]*TT", word.text) for word in words):
        found.starts.append("-TT")


def _rsync(words: Sequence[Word], found: Found) -> None:
    for value in values(words, "rsync", "e", "--rsh"):
        if _SSH.fullmatch(value) is None:
            found.starts.append("--rsh")


def _curl(words: Sequence[Word], found: Found) -> None:
    """``-w`` writes where its text says so, and takes it from a file."""
    if any("%output" in word.text or "%{stderr" in word.text for word in words):
        found.say("%output")
    if any(value.startswith("@") for value in values(words, "curl", "w", "--write-out")):
        found.say("-w @")
    if any(value.startswith("@") for value in values(words, "curl", "H", "--header")):
        found.say("@")
        found.sends = True
    if any(word.text.casefold().startswith("file:") for word in words):
        found.say("file:")


def _date(words: Sequence[Word], found: Found) -> None:
    """A number by itself sets the clock, too."""
    waiting = False
    if values(words, "date", "s", "--set"):
        found.because = [_CLOCK]
    for word in words:
        if not waiting and re.fullmatch(r"\d{8,12}(\.\d\d)?", word.text):
            found.because = [_CLOCK]
        waiting = word.text.startswith("-") and (SHORT_OPTIONS["date"].waits(word.text) or word.text.startswith("--"))


def _compiler(words: Sequence[Word], found: Found) -> None:
    for word in words:
        if word.text.startswith("@"):
            found.say("@")
            found.obeys = True


def _npm(words: Sequence[Word], found: Found) -> None:
    plain = [word.text for word in words if not word.text.startswith("-")]
    if plain[:1] and plain[0] in ("exec", "x", "config", "c", "set", "pkg", "edit", "explore", "init", "create", "dlx"):
        found.say(plain[0])


def _go(words: Sequence[Word], found: Found) -> None:
    if words and words[0].text in ("generate", "tool"):
        found.say(words[0].text)


def _pytest(words: Sequence[Word], found: Found) -> None:
    """``-p no:x`` only leaves something out; what else it names is imported."""
    if any(not value.startswith("no:") for value in values(words, "pytest", "p")):
        found.say("-p")
        found.obeys = True


def _rg(words: Sequence[Word], found: Found) -> None:
    """``-z`` runs the programs that unpack, by their names."""
    short_options = SHORT_OPTIONS["rg"]
    if any(one == "z" for w in words if re.match(r"-[^-]", w.text) for one, _, _ in short_options.split(w.text)):
        found.say("-z")


def _history(words: Sequence[Word], found: Found) -> None:
    found.writes += [w for w in words if not w.text.startswith("-")][-1:] if found.changes else []


def _traced(words: Sequence[Word], found: Found) -> None:
    """``strace -o '|program'``."""
    if any(re.match(r"(-\w*o|--output=)?[|!]", word.text) for word in words):
        found.starts.append("-o |")


def _pip(words: Sequence[Word], found: Found) -> None:
    plain = [word.text for word in words if not word.text.startswith("-")]
    found.say(*(text for text in plain[:1] if text not in ("list", "show", "freeze", "check", "help", "index")))


def _gh(words: Sequence[Word], found: Found) -> None:
    """What it does by itself is in few words; an alias may be any program, an extension is one."""
    plain = [word.text for word in words if not word.text.startswith("-")]
    found.say(*(text for text in plain[:1] if text not in _GH))


def _named_value(words: Sequence[Word], found: Found) -> None:
    """``exiftool -TAG=value`` changes the file."""
    changing = [word.text for word in words if re.match(r"-[\w:]+[-+^]?<?=", word.text)]
    found.say(*changing)
    found.changes = found.changes or bool(changing)


def _loads(words: Sequence[Word], found: Found) -> None:
    if any(word.text.startswith("-f") for word in words):
        found.starts.append("-f")


MORE: dict[str, Callable[[Sequence[Word], Found], None]] = {
    "git": _git,
    "scp": _values,
    "sftp": _values,
    "ssh": _values,
    "make": _make,
    "gmake": _make,
    "less": _less,
    "more": _less,
    "dc": _dc,
    "man": _man,
    "uniq": _second_writes("uniq", permutes=True),
    "xxd": _second_writes("xxd", permutes=False),
    "tar": _tar,
    "bsdtar": _tar,
    "unzip": _unpacks_unless("ltvZp"),
    "patch": _unpacks_unless("\0"),
    "cpio": _unpacks_unless("ot"),
    **dict.fromkeys(("7z", "7za", "7zz", "ar", "jar", "unrar", "rar"), _packer),
    "unsquashfs": _unpacks_unless("ls"),
    "zip": _zip,
    "rsync": _rsync,
    "curl": _curl,
    "date": _date,
    "rg": _rg,
    "pytest": _pytest,
    "py.test": _pytest,
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _compiler),
    "go": _go,
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun"), _npm),
    "history": _history,
    "strace": _traced,
    "ltrace": _traced,
    "gh": _gh,
    "exiftool": _named_value,
    **dict.fromkeys(("pip", "pip3"), _pip),
    "enable": _loads,
    **BUILTINS,
}

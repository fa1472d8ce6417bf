"""git: which of its sub-commands and settings are harmless (R-BLK-8, R-PRM-11). Everything else is admin, or has to
stand in the rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.programs.blocklist import git_command, may_mean
from desktop.safety.shell.syntax.getopt import ReadOptions, ShortOptions, read_options
from desktop.safety.shell.syntax.words import Word, literal

SUBCOMMANDS = frozenset(
    "status log diff show branch tag remote rev-parse ls-files ls-tree describe blame annotate grep shortlog "
    "reflog add commit checkout switch restore reset stash merge rebase pull push fetch clone cherry-pick revert "
    "rm mv init clean worktree bisect submodule archive apply am format-patch gc notes rev-list cat-file show-ref "
    "ls-remote name-rev merge-base diff-tree diff-index diff-files for-each-ref count-objects fsck whatchanged "
    "range-diff cherry check-ignore sparse-checkout config fast-export version help".split()
)
"""A rule about git in general stands for these; every other word there is plumbing that runs or writes what it is
given, a program called git-NAME, or an alias, which may be any program: it has to stand in the rule."""
_HARMLESS_KEYS = re.compile(
    r"user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)"
    r"|fetch\.(prune|prunetags|parallel)|merge\.(conflictstyle|ff|log|stat|renames)"
    r"|rebase\.(autostash|autosquash|updaterefs|stat|missingcommitscheck)|rerere\.(enabled|autoupdate)"
    r"|core\.(autocrlf|safecrlf|eol|filemode|ignorecase|quotepath|longpaths|whitespace|abbrev|compression|bigfilethreshold"
    r"|precomposeunicode|logallrefupdates|commentchar)"
    r"|color\.[\w.-]+|column\.\w+|advice\.\w+|log\.(date|abbrevcommit|decorate|follow)|format\.(pretty|signoff)"
    r"|diff\.(algorithm|colormoved|renames|mnemonicprefix|noprefix|context|interhunkcontext|submodule|wserrorhighlight)"
    r"|status\.\w+|commit\.(verbose|cleanup|status)|tag\.sort|branch\.(sort|autosetupmerge|autosetuprebase)"
    r"|branch\..+\.(merge|rebase|description)|stash\.\w+|grep\.(linenumber|patterntype|extendedregexp|column|fullname)"
    r"|blame\.\w+|versionsort\.suffix|feature\.\w+|index\.\w+|pack\.(threads|windowmemory)|http\.(postbuffer|version)",
    re.IGNORECASE,
)
"""Settings whose values are numbers, words or patterns: none is a command, a path, a host or a format with orders."""
_STAYS = "http.followredirects=false"
"""Keeps git with the computer that it was given."""
_CONFIG_READS = frozenset("--get --get-all --get-regexp --get-urlmatch --list -l".split())
_CONFIG_KNOWN = frozenset(
    "--local --show-origin --show-scope --name-only --null -z --type -t --bool --int --bool-or-int --bool-or-str "
    "--path --default --all --regexp --value --fixed-value --includes --no-includes --global --system "
    "--worktree".split()
)
_CONFIG_OPTIONS = ShortOptions.of("l z e", "f t")
_CONFIG_LONG = {
    **dict.fromkeys(
        (
            *_CONFIG_READS,
            *_CONFIG_KNOWN,
            "--add",
            "--unset",
            "--unset-all",
            "--replace-all",
            "--edit",
            "--rename-section",
            "--remove-section",
            "--append",
            "--get-color",
            "--get-colorbool",
        ),
        False,
    ),
    **dict.fromkeys(("--file", "--blob", "--type", "--default", "--value", "--comment"), True),
}
_PUBLISHES = re.compile(r"send-pack|http-push|remote-\w+")
"""Other names of ``push``, beside those of two words."""
_PUBLISHING = {"subtree": "push", "svn": "dcommit", "p4": "submit", "lfs": "push"}
_NETWORK = frozenset("push pull fetch clone ls-remote fetch-pack http-fetch send-email imap-send".split())
_NETWORK_BELOW = {
    "submodule": ("update", "add"),
    "lfs": ("pull", "fetch", "push", "clone", "lock", "unlock", "locks"),
    "remote": ("update", "prune"),
    "subtree": ("add", "pull", "push"),
    "p4": ("clone", "sync", "rebase", "submit"),
    "svn": ("clone", "fetch", "rebase", "dcommit"),
}
_SETTINGS = "it changes settings of git that can start programs or lead elsewhere"
_COMMAND = "it gives git a command of its own to run"


def git_words(name: str, words: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """``git-push x``, by its name in git's own folder, is ``git push x``."""
    found = re.fullmatch(r"git-([a-z][\w-]*)", name)
    return ("git", [literal(found[1]), *words]) if found else (name, words)


def also_called(words: Sequence[Word]) -> list[str]:
    """The sub-commands that do the same, for rules that deny: ``git send-pack`` is a push."""
    subcommand, rest = git_command(words)
    first = next((word.text for word in rest if not word.text.startswith("-")), "")
    publishes = _PUBLISHES.fullmatch(subcommand) or (first and _PUBLISHING.get(subcommand) == first)
    return ["push"] if publishes else []


def git_needs_network(words: Sequence[Word]) -> bool:
    """Whether a git command talks to another repository, which is on another computer as a rule."""
    subcommand, rest = git_command(words)
    texts = [word.text for word in rest]
    plain = [text for text in texts if not text.startswith("-")]
    if subcommand == "archive":
        return any(may_mean(text, "--remote") for text in texts)
    if subcommand == "remote" and plain[:1] == ["show"]:
        return len(plain) > 1 and "-n" not in texts
    if subcommand == "remote" and plain[:1] == ["add"]:
        return bool({"-f", "--fetch"} & set(texts))
    known = subcommand in _NETWORK or _PUBLISHES.fullmatch(subcommand) is not None
    return known or bool(plain and plain[0] in _NETWORK_BELOW.get(subcommand, ()))


@dataclass(slots=True)
class GitSettings:
    """What settings given on a command line do: ``scripts`` are the commands in them, ``reasons`` why it is admin."""

    scripts: list[Word]
    reasons: list[str]


def settings_in(words: Sequence[Word]) -> GitSettings:
    """The settings in ``git -c KEY=VALUE``, ``git config KEY VALUE`` and ``git clone --config KEY=VALUE``."""
    found = GitSettings([], [])
    subcommand, rest = git_command(words)
    before = words[: len(words) - len(rest)]
    given = _values(before, ("-c", "--config-env"))
    if subcommand in ("clone", "submodule"):
        given += _values(rest, ("-c", "--config"))
    for text in given:
        _judge(text, found)
    if subcommand == "config":
        _config(rest, found)
    return found


def _values(words: Sequence[Word], names: tuple[str, ...]) -> list[str]:
    """The values behind these options, also glued to them."""
    found: list[str] = []
    for at, word in enumerate(words):
        for name in names:
            if word.text == name:
                found += [after.text for after in words[at + 1 : at + 2]]
            elif word.text.startswith(f"{name}=") or (len(name) == 2 and word.text.startswith(name)):
                found.append(word.text[len(name) :].lstrip("="))
    return found


def _judge(text: str, found: GitSettings) -> None:
    key, _, value = text.partition("=")
    if _HARMLESS_KEYS.fullmatch(key) is None and text.casefold() != _STAYS:
        _take(key, value, found)


def _take(key: str, value: str, found: GitSettings) -> None:
    """Any other setting may hold a command: of an alias one of git's, unless it begins with ``!``."""
    alias = key.casefold().startswith("alias.") and not value.startswith("!")
    found.scripts += [literal(f"git {value}" if alias else value.removeprefix("!"))] if value else []
    found.reasons.append(_COMMAND if value else _SETTINGS)


def _config(rest: Sequence[Word], found: GitSettings) -> None:
    """Reading, or setting one harmless key of this project; everything else is admin.

    | first operand or option          | operands | options        | answer    |
    |----------------------------------|----------|----------------|-----------|
    | an option that reads, get, list  | any      | known          | reads     |
    | a key                            | 1        | known          | reads     |
    | a harmless key, also after set   | key + 1  | known          | sets it   |
    | anything else                    |          |                | admin     |
    """
    read = read_options(rest, _CONFIG_OPTIONS, _CONFIG_LONG)
    if _config_reads(read):
        return
    operands = [word.text for word in read.operands]
    operands = operands[1:] if operands[:1] == ["set"] else operands
    known = all(option in _CONFIG_KNOWN for option, _ in read.options)
    if known and len(operands) == 2 and _HARMLESS_KEYS.fullmatch(operands[0]):
        return
    if any(option in ("-f", "--file") for option, _ in read.options):
        found.reasons.append("it changes settings in another place than the project's")
    elif any(option in ("-e", "--edit") for option, _ in read.options) or operands[:1] == ["edit"]:
        found.reasons.append("it opens git's settings in an editor")
    if len(operands) > 1:
        _take(operands[0], operands[1], found)
    elif not found.reasons:
        found.reasons.append(_SETTINGS)


def _config_reads(read: ReadOptions) -> bool:
    options = [option for option, _ in read.options]
    if not all(option in _CONFIG_READS or option in _CONFIG_KNOWN for option in options):
        return False
    operands = [word.text for word in read.operands]
    if any(option in _CONFIG_READS for option in options) or operands[:1] in (["get"], ["list"]):
        return True
    return len(operands) == 1 and "." in operands[0]


@dataclass(frozen=True, slots=True)
class _Form:
    """A way of calling a sub-command that only reads: its first operand is one of ``firsts`` or, where ``any_operand``,
    anything; ``options`` are those that it may have, None: all that are known. ``marks``: one of them has to be there
    before operands make it no write; ``bare``: it reads without operands, too."""

    options: frozenset[str] | None = None
    firsts: frozenset[str] = frozenset()
    any_operand: bool = True
    marks: frozenset[str] = frozenset()
    bare: bool = True


def _only(firsts: str = "", options: str | None = None, marks: str = "", *, bare: bool = True) -> _Form:
    chosen = None if options is None else frozenset(options.split()) | frozenset(marks.split())
    return _Form(chosen, frozenset(firsts.split()), any_operand=False, marks=frozenset(marks.split()), bare=bare)


_LISTS = (
    "-a -r -v -vv -q --all --remotes --verbose --show-current --sort --format --color --no-color --column "
    "--no-column --abbrev --no-abbrev --ignore-case -i -n"
)
_SELECTS = "-l --list --contains --no-contains --merged --no-merged --points-at"
READS: dict[str, _Form] = {
    **dict.fromkeys(
        "status log diff show rev-parse ls-files ls-tree describe blame annotate grep shortlog rev-list cat-file "
        "show-ref name-rev merge-base for-each-ref count-objects check-ignore diff-tree diff-index diff-files "
        "whatchanged range-diff cherry version fsck".split(),
        _Form(),
    ),
    "branch": _only(options=_LISTS, marks=_SELECTS),
    "tag": _only(options=_LISTS, marks=_SELECTS),
    "remote": _only("get-url", "-v --verbose --all --push"),
    "reflog": _only("show"),
    "stash": _only("list show", bare=False),
    "worktree": _only("list", "-v --verbose --porcelain -z", bare=False),
    "notes": _only("list show", "--ref"),
    "bisect": _only("log view", "", bare=False),
    "submodule": _only("status summary", "--cached --recursive --quiet -q"),
    "config": _Form(),
}
"""Sub-commands that only read, and how; whatever is not such a form changes something (R-BLK-8)."""


def git_reads(words: Sequence[Word]) -> bool:
    """Whether a git command is of a form that only reads. That its options are known is seen elsewhere."""
    subcommand, rest = git_command(words)
    form = READS.get(subcommand)
    if form is None:
        return not subcommand and bool(words)
    if subcommand == "config":
        return _config_reads(read_options(rest, _CONFIG_OPTIONS, _CONFIG_LONG))
    options = {word.text.partition("=")[0] for word in rest if word.text.startswith("-")}
    plain = [word.text for word in rest if not word.text.startswith("-")]
    if form.options is not None and not options <= form.options:
        return False
    if form.any_operand or options & form.marks:
        return True
    return plain[0] in form.firsts if plain else form.bare

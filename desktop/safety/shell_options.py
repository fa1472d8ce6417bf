"""Options by which a well-known program does more than its name says: it starts another program, writes a file, or
takes its orders from one (R-BLK-8, R-PRM-11).

What starts another program makes the command admin. What writes a file, or says nothing of what will be done, is
covered by no rule that does not name that very option: ``git diff*`` does not stand for ``git diff --output=x``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from desktop.safety.blocklist import git_command
from desktop.safety.shell_letters import LETTERS, Letters
from desktop.safety.shell_option_tables import GIT, NONE, OPTIONS, Found, Options
from desktop.safety.shell_programs import MORE
from desktop.safety.shell_words import Word

NET_FILES = ("/dev/tcp/", "/dev/udp/")
TAKES_ORDERS = frozenset(
    "sqlite3 sqlite psql mysql mariadb dc ed ex ftp lftp sftp gdb lldb telnet expect m4 gnuplot".split()
)
"""Programs that take what they are fed with for commands, which can start other programs."""
SHORTEST = 3
"""Long options may be shortened: ``--out`` counts as every option that begins so."""


def options_of(name: str, words: Sequence[Word]) -> Found:
    """What the options of a program do. ``name`` is its base name, ``words`` its arguments."""
    found = Found()
    bare = name.rstrip("0123456789.-")
    if bare == "git":
        subcommand, rest = git_command(words)
        _look_at("git", words[: len(words) - len(rest)], found)
        _look_at(f"git {subcommand}", rest, found)
    elif (module := module_of(bare, words)) is not None:
        return options_of(module[0].text, module[1])
    else:
        _look_at(name if name in OPTIONS or name in LETTERS else bare, words, found)
    more = MORE.get(name) or MORE.get(bare)
    if more is not None:
        more(words, found)
    return found


def module_of(name: str, words: Sequence[Word]) -> tuple[Word, Sequence[Word]] | None:
    """``python3 -m NAME``: the module and its arguments."""
    if name not in ("python", "pypy"):
        return None
    for at, word in enumerate(words):
        text = word.text
        if not text.startswith("-") or text.startswith("--"):
            return None
        if "m" in text and (named := re.fullmatch(r"-[bBdEiIOPqsSuvx]*m(.*)", text, re.DOTALL)):
            module = Word(named[1], named[1]) if named[1] else words[at + 1] if at + 1 < len(words) else None
            return None if module is None else (module, words[at + (1 if named[1] else 2) :])
    return None


def _look_at(name: str, words: Sequence[Word], found: Found) -> None:
    options = OPTIONS.get(name) or (GIT if name.startswith("git ") else None)
    letters = LETTERS.get(name)
    if options is None and letters is None:
        return
    options = options or NONE
    for at, word in enumerate(words):
        text = word.text
        if text == "--" and not (at and _may_wait(words[at - 1].text, letters)):
            break
        if text.startswith("-") and len(text) > 1:
            for wanted, value in _options_in(text, options, letters, found):
                _take(wanted, value, word, words[at + 1 : at + 2], options, found)


def _may_wait(text: str, letters: Letters | None) -> bool:
    """Whether ``--`` behind this word may be the value of an option, and end nothing."""
    if not text.startswith("-") or text == "-":
        return False
    if text.startswith("--"):
        return "=" not in text
    return letters is None or letters.waits(text)


def _options_in(text: str, options: Options, letters: Letters | None, found: Found) -> Iterator[tuple[str, str]]:
    """The options of interest that a word is, holds or shortens, each with the value glued to it."""
    given, _, value = text.partition("=")
    if text.startswith("--"):
        for wanted in options.long:
            if given == wanted or (len(given) >= SHORTEST and wanted.startswith(given)):
                yield wanted, value
        return
    for wanted in options.single:
        if given == wanted or (options.glued and text.startswith(wanted)):
            yield wanted, value or text[len(wanted) :]
            return
    yield from _letters_in(text, options, letters, found)


def _letters_in(text: str, options: Options, letters: Letters | None, found: Found) -> Iterator[tuple[str, str]]:
    if letters is None:
        for wanted in options.short:
            if text.startswith(wanted) or (options.grouped and wanted[1] in text[1:]):
                yield wanted, text[2:] if text.startswith(wanted) else ""
        return
    given = text.partition("=")[0]
    for letter, glued, known in letters.split(text):
        if not known:
            found.say(given)
        if f"-{letter}" in options.short:
            yield f"-{letter}", glued


def _take(wanted: str, value: str, word: Word, after: Sequence[Word], options: Options, found: Found) -> None:
    if wanted in options.starts:
        found.starts.append(wanted)
        return
    found.say(wanted if word.text.startswith(wanted) else word.text.partition("=")[0])
    found.changes = found.changes or wanted in options.changes
    found.obeys = found.obeys or wanted in options.orders
    found.sends = found.sends or wanted in options.sends
    if wanted not in options.writes:
        return
    if value:
        before = word.text[: len(word.text) - len(value)]
        known = word.known[len(before) :] if word.known.startswith(before) else value
        found.writes.append(Word(value, known, word.dynamic, word.glob))
    else:
        found.writes += [next_one for next_one in after if not next_one.text.startswith("-")]

"""Options by which a well-known program does more than its name says: it starts another program, writes a file, or
takes its orders from one (R-BLK-8, R-PRM-11).

What starts another program makes the command admin. What writes a file, or says nothing of what will be done, is
covered by no rule that does not name that very option: ``git diff*`` does not stand for ``git diff --output=x``. So is
every option that the table of a program does not have (``known_options``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from desktop.safety.shell.programs.arguments import MORE
from desktop.safety.shell.programs.blocklist import git_command
from desktop.safety.shell.programs.builtins import WITHOUT_OPTIONS
from desktop.safety.shell.programs.git import git_words
from desktop.safety.shell.programs.known_options import Known, known
from desktop.safety.shell.programs.option_tables import GIT, NONE, OPTIONS, Found, Options
from desktop.safety.shell.syntax.getopt import ShortOptions
from desktop.safety.shell.syntax.words import Word

NET_FILES = ("/dev/tcp/", "/dev/udp/")
TAKES_ORDERS = frozenset(
    "sqlite3 sqlite psql mysql mariadb dc ed ex ftp lftp sftp gdb lldb telnet expect m4 gnuplot".split()
)
"""Programs that take what they are fed with for commands, which can start other programs."""
_NONE_KNOWN = ShortOptions.of("")
SHORTEST = 3
"""Long options may be shortened: ``--out`` counts as every option that begins so."""


def options_of(name: str, words: Sequence[Word]) -> Found:
    """What the options of a program do. ``name`` is its base name, ``words`` its arguments."""
    found = Found()
    name, words = git_words(name, words)
    bare = name.rstrip("0123456789.-")
    if bare == "git":
        subcommand, rest = git_command(words)
        _look_at("git", words[: len(words) - len(rest)], found)
        _look_at(f"git {subcommand}", rest, found)
    elif (module := module_of(bare, words)) is not None:
        return options_of(module[0].text, module[1])
    else:
        _look_at(name if name in OPTIONS or known(name) else bare, _own(bare, words), found)
    more = MORE.get(name) or MORE.get(bare)
    if more is not None:
        more(words, found)
    return found


def module_of(name: str, words: Sequence[Word]) -> tuple[Word, Sequence[Word]] | None:
    """The module in ``python3 -m NAME`` and its arguments; None where there is none."""
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


def _own(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """Without the commands that ``find`` runs: their options are theirs."""
    if name != "find":
        return words
    own: list[Word] = []
    inside = False
    for word in words:
        if not inside:
            own.append(word)
        inside = word.text not in (";", "+") if inside else word.text in ("-exec", "-execdir", "-ok", "-okdir")
    return own


def _look_at(name: str, words: Sequence[Word], found: Found) -> None:
    options = OPTIONS.get(name) or (GIT if name.startswith("git ") else None)
    table = known(name)
    found.unlisted = table is None and name not in WITHOUT_OPTIONS and any(_is_option(word.text) for word in words)
    if options is None and table is None:
        return
    options, table = options or NONE, table or Known(_NONE_KNOWN, frozenset())
    for at, word in enumerate(words):
        text = word.text
        if text[:1] != "-":
            continue
        if text == "--" and not (at and _may_wait(words[at - 1].text, table.short_options)):
            break
        if _is_option(text):
            taken = list(_options_in(text, options, table))
            for wanted, value in taken:
                _take(wanted, value, word, words[at + 1 : at + 2], options, found)
            if not taken or not text.startswith("--"):
                _say_unknown(text, options, table, found)


def _is_option(text: str) -> bool:
    return text.startswith("-") and len(text) > 1 and text != "--"


def _say_unknown(text: str, options: Options, table: Known, found: Found) -> None:
    """An option that is in no table has to stand in the rule."""
    given = text.partition("=")[0]
    if table.has(given) or given in options.all or (options.glued and text.startswith(options.single)):
        return
    if text.startswith("--") or not all(has for _, _, has in table.short_options.split(given)):
        found.say(given)


def _may_wait(text: str, short_options: ShortOptions) -> bool:
    """Whether ``--`` behind this word may be the value of an option, and end nothing."""
    if not text.startswith("-") or text == "-":
        return False
    if text.startswith("--"):
        return "=" not in text
    return short_options is _NONE_KNOWN or short_options.waits(text)


def _options_in(text: str, options: Options, table: Known) -> Iterator[tuple[str, str]]:
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
    if text.partition("=")[0] in table.names:
        return
    for at, (letter, glued, _) in enumerate(table.short_options.split(text)):
        wanted = f"-{letter}"
        if wanted in options.short:
            yield wanted, glued or ("" if letter in table.short_options.valued or at else text[2:])


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

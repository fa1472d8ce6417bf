"""Constraints on a shell command: each of its commands is compared by itself, as its words with single blanks between.

Here ``*`` and ``**`` stand for any text, also none, with slashes, blanks and leading dots, ``?`` for any one character:
the text has no folders. What separates commands is never part of the text, so no star reaches over it (R-PRM-11). In
paths, and in every other argument, ``*`` stays within one folder (see ``globs``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop.domain.approval.judgement import CommandPart
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.patterns.hosts import NamedHosts
from desktop.skills.patterns.syntax import ANY, Alternative, Wild, alternatives

ARGUMENT = "command"
"""The name of the argument that is a shell command, of the tools whose pre-check takes it apart."""
_ASSIGNS = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")


@dataclass(frozen=True, slots=True)
class _Way:
    """One alternative of a constraint. ``whole`` fits a text as it stands. To cover a command, its assignments have to
    fit ``assigns`` one by one and the rest ``command``; ``said`` is what it says literally, ``named`` how much of the
    program's name; -1: nothing at all."""

    whole: re.Pattern[str]
    assigns: tuple[re.Pattern[str], ...]
    command: re.Pattern[str]
    said: str
    named: int
    hosts: NamedHosts

    def covers(self, part: CommandPart) -> bool:
        """Whether it covers all of a command of which nothing is hidden."""
        if len(self.assigns) != len(part.assigns) or self.command.fullmatch(part.command) is None:
            return False
        if not all(one.fullmatch(text) for one, text in zip(self.assigns, part.assigns, strict=True)):
            return False
        program = part.command.partition(" ")[0]
        in_folder = program.rfind("/") >= self.named >= 0
        if in_folder or not self.hosts.cover(part.hosts, astray=bool(part.astray)):
            return False
        return all(_says(self.said, option) for option in part.said)


class CommandGlob:
    """A constraint on the command. ``literal`` is the one text that it fits, or empty.

    No star stands for an assignment in front of the program (``ls*`` does not cover ``ls=1 touch x``), nor for the
    folders of another program (``ls*`` does not cover ``ls/../touch``), except where it is all that is said of it.
    """

    __slots__ = ("_ways", "literal")

    def __init__(self, text: str) -> None:
        made = alternatives(text)
        self.literal = _literal(made)
        self._ways = () if self.literal else tuple(_way(one) for one in made)

    def fits(self, text: str) -> bool:
        """Whether it fits the whole text."""
        return text == self.literal if self.literal else any(way.whole.fullmatch(text) for way in self._ways)

    def covers(self, part: CommandPart) -> bool:
        """Whether it may allow this command: nothing of it is hidden, it fits, and says what has to be said."""
        if part.hidden:
            return False
        if self.literal:
            return part.text == self.literal and not part.astray
        return any(way.covers(part) for way in self._ways)

    def meets(self, part: CommandPart) -> bool:
        """Whether it asks about or denies this command, by any of its spellings."""
        return any(self.fits(text) for text in (part.text, *part.spellings) if text)


@lru_cache(maxsize=4096)
def command_glob(text: str) -> CommandGlob:
    """Compile the glob of a command. The text has been checked when its pattern was read."""
    return CommandGlob(text)


def _literal(made: list[Alternative]) -> str:
    if len(made) != 1 or any(isinstance(token, Wild) for token in made[0]):
        return ""
    return "".join(token for token in made[0] if isinstance(token, str))


def _way(tokens: Alternative) -> _Way:
    assigns, rest = _split(tokens)
    said = _said(rest)
    any_program = isinstance(rest[0], Wild) and bool(rest[0].stars) if rest else False
    named = -1 if any_program else len(re.split(r"[ \0]", said, maxsplit=1)[0])
    return _Way(_regex(tokens), tuple(map(_regex, assigns)), _regex(rest), said, named, NamedHosts(_said(tokens)))


def _regex(tokens: Alternative) -> re.Pattern[str]:
    return re.compile(_source(tokens), re.DOTALL)


def _split(tokens: Alternative) -> tuple[list[Alternative], Alternative]:
    """The words ``NAME=value`` in front of the command, and the command."""
    found: list[Alternative] = []
    rest = tokens
    while rest and isinstance(rest[0], str) and _ASSIGNS.match(rest[0]):
        word, rest = _word(rest)
        found.append(word)
    return found, rest


def _word(tokens: Alternative) -> tuple[Alternative, Alternative]:
    """Up to the first blank outside quotes, and what follows it."""
    word: Alternative = []
    quoted = False
    for at, token in enumerate(tokens):
        if not isinstance(token, str):
            word.append(token)
            continue
        for place, letter in enumerate(token):
            quoted ^= letter == "'"
            if letter == " " and not quoted:
                after: Alternative = [part for part in (token[place + 1 :],) if part]
                return [*word, *(part for part in (token[:place],) if part)], [*after, *tokens[at + 1 :]]
        word.append(token)
    return word, []


def _says(said: str, option: str) -> bool:
    """Whether a rule names an option: the whole of a long one, of a single letter also with its value behind it."""
    ends = "" if len(option) == 2 else r"(?=[ =\0]|\Z)"
    return re.search(rf" {re.escape(option)}{ends}", said) is not None


def _said(tokens: Alternative) -> str:
    """What it says literally; where a wildcard stands, a word ends."""
    return "".join(token if isinstance(token, str) else "\0" for token in tokens)


def _source(tokens: Alternative) -> str:
    """Everything that a star skips ends at the first place where the rest up to the next star fits."""
    chunks = [""]
    for token in tokens:
        if isinstance(token, Wild) and token.stars:
            chunks.append("")
        else:
            chunks[-1] += _one(token)
    first, *others = chunks
    if not others:
        return first
    middle = "".join(f"(?>.*?{chunk})" for chunk in others[:-1] if chunk)
    return first + middle + (rf"(?>.*{others[-1]}\Z)" if others[-1] else ".*+")


def _one(token: str | Wild) -> str:
    if isinstance(token, str):
        return re.escape(token)
    return "." if token == ANY else token.regex

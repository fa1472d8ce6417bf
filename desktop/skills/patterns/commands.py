"""Constraints on a shell command: each of its commands is compared by itself, as its words with single blanks between.

Here ``*`` and ``**`` stand for any text, also none, with slashes, blanks and leading dots, ``?`` for any one character:
the text has no folders. What separates commands is never part of the text, so no star reaches over it (R-PRM-11). In
paths, and in every other argument, ``*`` stays within one folder (see ``globs``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop.domain.safety import CallFacts
from desktop.domain.tools import CommandPart
from desktop.skills.patterns.syntax import ANY, Alternative, Wild, alternatives

ARGUMENT = "command"
"""The name of the argument that is a shell command, of the tools whose pre-check takes it apart."""


class CommandGlob:
    """A constraint on the command. ``literal`` is the one text that it fits, or empty."""

    __slots__ = ("_ways", "literal")

    def __init__(self, text: str) -> None:
        made = alternatives(text)
        self.literal = _literal(made)
        self._ways = () if self.literal else tuple((re.compile(_source(one), re.DOTALL), _said(one)) for one in made)

    def fits(self, text: str) -> bool:
        """Whether it fits the whole text."""
        return text == self.literal if self.literal else any(way.fullmatch(text) for way, _ in self._ways)

    def covers(self, part: CommandPart) -> bool:
        """Whether it may allow this command: nothing of it is hidden, it fits, and says what has to be said."""
        if part.hidden:
            return False
        if self.literal:
            return part.text == self.literal
        return any(
            way.fullmatch(part.text) and all(f" {option}" in said for option in part.said) for way, said in self._ways
        )

    def meets(self, part: CommandPart) -> bool:
        """Whether it asks about or denies this command, by any of its spellings."""
        return any(self.fits(text) for text in (part.text, *part.spellings) if text)


@lru_cache(maxsize=4096)
def command_glob(text: str) -> CommandGlob:
    """Ready for use. The text has been checked when its pattern was read."""
    return CommandGlob(text)


def line_of(facts: CallFacts) -> str:
    """The whole command of a call that was taken apart, else empty."""
    line = facts.arguments.get(ARGUMENT) if facts.parts else None
    return line.strip() if isinstance(line, str) else ""


def _literal(made: list[Alternative]) -> str:
    if len(made) != 1 or any(isinstance(token, Wild) for token in made[0]):
        return ""
    return "".join(token for token in made[0] if isinstance(token, str))


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

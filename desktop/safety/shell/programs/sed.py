"""Reads a sed program to its end: whether it starts programs or writes files (``e``, ``w``, ``W``, flags e and w).

Whatever is not understood counts as acting, so a program passes only when every command of it was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS, read_options
from desktop.safety.shell.syntax.words import Word

MAX_SED = 4_000
_LONG = {
    "--quiet": False,
    "--silent": False,
    "--debug": False,
    "--expression": True,
    "--file": True,
    "--follow-symlinks": False,
    "--in-place": False,
    "--line-length": True,
    "--null-data": False,
    "--posix": False,
    "--regexp-extended": False,
    "--separate": False,
    "--sandbox": False,
    "--unbuffered": False,
    "--zero-terminated": False,
    "--help": False,
    "--version": False,
}
_BARE = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("lLqQ")
_LABELLED = frozenset(":btT")
_FLAGS = frozenset("gpiImM0123456789")
_BRACKETS = re.compile(r"\[\^?\]?(?:\[[:.=][^\n]*?[:.=]\]|[^\]\n])*\]")


def acts(words: Sequence[Word]) -> bool:
    """Whether the program in sed's arguments may start something or write a file, or cannot be read."""
    found = read_options(words, SHORT_OPTIONS["sed"], _LONG)
    scripts = [value for name, value in found.options if name in ("-e", "--expression")]
    if not scripts and not any(name in ("-f", "--file") for name, _ in found.options):
        scripts = [word.text for word in found.operands[:1]]
    return any(script is None or len(script) > MAX_SED or not _SedProgram(script).harmless() for script in scripts)


class _Unread(Exception):
    """Something in the program that is not understood, or that acts."""


class _SedProgram:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def harmless(self) -> bool:
        """Whether all of it was read and nothing acts."""
        try:
            while self._skip(" \t\n;"):
                self._command()
        except _Unread:
            return False
        return True

    def _skip(self, marks: str) -> bool:
        """Skip these characters; whether any text is left."""
        while self._at < len(self._text) and self._text[self._at] in marks:
            self._at += 1
        return self._at < len(self._text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        found = self._peek()
        if not found:
            raise _Unread
        self._at += 1
        return found

    def _command(self) -> None:
        self._addresses()
        name = self._take()
        if name in _BARE or name == "}":
            self._end()
        elif name in _NUMBERED:
            self._skip(" \t0123456789")
            self._end()
        elif name in _LABELLED:
            self._label()
        elif name in "#r":
            self._rest_of_line()
        elif name in "aic":
            self._text_lines()
        elif name == "s":
            self._substitute()
        elif name == "y":
            mark = self._mark()
            self._until(mark, brackets=False)
            self._until(mark, brackets=False)
            self._end()
        elif name != "{":
            raise _Unread

    def _addresses(self) -> None:
        if self._address():
            self._skip(" \t")
            if self._peek() == ",":
                self._at += 1
                self._skip(" \t")
                if not self._address(second=True):
                    raise _Unread
        self._skip(" \t!")

    def _address(self, *, second: bool = False) -> bool:
        mark = self._peek()
        if (mark and mark in "0123456789") or (second and mark and mark in "+~"):
            self._at += 1
            self._skip("0123456789~")
            return True
        if mark == "$":
            self._at += 1
            return True
        if mark not in ("/", "\\"):
            return False
        self._at += 1
        self._until("/" if mark == "/" else self._mark())
        self._skip("IM")
        return True

    def _mark(self) -> str:
        mark = self._take()
        if mark in "\n\\":
            raise _Unread
        return mark

    def _until(self, mark: str, *, brackets: bool = True) -> None:
        """Over the text up to a delimiter. Programs differ on whether one within [ ] ends it, so there it is not
        understood."""
        while (found := self._take()) != mark:
            if found == "\\":
                self._take()
            elif found == "\n":
                raise _Unread
            elif brackets and found == "[":
                whole = _BRACKETS.match(self._text, self._at - 1)
                if whole is None or mark in whole[0]:
                    raise _Unread
                self._at = whole.end()

    def _substitute(self) -> None:
        mark = self._mark()
        if mark.isspace() and mark != " ":
            raise _Unread
        self._until(mark)
        self._until(mark, brackets=False)
        while self._peek() and self._peek() in _FLAGS:
            self._at += 1
        self._end()

    def _end(self) -> None:
        """What may follow a command."""
        self._skip(" \t\r")
        found = self._peek()
        if found and found not in "\n;}#":
            raise _Unread

    def _label(self) -> None:
        self._skip(" \t")
        while (found := self._peek()) and not found.isspace() and found not in ";}":
            self._at += 1
        self._end()

    def _rest_of_line(self) -> None:
        """A file's name or a comment."""
        while self._peek() not in ("", "\n"):
            self._at += 1

    def _text_lines(self) -> None:
        """The text of a, i and c: to the end of a line that no backslash continues."""
        while found := self._peek():
            self._at += 1
            if found == "\\":
                self._at += 1
            elif found == "\n":
                return

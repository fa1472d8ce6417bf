"""Reads the words of a JSONPath expression from left to right: white space, tokens, numbers and texts."""

from __future__ import annotations

import re
from typing import NoReturn

from desktop.skills.values.kinds import PathError

_LARGEST = 2**53 - 1
_BLANK = re.compile(r"[ \t\n\r]*")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}


class Scanner:
    """Reads from left to right; every method leaves ``at`` behind what it read."""

    def __init__(self, text: str, shift: int) -> None:
        self.text = text
        self.at = 0
        self._shift = shift

    def fail(self, what: str) -> NoReturn:
        """Raise for the place at hand."""
        column = max(1, self.at + 1 - self._shift)
        raise PathError(f"At column {column} of the path: {what}.", column=column)

    def blank(self) -> None:
        """Skip white space."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, token: str) -> bool:
        """Read ``token`` if it is next."""
        found = self.text.startswith(token, self.at)
        self.at += len(token) if found else 0
        return found

    def expect(self, token: str) -> None:
        """Read ``token`` or fail."""
        if not self.take(token):
            self.fail(f"{token!r} was expected")

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        """Read what the pattern matches or fail."""
        match = pattern.match(self.text, self.at)
        if match is None:
            self.fail(f"{what} was expected")
        self.at = match.end()
        return match.group()

    def peek(self, token: str) -> bool:
        """Whether ``token`` is next."""
        return self.text.startswith(token, self.at)

    def follows(self, token: str) -> bool:
        """Read ``token`` behind white space; without it nothing is read."""
        before = self.at
        self.blank()
        if self.take(token):
            return True
        self.at = before
        return False

    def integer(self) -> int | None:
        """A whole number if one is next."""
        match = _INTEGER.match(self.text, self.at)
        if match is None:
            return None
        value = int(match.group())
        if abs(value) > _LARGEST:
            self.fail("the number is too large")
        self.at = match.end()
        return value

    def number(self) -> int | float:
        """A number as JSON writes it."""
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            self.fail("a value, a path or a function was expected")
        self.at = match.end()
        return float(match.group()) if match[1] or match[2] else int(match.group())

    def string(self) -> str:
        """A text in single or double quotes."""
        quote = self.text[self.at]
        self.at += 1
        parts: list[str] = []
        while not self.take(quote):
            char = self.text[self.at : self.at + 1]
            if not char or char < " ":
                self.fail("the text in quotes is not closed")
            self.at += 1
            parts.append(self._escape(quote) if char == "\\" else char)
        return "".join(parts)

    def _escape(self, quote: str) -> str:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char == quote:
            return char
        if char == "u":
            return self._unicode()
        if char not in _ESCAPES:
            self.at -= 1
            self.fail("this is no escape")
        return _ESCAPES[char]

    def _unicode(self) -> str:
        first = int(self.match(_HEX, "four hexadecimal digits"), 16)
        if not 0xD800 <= first <= 0xDFFF:
            return chr(first)
        if first > 0xDBFF:
            self.fail("a low surrogate stands alone")
        self.expect("\\u")
        second = int(self.match(_HEX, "four hexadecimal digits"), 16)
        if not 0xDC00 <= second <= 0xDFFF:
            self.fail("a low surrogate was expected")
        return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))

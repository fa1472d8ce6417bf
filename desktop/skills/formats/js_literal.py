"""A value written out in JavaScript, read as text: strings, numbers, booleans, null, arrays and objects (R-SK-6).

No expressions, no calls, no names: each is a problem with its line and column. Comments, trailing commas, keys without
quotes and templates without ``${`` are fine.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from desktop.domain.text.places import FormatError, Keys
from desktop.skills.formats.code import MAX_DEPTH, MAX_VALUES, WrittenLiteral, json_problem

_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*)*")
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[oO][0-7]+|0[bB][01]+"
    r"|(?:(?:0|[1-9]\d*(?:_\d+)*)(?:\.\d*(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?"
)
_PLAIN = {'"': re.compile(r'[^"\\\n\r]*'), "'": re.compile(r"[^'\\\n\r]*"), "`": re.compile(r"[^`\\$]*")}
_ESCAPE = re.compile(r"\\(?:u\{0*([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ENDED = "the file ends inside of the frontmatter"
_WORDS = {"true": True, "false": False, "null": None}


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def skip_blank(text: str, at: int) -> int:
    """The offset after whitespace and comments. FormatError when a comment is not closed."""
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty text too
        if not text.startswith("/*", at):
            return at
        end = text.find("*/", at + 2)
        if end < 0:
            raise FormatError("this comment is not closed", *position(text, at), code="code.syntax")
        at = end + 2


def read_string(text: str, at: int) -> tuple[str, int]:
    """The text in the quotes that open at ``at``, and the offset after them."""
    opening, mark, parts = at, text[at], []
    at += 1
    while True:
        plain = _PLAIN[mark].match(text, at)
        assert plain is not None  # it matches the empty text too
        parts.append(plain[0])
        at = plain.end()
        if text.startswith(mark, at):
            return _paired("".join(parts)), at + 1
        if text.startswith("\\", at):
            piece, at = _escaped(text, at)
            parts.append(piece)
        elif mark == "`" and text.startswith("$", at) and not text.startswith("${", at):
            parts.append("$")
            at += 1
        elif mark == "`" and text.startswith("${", at):
            raise FormatError(
                "a template with ${…} is not worked out, because a skill is not run to be listed",
                *position(text, at),
                code="frontmatter.not-literal",
            )
        else:
            raise FormatError("this quote is not closed", *position(text, opening), code="code.syntax")


def _escaped(text: str, at: int) -> tuple[str, int]:
    match = _ESCAPE.match(text, at)
    if match is None or (match[4] is not None and match[4] in "uxU123456789"):
        raise FormatError("this escape cannot be read", *position(text, at), code="code.syntax")
    if match[4] is not None:
        return "" if match[4] in "\r\n\u2028\u2029" or match[4] == "\r\n" else _ESCAPES.get(
            match[4], match[4]
        ), match.end()
    code = int(match[1] or match[2] or match[3], 16)
    if code > 0x10FFFF:
        raise FormatError("there is no such character", *position(text, at), code="code.syntax")
    return chr(code), match.end()


def _paired(text: str) -> str:
    """Two escaped halves of a character are one character."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def read_literal(text: str, at: int) -> tuple[WrittenLiteral, int]:
    """The value that begins at ``at`` (or after blanks), and the offset after it. FormatError where it is none."""
    reader = _JsLiteralReader(text, at)
    value = reader.value((), 1)
    return WrittenLiteral(value, reader.marks, lambda offset: position(text, offset)), reader.at


class _JsLiteralReader:
    def __init__(self, text: str, at: int) -> None:
        self.at = at
        self.marks: dict[Keys, Any] = {}
        self._text = text
        self._values = 0

    def _fail(self, message: str, at: int | None = None, code: str = "frontmatter.not-literal") -> NoReturn:
        raise FormatError(message, *position(self._text, self.at if at is None else at), code=code)

    def _next(self) -> str:
        """The next character that counts, "" at the end."""
        self.at = skip_blank(self._text, self.at)
        return self._text[self.at : self.at + 1]

    def value(self, keys: Keys, depth: int) -> Any:
        first = self._next()
        start = self.at
        self.marks[keys] = start + (first in ("'", '"', "`"))
        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            self._fail("the frontmatter is nested too deep or too large", code="frontmatter.too-large")
        if first == "{":
            return self._object(keys, depth)
        if first == "[":
            return self._array(keys, depth)
        value = self._scalar(first)
        if problem := json_problem(value):
            self._fail(problem, start, "frontmatter.value")
        return value

    def _scalar(self, first: str) -> Any:
        if first in ('"', "'", "`"):
            value, self.at = read_string(self._text, self.at)
            return value
        if first in ("-", "+"):
            start = self.at
            self.at += 1
            if self._next() not in "0123456789.":
                self._fail("frontmatter has to be written out: no operations", start)
            return -self._number() if first == "-" else self._number()
        if first and first in "0123456789.":
            return self._number()
        name = _NAME.match(self._text, self.at)
        if name is not None and name[0] in _WORDS:
            self.at = name.end()
            return _WORDS[name[0]]
        shown = name[0][:40] if name is not None else first or "the end of the file"
        message = (
            f"frontmatter has to be written out: {shown} is not worked out, because a skill is not run to be listed"
        )
        return self._fail(message)

    def _number(self) -> int | float:
        match = _NUMBER.match(self._text, self.at)
        after = self._text[match.end() : match.end() + 1] if match is not None else ""
        if match is None or after.isalnum() or after in ("_", "$", "."):
            self._fail("this number cannot be read", code="frontmatter.value")
        text = match[0].replace("_", "")
        if len(text) > 400:
            self._fail("this number is too large", code="frontmatter.value")
        self.at = match.end()
        if text[:2].lower() in ("0x", "0o", "0b"):
            return int(text, 0)
        return float(text) if any(mark in text for mark in ".eE") else int(text)

    def _array(self, keys: Keys, depth: int) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while self._next() != "]":
            items.append(self.value((*keys, len(items)), depth + 1))
            self._separator("]")
        self.at += 1
        return items

    def _object(self, keys: Keys, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while self._next() != "}":
            start = self.at
            key = self._key()
            if key in found:
                self._fail(f"the key {key[:60]!r} is given twice", start, "frontmatter.duplicate-key")
            found[key] = self.value((*keys, key), depth + 1)
            self._separator("}")
        self.at += 1
        return found

    def _separator(self, closing: str) -> None:
        mark = self._next()
        if mark == ",":
            self.at += 1
        elif mark != closing:
            self._fail(f"an operation follows the value: expected a comma or {closing}" if mark else _ENDED)

    def _key(self) -> str:
        """A key and its colon."""
        start = self.at
        first = self._text[start : start + 1]
        if first and first in "\"'":
            key, self.at = read_string(self._text, start)
        elif (name := _NAME.match(self._text, start)) is not None:
            key, self.at = name[0], name.end()
        elif first.isdecimal():
            key = str(self._number())
        else:
            self._fail("a key has to be written out" if first else _ENDED, code="frontmatter.key")
        if key == "__proto__":
            self._fail("__proto__ is no key for data", start, "frontmatter.key")
        after = self.at
        if self._next() != ":":
            self._fail(f"{key[:40]} needs a colon and a value", after)
        self.at += 1
        if problem := json_problem(key):
            self._fail(problem, start, "frontmatter.key")
        return key

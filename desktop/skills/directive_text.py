"""A directive's head (name, label, attributes), and directives within text; lines are ``directive_syntax``'s."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

MAX_HEAD = 1_000
"""Characters of a label or of attributes."""

MAX_BRACKETS = 8
"""Brackets within brackets of a label: a bound on the work that a text full of them makes."""

Form = Literal["inline", "leaf", "block"]


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive as written."""

    form: Form
    """Inline, on a line of its own, or a block."""
    name: str
    """Its name."""
    arg: str
    """The text in brackets."""
    attrs: Mapping[str, str]
    """What stands in braces."""
    line: int
    """Counts from 1."""
    column: int
    """Counts from 1."""
    source: str
    """Its text; of a block the opening line."""
    body: tuple[Part, ...] = ()
    """A block's content."""
    tail: str = ""
    """A block's closing line."""


Part = str | Directive


# -- labels and attributes --------------------------------------------------------------------------------------------

_NAME = re.compile(r":([A-Za-z](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?)")
_ATTRIBUTE = re.compile(
    r"\s*(?:#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)"
    r"|(?P<key>[A-Za-z_][\w.-]*)(?:=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'=<>`{}]+)))?)(?=\s|$)"
)
_ATTRIBUTES = re.compile(r"\{((?:[^{}\"'\r\n]|\"[^\"\r\n]*\"|'[^'\r\n]*')*)\}")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LABEL = re.compile(r"\\[!-/:-@\[-`{-~]|[\[\]\r\n]|`+")


@dataclass(frozen=True, slots=True)
class DirectiveHead:
    """What follows the colons; ``end`` is where the text goes on."""

    name: str
    arg: str
    attrs: dict[str, str]
    end: int
    bare: bool


def head_at(text: str, at: int) -> DirectiveHead | None:
    """The name at the colon ``at`` and its label and attributes, or None."""
    name = _NAME.match(text, at)
    if name is None:
        return None
    end = after_name = name.end()
    label = _label(text, end) if text[end : end + 1] == "[" else None
    if label is not None:
        end += len(label) + 2
    attrs, end = _attributes(text, end)
    return DirectiveHead(name[1], _ESCAPED.sub(r"\1", label or ""), attrs, end, end == after_name)


def _label(text: str, at: int) -> str | None:
    """What stands between the bracket ``at`` and the one that closes it on the same line."""
    depth, skip = 0, at
    for match in _LABEL.finditer(text, at, at + MAX_HEAD):
        token = match.group()
        if match.start() < skip or token[0] == "\\":
            continue
        if token in "\r\n":
            return None
        if token[0] == "`":
            close = text.find(token, match.end(), at + MAX_HEAD)
            skip = match.end() if close < 0 else close + len(token)
        depth += (token == "[") - (token == "]")
        if depth in (0, MAX_BRACKETS + 1):
            return text[at + 1 : match.start()] if depth == 0 else None
    return None


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """The attributes in braces at ``at`` and where they end; nothing where there are none or they are none."""
    match = _ATTRIBUTES.match(text, at, at + MAX_HEAD)
    if match is None:
        return {}, at
    found: dict[str, str] = {}
    inner, place = match[1].strip(), 0
    while place < len(inner):
        item = _ATTRIBUTE.match(inner, place)
        if item is None:
            return {}, at
        _add(found, item)
        place = item.end()
    return found, match.end()


def _add(found: dict[str, str], item: re.Match[str]) -> None:
    if item["id"] is not None:
        found["id"] = item["id"]
    elif item["class"] is not None:
        found["class"] = f"{found['class']} {item['class']}" if "class" in found else item["class"]
    else:
        found[item["key"]] = next((text for text in item.group("double", "single", "bare") if text is not None), "")


# -- within text ------------------------------------------------------------------------------------------------------

_STOP = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--|:(?=[A-Za-z])")
_RUNS = re.compile(r"`+")


def _after_word(text: str, at: int) -> bool:
    """Whether a letter or digit of a script that puts spaces between words, or a colon, stands before ``at``."""
    before = text[at - 1] if at else " "
    return before == ":" or (before.isalnum() and before < "\u2e80")


class InlineText:
    """A run of lines without blocks in it: code spans and comments are passed over."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._starts = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
        self._first_line = first_line
        self._runs: dict[int, list[int]] = {}
        for match in _RUNS.finditer(text):
            self._runs.setdefault(len(match.group()), []).append(match.start())
        self._last_comment = text.rfind("-->")

    def parts(self) -> list[Part]:
        """Text and inline directives in order."""
        found: list[Part] = []
        done = at = 0
        while (match := _STOP.search(self._text, at)) is not None:
            start, at = match.start(), match.end()
            token = match.group()
            if token == ":":
                head = None if _after_word(self._text, start) else head_at(self._text, start)
                if head is not None and not head.bare:
                    found += [self._text[done:start], self._directive(head, start)]
                    done = at = head.end
            elif token == "\\:" and self._is_directive(start + 1):
                found.append(self._text[done:start])
                done = start + 1
            elif token[0] != "\\":
                at = self._passed(token, start, at)
        return [*found, self._text[done:]]

    def _is_directive(self, at: int) -> bool:
        head = head_at(self._text, at)
        return head is not None and not head.bare

    def _passed(self, token: str, start: int, end: int) -> int:
        """Where a code span or comment ends; just behind its opening where it has no end."""
        if token[0] == "`":
            runs = self._runs.get(len(token), [])
            place = bisect_left(runs, end)
            return runs[place] + len(token) if place < len(runs) else end
        return self._text.index("-->", end) + 3 if end <= self._last_comment else end

    def _directive(self, head: DirectiveHead, start: int) -> Directive:
        row = bisect_left(self._starts, start + 1)
        column = start - (self._starts[row - 1] if row else 0) + 1
        source = self._text[start : head.end]
        return Directive("inline", head.name, head.arg, head.attrs, self._first_line + row, column, source)

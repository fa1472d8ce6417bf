"""Patterns and small text helpers of the Markdown splitter: indentation in columns, cut points, link definitions."""

from __future__ import annotations

import re
import unicodedata

ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
SETEXT = re.compile(r"(=+|-+)[ \t]*$")
FENCE = re.compile(r"(`{3,})[ \t]*([^`]*)$|(~{3,})[ \t]*(.*)$")
BULLET = re.compile(r"([-+*])(?=[ \t]|$)")
ORDERED = re.compile(r"(\d{1,9})([.)])(?=[ \t]|$)")
FOOTNOTE = re.compile(r"\[\^([^\s\]\[^]{1,40})\]:(?=[ \t]|$)")
ESCAPED_BRACKET = re.compile(r"[^\[\]\\]*\]")
"""What follows ``\\[`` where that is an escaped bracket, as in ``\\[foo]``, and no formula."""
TASK = re.compile(r"\[([ xX])\](?:[ \t]+|$)")
DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
UNDECIDED = re.compile(r"[\s>]*(?:[-+*_=~`#|:$\\]+[\s\[]*|\d{1,9}[.)]?\s*)$")
"""A line that so far could be a marker, a rule, an underline or a fence: not shown before its next character."""

_DEFINITION = re.compile(
    r" {0,3}\[((?:[^\[\]\\]|\\.){1,999})\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<]\S*)"
    r"(?:(?:[ \t]+|[ \t]*\n[ \t]*)(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?:\n|$)",
    re.DOTALL,
)
_DEFINITION_BARE = re.compile(
    r" {0,3}\[((?:[^\[\]\\]|\\.){1,999})\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<]\S*)[ \t]*(?:\n|$)", re.DOTALL
)
_WHOLE_SPANS = re.compile(r"\\.|(`+)(?!`).+?(?<!`)\1(?!`)|!?\[[^\]\n]*\]\([^)\n]*\)|<[^>\s]+>|\$[^$\n]+\$", re.DOTALL)
_CARRIED = ("**", "~~", "*")


def indent_of(line: str, column: int = 0) -> int:
    """Columns of white space at the start of what begins at ``column``; a tab reaches the next multiple of four."""
    at = column
    for character in line:
        if character == " ":
            at += 1
        elif character == "\t":
            at += 4 - at % 4
        else:
            break
    return at - column


def strip_columns(line: str, columns: int, column: int = 0) -> str:
    """Without up to ``columns`` columns of leading white space; a tab cut in two leaves spaces."""
    at, end = column, column + columns
    for index, character in enumerate(line):
        if at >= end:
            return " " * (at - end) + line[index:]
        if character == " ":
            at += 1
        elif character == "\t":
            at += 4 - at % 4
        else:
            return line[index:]
    return " " * max(0, at - end)


def cells_of(line: str) -> list[str]:
    """The cells of a table's row; a pipe counts unless it is escaped."""
    text = line.strip()
    if text.startswith("|"):
        text = text[1:]
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", text)]


def alignments(delimiter: str) -> str:
    """One letter a column: ``l``, ``r``, ``c`` or ``-`` where the table does not say."""
    found = ""
    for cell in cells_of(delimiter):
        left, right = cell.startswith(":"), cell.endswith(":")
        found += "c" if left and right else "r" if right else "l" if left else "-"
    return found


def take_definitions(text: str, into: dict[str, str], *, complete: bool) -> str:
    """Moves link definitions from the start of a paragraph to ``into`` (label -> the definition's source).

    ``complete`` False takes only definitions that another line follows, because the last may still grow.
    """
    while text.startswith(("[", " ")):
        match = _DEFINITION.match(text) or _DEFINITION_BARE.match(text)
        if match is None or not match[1].strip() or (not complete and match.end() == len(text)):
            return text
        label = normal_label(match[1])
        into.setdefault(label, match[0].strip())
        text = text[match.end() :]
    return text


def normal_label(label: str) -> str:
    """Labels match without case and with white space collapsed."""
    return " ".join(label.split()).casefold()


def split_paragraph(text: str, limit: int) -> tuple[str, str, str]:
    """(head, glue, rest): cut before ``limit``, outside code spans and links where that is possible.

    Emphasis that is open at the cut is closed in the head and opened again in the rest.
    """
    window = text[:limit]
    whole = [match.span() for match in _WHOLE_SPANS.finditer(text[: limit + 200]) if match.end() - match.start() > 2]
    at = _last_gap(window, whole, limit // 2)
    if at is None:
        at = _between_clusters(text, limit)
        head, glue, rest = text[:at], "", text[at:]
    else:
        head, glue, rest = text[:at], " ", text[at + 1 :].lstrip()
    carried = _open_emphasis(head)
    return head + "".join(reversed(carried)), glue, "".join(carried) + rest


def _last_gap(window: str, whole: list[tuple[int, int]], lowest: int) -> int | None:
    for at in range(len(window) - 1, lowest, -1):
        if window[at] in " \n" and not any(start < at < end for start, end in whole):
            hard_break = window[at] == "\n" and (window[at - 1] in "\\ ")
            if not hard_break:
                return at
    return None


def _between_clusters(text: str, at: int) -> int:
    joiners = "\u200d\ufe0f\ufe0e"
    for candidate in range(at, at - 40, -1):
        here, before = text[candidate], text[candidate - 1]
        if not (unicodedata.combining(here) or here in joiners or before in joiners or before in "\\`*~_"):
            return candidate
    return at


def _open_emphasis(head: str) -> list[str]:
    bare = _WHOLE_SPANS.sub("", head)
    found = []
    for mark in _CARRIED:
        if bare.count(mark) % 2:
            found.append(mark)
        bare = bare.replace(mark, "")
    return found

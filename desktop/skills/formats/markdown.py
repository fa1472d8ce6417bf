"""The sections of a markdown skill file: frontmatter between ``---`` lines, then a body (R-SK-1, Q-1).

Further sections of a ``*.skill.md`` begin at a ``---`` line at column 0, outside of a fenced code block, whose
frontmatter begins with a key and has a ``name``; any other ``---`` is a rule or a heading of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from desktop.domain.text.places import FormatError

MAX_HEAD = 64_000
"""Characters of frontmatter; more is a load problem."""
MAX_SECTIONS = 1_000
MAX_MARKED = 5_000
"""Lines of a body that are looked at as code fences or as the beginning of a section."""
_MARKED = re.compile(r"^(?: {0,3}(`{3,}|~{3,})([^\n]*)|---[ \t]*\r?)$", re.MULTILINE)
_NAMED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[\w$\"'.-]+ *:(?:[ \t\r]|\Z)")
_NAME_LINE = re.compile(r"^([\"']?)name\1 *:", re.MULTILINE)


class SkillSection(NamedTuple):
    """``first_line`` is the head's first line in the file, from 1; the body is ``text[body_at:body_end]``."""

    head: str
    first_line: int
    body_at: int
    body_end: int = -1


def first_section(text: str) -> SkillSection:
    """The frontmatter that a skill file has to begin with. FormatError where the fences are missing."""
    start = 1 if text[:1] == "\ufeff" else 0
    at = text.find("\n", start) + 1
    if text[start : at or len(text)].rstrip() != "---":
        raise FormatError("the file does not begin with a line ---", 1, code="frontmatter.missing")
    close = _closing(text, at) if at else -1
    if close < 0 and len(text) - at > MAX_HEAD:
        raise FormatError(f"the frontmatter is longer than {MAX_HEAD} characters", 1, code="frontmatter.too-large")
    if close < 0:
        last = text.count("\n") + (not text.endswith("\n"))
        raise FormatError("the frontmatter is not closed by a line ---", last, code="frontmatter.open")
    return SkillSection(text[at:close], 2, _line_end(text, close))


def _line_end(text: str, at: int) -> int:
    """The offset after the line that ``at`` is in."""
    return text.find("\n", at) + 1 or len(text)


def _closing(text: str, at: int) -> int:
    """The offset of the next ``---`` line from ``at``, which begins a line; -1 when there is none near enough."""
    limit = min(len(text), at + MAX_HEAD + 4)
    found = at - 1
    while (found := text.find("\n---", found, limit)) >= 0:
        if not text[found + 4 : _line_end(text, found + 1)].strip():
            return found + 1
        found += 1
    return -1


def sections(text: str) -> list[SkillSection]:
    """All sections of a file that may hold several skills."""
    first = first_section(text)
    if text.find("\n---", first.body_at - 1) < 0:
        return [first]
    found = [first]
    for start, section in _further(text, first.body_at):
        last = found[-1]
        found[-1] = SkillSection(last.head, last.first_line, last.body_at, start)
        found.append(section)
        if len(found) > MAX_SECTIONS:
            raise FormatError(f"the file holds more than {MAX_SECTIONS} skills", section.first_line, code="file.skills")
    return found


def _further(text: str, at: int) -> Iterator[tuple[int, SkillSection]]:
    """(where it begins, section) for each further one in the body from ``at``."""
    fence = ""
    for number, match in enumerate(_MARKED.finditer(text, at)):
        if number == MAX_MARKED:
            return
        if match.start() < at:
            continue  # in the frontmatter just found
        if match[1] is not None:
            fence = _fence_after(fence, match[1], match[2])
        elif not fence:
            end = _line_end(text, match.start())
            close = _closing(text, end)
            if close > 0 and _has_name(text[end:close]):
                section = SkillSection(text[end:close], text.count("\n", 0, end) + 1, _line_end(text, close))
                yield match.start(), section
                at = section.body_at


def _fence_after(fence: str, marks: str, rest: str) -> str:
    """The code fence that is open after a line of fence marks."""
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    return "" if marks.startswith(fence) and not rest.strip() else fence


def _has_name(head: str) -> bool:
    return _NAME_LINE.search(head) is not None and _NAMED.match(head) is not None

"""The chain of the activity log: what is hashed, how a line hangs on the one before it, and how that is checked.

A line's content is JSON in one canonical form. Its link is ``sha256(previous link + sha256(content))``, everything as
lower-case hex, beginning with ``FIRST``. So a link vouches for every line up to its own, and a line that is left out
(by a filter) need only be stood for by the hash of its content. The form never changes: old lines must stay provable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass

FIRST = "0" * 64
EXPORT_FORMAT = "assent activity log, 1"
"""The first line of an exported file names it."""

MAX_FINDINGS = 200
"""Findings that are kept one by one; all are counted."""

Damage = Literal["altered", "missing", "cut", "unanchored", "unguarded"]
"""``altered``: a line does not follow from the one before it. ``missing``: numbers are left out. ``cut``: the end is
missing, or another one than was last written. ``unanchored``: the file that keeps the end was gone or unreadable.
``unguarded``: the database no longer refused changes."""


def canonical(content: Mapping[str, Any]) -> str:
    """The one way to write a content down. Raises ValueError for numbers that JSON does not know."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(line: str) -> str:
    """The hash of a content in its canonical form."""
    return hashlib.sha256(line.encode()).hexdigest()


def link(previous: str, content_hash: str) -> str:
    """The link of the line with this content after the line with that link."""
    return hashlib.sha256((previous + content_hash).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The last line of the chain: its number (0: there is none) and its link."""

    number: int = 0
    link: str = FIRST


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written. ``first`` to ``last`` are line numbers; ``after`` and ``before`` the
    times (seconds since the epoch, or None) between which the lines were written that it concerns."""

    damage: Damage
    first: int
    last: int
    after: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a check found. ``lines`` were looked at, up to ``head``; ``adopted`` of them were written before there was
    a chain. ``findings`` holds at most ``MAX_FINDINGS``, ``damaged`` counts all."""

    lines: int
    head: ChainEnd
    findings: tuple[Finding, ...] = ()
    damaged: int = 0
    adopted: int = 0
    cancelled: bool = False

    @property
    def whole(self) -> bool:
        """Nothing was found, and everything was looked at."""
        return not self.damaged and not self.cancelled


class ChainWalker:
    """Follows a chain line by line and collects what does not fit. Works on what it is given, reads nothing."""

    def __init__(self) -> None:
        self.head = ChainEnd()
        self.lines = 0
        self.damaged = 0
        self._findings: list[Finding] = []
        self._at: float | None = None

    @property
    def at(self) -> float | None:
        """When the last line was written that said so."""
        return self._at

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings so far, in the order of the lines."""
        return tuple(self._findings)

    def step(self, number: int, content_hash: str, claimed: str, at: float | None) -> None:
        """Check the next line: its number, the hash of its content, the link that stands beside it, and its time."""
        expected = self.head.number + 1
        if number > expected:
            self.report(Finding("missing", expected, number - 1, self._at, at))
        elif number < expected or link(self.head.link, content_hash) != claimed:
            self.report(Finding("altered", number, number, self._at, at))
        self.head = ChainEnd(number, claimed)
        self.lines += 1
        self._at = self._at if at is None else at

    def report(self, finding: Finding) -> None:
        """Add a finding; neighbouring lines with the same damage become one finding."""
        last = self._findings[-1] if self._findings else None
        self.damaged += finding.last - finding.first + 1
        if last is not None and last.damage == finding.damage == "altered" and last.last + 1 == finding.first:
            self._findings[-1] = Finding("altered", last.first, finding.last, last.after, finding.before)
        elif len(self._findings) < MAX_FINDINGS:
            self._findings.append(finding)

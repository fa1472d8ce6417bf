"""What trying a path came to, in words, beside what the boundary says."""

from __future__ import annotations

from typing import Literal

from desktop.domain.approval.reach import Agreement, ProofLine, Way
from desktop.domain.safety import PathVerdict
from desktop.safety.boundary.reach import Attempt, Attempts

_REASONS = {
    "ENOENT": "nothing is there",
    "ETXTBSY": "it is running",
    "ENOSPC": "the disk is full",
    "special": "no file",
}
_LIMIT = "Commands can read whatever is neither denied nor Assent's own, also outside the allowed folders."
_UNCONFINED = "Nothing confines commands on this computer: they can do what you can."
_BUG = "The boundary refuses it, and yet it was opened. This is a mistake of Assent: please report it."
_STRICTER = "Less can be done than the lists allow: the system's own permissions or the confinement refuse it."


def lines_of(
    way: Way, tried: Attempts, read: PathVerdict, write: PathVerdict, kind: str
) -> tuple[ProofLine, ProofLine]:
    """Reading and writing in one way. ``kind``: what confines commands here."""
    return _line(way, "read", tried.read, read, kind), _line(way, "write", tried.write, write, kind)


def _line(way: Way, access: Literal["read", "write"], tried: Attempt, verdict: PathVerdict, kind: str) -> ProofLine:
    words = words_of(way, tried, kind)
    if tried.outcome == "untried":
        return ProofLine(way, access, "untried", words, "unknown")
    opened = tried.outcome == "opened"
    agrees: Agreement = "yes"
    note = ""
    if opened and not verdict.allowed:
        agrees, note = _too_open(way, access, verdict, kind)
    elif not opened and verdict.allowed:
        agrees, note = "stricter", tried.sentence or _STRICTER
    return ProofLine(way, access, "opened" if opened else "refused", words, agrees, note)


def _too_open(way: Way, access: str, verdict: PathVerdict, kind: str) -> tuple[Agreement, str]:
    """The disagreement where a path could be opened though the lists say no."""
    if way == "command" and kind == "none":
        return "unconfined", _UNCONFINED
    if way == "command" and access == "read" and verdict.rule == "outside":
        return "limit", _LIMIT
    return "bug", _BUG


def words_of(way: Way, tried: Attempt, kind: str) -> str:
    """The outcome of an attempt in words."""
    if tried.outcome == "opened":
        return "opened"
    if tried.outcome == "untried":
        return f"not tried: {_REASONS.get(tried.code, tried.code) or tried.sentence}"
    if tried.code == "Assent":
        return "refused by Assent"
    by = "the system" if kind == "none" or way == "file tool" else "the kernel"
    return f"refused by {by} ({'hidden' if tried.outcome == 'hidden' else tried.code or 'error'})"


def summary_of(lines: tuple[ProofLine, ...]) -> str:
    """In a few words: commands first, the file tools where they ended otherwise."""
    commands = _pair(*(line.words for line in lines if line.way == "command"))
    files = _pair(*(line.words for line in lines if line.way == "file tool"))
    return commands if commands == files else f"commands: {commands}; file tools: {files}"


def _pair(reading: str, writing: str) -> str:
    return f"both {reading}" if reading == writing else f"reading {reading}, writing {writing}"

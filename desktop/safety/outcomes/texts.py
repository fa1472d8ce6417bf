"""The texts of changed files, for a person: read within bounds, counted line by line."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable

from desktop.domain.files.changes import FileChange
from desktop.domain.files.outcomes import ChangeSides, LineFigures
from desktop.domain.text.words import size_words
from desktop.systems import open_flags

MAX_TEXT = 400_000
MAX_KEPT = 8_000_000
"""Characters of real files that are kept while a request is open, to show what somebody else changed."""
MAX_READ, MAX_SECONDS = 40_000_000, 1.5
"""Bytes and time that counting takes at most."""


class NotShown(Exception):
    """Why a file is not shown, as the end of a sentence."""


def sides_of(change: FileChange, source: Callable[[str], str]) -> ChangeSides:
    """Both texts of a change; ``source`` says where a digest lies in the copy. Blocks."""
    try:
        return ChangeSides(_before(change), _after(change, source))
    except NotShown as why:
        return ChangeSides(why=str(why))


def figures_of(
    changes: Iterable[FileChange], source: Callable[[str], str], kept: dict[str, str]
) -> tuple[dict[str, LineFigures], bool]:
    """The lines of all texts among the changes, and whether there was too much for that. Blocks. ``kept`` gets the
    texts of real files by path, as long as they are few."""
    found: dict[str, LineFigures] = {}
    until, left, room = time.monotonic() + MAX_SECONDS, MAX_READ, MAX_KEPT
    for change in changes:
        if "file" not in (change.before.kind, change.after.kind):
            continue
        left -= change.before.size + change.after.size
        if left < 0 or time.monotonic() > until:
            return found, True
        sides = sides_of(change, source)
        if not sides.why:
            found[change.path] = line_figures(sides.before, sides.after)
            room -= len(sides.before)
            if change.before.kind == "file" and room > 0:
                kept.setdefault(change.path, sides.before)
    return found, False


def line_figures(before: str, after: str) -> LineFigures:
    """Lines that are only in one of the two, each as often as it is there: what was only moved does not count."""
    if not before or not after:
        return LineFigures(len(after.splitlines()), len(before.splitlines()))
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return LineFigures((new - old).total(), (old - new).total())


def _before(change: FileChange) -> str:
    return _text(change.path, change.before.size) if change.before.kind == "file" else _other(change.before.target)


def _after(change: FileChange, source: Callable[[str], str]) -> str:
    if change.after.kind != "file":
        return _other(change.after.target)
    if change.before.digest == change.after.digest and change.before.kind == "file":
        return _text(change.path, change.before.size)
    return _text(source(change.after.digest), change.after.size)


def _other(target: str) -> str:
    return f"→ {target}\n" if target else ""


def _text(path: str, size: int) -> str:
    """A file's text. Raises NotShown."""
    if size > MAX_TEXT:
        raise NotShown(f"has {size_words(size)}")
    try:
        handle = os.open(path, os.O_RDONLY | open_flags.NOFOLLOW | open_flags.CLOEXEC | open_flags.NONBLOCK)
    except OSError:
        raise NotShown("cannot be read") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotShown("is no file any more")
        data = b""
        while len(data) <= MAX_TEXT and (piece := os.read(handle, MAX_TEXT + 1 - len(data))):
            data += piece
    except OSError:
        raise NotShown("cannot be read") from None
    finally:
        os.close(handle)
    if len(data) > MAX_TEXT:
        raise NotShown(f"has more than {size_words(MAX_TEXT)}")
    if b"\0" in data:
        raise NotShown("is not text")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotShown("is not UTF-8 text") from None

"""The last errors of the log, as places in the code: nothing of what was said in them is taken over.

A message may hold anything: a name, a path, a piece of a chat. So each word that is passed on is looked up in the
code: the module and line that logged, the words of the message as they stand there (with ``%s`` where something was put
in), the types of errors, the functions of a traceback. What the code does not have is left out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path

MOST = 12
"""Errors that a report has, the last ones."""
MAX_FRAMES = 12
TAIL = 512_000
"""Bytes of a log that are looked at, from its end."""
_TAIL_FILES = 2

_ENTRY = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3} (WARNING|ERROR|CRITICAL) ([\w.]{1,120}):(\d{1,6}): (.*)")
_FRAME = re.compile(r'\s*File "([^"\n]{1,400})", line (\d{1,6}),? in (\w{1,80}|<\w{1,20}>)$')
_RAISED = re.compile(r"\s*(?:[A-Za-z_]\w{0,40}\.){0,6}([A-Za-z_]\w{0,80})(?=:|$)")
_CODE = re.compile(r"\b[a-z_]{2,40}(?:\.[a-z_]{2,40}){1,3}\b")
_CODE_SET = re.compile(r"""\bcode ?= ?["']([a-z_.]{3,80})["']""")
_LOGGING = frozenset({"warning", "error", "exception", "critical", "log"})
_IN_ALL = frozenset({"<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"})

Entry = tuple[str, str, str, int, list[str]]
"""Of the log: when, level, logger, line, text line by line."""


class KnownCode:
    """What the code of this installation has. ``root`` is the folder that holds ``desktop/``."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._source = lru_cache(maxsize=64)(self._read)

    def place_of(self, logger_name: str, line: int) -> tuple[str, str]:
        """("desktop/store/worker.py:120", the words logged there); of code that is not ours, neither."""
        path = self._module(logger_name)
        if not path:
            return "", ""
        return f"{path}:{line}", self._words_at(path, line)

    def frame(self, file: str, line: int, function: str) -> str:
        """One line of a traceback, where it is in our own code; else ""."""
        at = file.replace("\\", "/").rfind("/desktop/")
        path = file.replace("\\", "/")[at + 1 :] if at >= 0 else ""
        source = self._source(path) if path else ""
        known = function in _IN_ALL or re.search(rf"\bdef {re.escape(function)}\b", source) is not None
        return f"{path}:{line} in {function}" if source and known and line <= source.count("\n") + 1 else ""

    def error(self, name: str) -> str:
        """The name of a type of error that the code knows; else ""."""
        return name if name in self._errors else ""

    def codes_in(self, text: str) -> tuple[str, ...]:
        """The codes of known errors that a message names."""
        return tuple(dict.fromkeys(one for one in _CODE.findall(text[:2_000]) if one in self._codes))

    @cached_property
    def _errors(self) -> frozenset[str]:
        return frozenset(_names_of_errors(BaseException))

    @cached_property
    def _codes(self) -> frozenset[str]:
        files = (self._root / "desktop").rglob("*.py")
        return frozenset(code for file in files for code in _CODE_SET.findall(_text(file)) if "." in code)

    def _module(self, logger_name: str) -> str:
        parts = logger_name.split(".")
        if parts[0] != "desktop" or not all(part.isidentifier() for part in parts):
            return ""
        paths = ("/".join(parts) + ".py", "/".join((*parts, "__init__.py")))
        return next((path for path in paths if self._source(path)), "")

    def _read(self, path: str) -> str:
        parts = path.split("/")
        if not all(re.fullmatch(r"\w+(?:\.py)?", part) for part in parts) or parts[0] != "desktop":
            return ""
        return _text(self._root / path)

    def _words_at(self, path: str, line: int) -> str:
        try:
            tree = ast.parse(self._source(path))
        except (SyntaxError, ValueError):
            return ""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0):
                words = _words_of(node)
                if words:
                    return words
        return ""


def _words_of(call: ast.Call) -> str:
    """The words that a call of a logger has in the source, or ""."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOGGING:
        return ""
    texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return texts[0] if texts and re.sub(r"%\w|\W", "", texts[0]) else ""


def _names_of_errors(kind: type[BaseException]) -> Iterator[str]:
    if getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:  # of the code, and not made up
        yield kind.__name__
    for below in type.__subclasses__(kind):
        yield from _names_of_errors(below)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def last_errors(logs: Path, code: KnownCode) -> tuple[str, ...]:
    """What went wrong last, a text each, the newest last; like ones in a row are one with a count. Blocks."""
    found = [_told(one, code) for one in _entries(_lines(logs))]
    told: list[str] = []
    for (what, _), same in groupby(found, key=lambda one: (one[1], one[2])):
        times = list(same)
        again = f" ({len(times)} times)" if len(times) > 1 else ""
        told.append(f"{times[-1][0]} {what}{again}" + "".join(f"\n    {line}" for line in times[-1][2]))
    return tuple(told[-MOST:])


def _told(entry: Entry, code: KnownCode) -> tuple[str, str, tuple[str, ...]]:
    """(when, what, the lines of its traceback)."""
    when, level, name, line, rest = entry
    place, words = code.place_of(name, line)
    what = f"{level.lower()} in {place or 'a library'}" + (f": {words}" if words else "")
    named = code.codes_in(rest[0])
    if named:
        what += f" [{', '.join(named)}]"
    frames: list[str] = []
    for text in rest[1:]:
        match, raised = _FRAME.match(text), _RAISED.match(text)
        if match:
            frames.append(code.frame(match[1], int(match[2]), match[3]))
        elif raised:
            frames.append(code.error(raised[1]))
    shown = [one for one in frames if one]
    return when, what, tuple(shown[-MAX_FRAMES:])


def _entries(lines: Iterable[str]) -> Iterator[Entry]:
    """What is at least a warning."""
    now: Entry | None = None
    for line in lines:
        begins = not line.startswith("    ")
        if begins and now is not None:
            yield now
            now = None
        match = _ENTRY.match(line) if begins else None
        if match:
            now = (match[1], match[2], match[3], int(match[4]), [match[5]])
        elif now is not None and len(now[4]) < 400:
            now[4].append(line)
    if now is not None:
        yield now


def _lines(logs: Path) -> list[str]:
    """The end of the log, across its last change of files."""
    lines: list[str] = []
    for file in (logs / "assent.log", logs / "assent.log.1")[:_TAIL_FILES]:
        try:
            with file.open("rb") as opened:
                size = opened.seek(0, 2)
                opened.seek(max(0, size - TAIL))
                text = opened.read(TAIL).decode("utf-8", "replace")
        except OSError:
            continue
        lines[:0] = text.splitlines()
    return lines

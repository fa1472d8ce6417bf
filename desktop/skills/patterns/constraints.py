"""Constraints on arguments: what a call's values must be for a pattern to hold (R-PAT-4, 8, 10, 11, 17).

Each constraint is asked in one of two ways. To *allow*, the argument must be there and all of it must fit. To *deny*,
any part of it that fits is enough: ``delete(paths=/etc/*,$deny)`` must not be got round by a second, harmless path.
What cannot be read never allows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from desktop.skills.patterns.globs import Glob, compile_glob
from desktop.skills.patterns.grammar import Constraint, parse_pattern
from desktop.skills.patterns.paths import PathKind, Where, is_path_name, normal_path, path_glob, path_kind
from desktop.skills.patterns.syntax import PatternError

LISTS = ("allowedTools", "allowed-tools", "allowed_tools")
"""The spellings of an argument that is itself a pattern list; any stands for each other."""

MAX_NESTING = 8
MAX_BITS = 4_096
_MISSING = object()
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_WILDCARDS = re.compile(r"[*?]+")


class ConstraintCheck:
    """A constraint ready for use; its globs are compiled at the first call that needs them."""

    __slots__ = ("_compiled", "_named", "_path_glob", "_where", "glob_text", "is_list", "name", "text")

    def __init__(self, constraint: Constraint, where: Where) -> None:
        self.name = constraint.name
        self.text = f"{constraint.name}={constraint.glob}"
        self.glob_text = constraint.glob
        self._compiled: Glob | None = None
        self.is_list = constraint.name in LISTS
        self._named = is_path_name(constraint.name)
        self._path_glob: Glob | None = None
        self._where = where

    @property
    def is_literal(self) -> bool:
        """Whether there is no wildcard in it."""
        return not set("*?[{") & set(_ESCAPED.sub("", self.glob_text))

    @property
    def letters(self) -> int:
        """How many characters the constraint spells out, without its wildcards."""
        return len(_WILDCARDS.sub("", self.glob_text))

    def allows(self, arguments: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
        """Whether the argument is there and all of it fits (R-PAT-8)."""
        return self._judge(arguments, params, all)

    def denies(self, arguments: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
        """Whether any part of the argument fits."""
        return self._judge(arguments, params, any)

    def _judge(
        self, arguments: Mapping[str, Any], params: Mapping[str, Any], enough: Callable[[Iterator[bool]], bool]
    ) -> bool:
        value = self._value(arguments)
        parts = None if value is _MISSING else _parts(value)
        if not parts:
            return False
        if self.is_list:
            return self._judge_list(parts, enough)
        return enough(self._fits(part, params, enough) for part in parts)

    @property
    def _glob(self) -> Glob:
        if self._compiled is None:
            self._compiled = compile_glob(self.glob_text)
        return self._compiled

    def _value(self, arguments: Mapping[str, Any]) -> object:
        if self.is_list:
            return next((arguments[name] for name in LISTS if name in arguments), _MISSING)
        return lookup(arguments, self.name)

    def _fits(self, part: str | None, params: Mapping[str, Any], enough: Callable[[Iterator[bool]], bool]) -> bool:
        if part is None:
            return False
        kind = path_kind(self.name, self._named, part, params)
        if kind is PathKind.NO:
            return self._glob.matches(part)
        if kind is PathKind.YES and enough is all:
            return self._fits_path(part)
        return enough(fits(part) for fits in (self._fits_path, self._glob.matches))

    def _fits_path(self, part: str) -> bool:
        if self._path_glob is None:
            self._path_glob = path_glob(self.glob_text, self._where)
        path = normal_path(part, self._where)
        return path is not None and self._path_glob.matches(path)

    def _judge_list(self, parts: list[str | None], enough: Callable[[Iterator[bool]], bool]) -> bool:
        tokens: list[str | None] = []
        for part in parts:
            tokens += [None] if part is None else part.split()
        one = covers if enough is all else touches
        return bool(tokens) and enough(token is not None and one(self._glob, token) for token in tokens)


def covers(glob: Glob, token: str) -> bool:
    """Whether every tool that ``token``, an entry of a list, can stand for fits ``glob``.

    A token with wildcards is not just a text: ``file-*`` as text fits ``file-?``, as a pattern it stands for more.
    """
    if token == glob.text or glob.text in {"*", "**"}:
        return True
    if not set(token) & set("*?[]{}\\#()"):
        return glob.matches(token)
    prefix, star, rest = glob.text.partition("*")
    plain = bool(star) and rest in {"", "*"} and not set(prefix) & set("?[]{}\\")
    return plain and bool(prefix) and token.startswith(prefix) and not set(token) & set("{}()\\#")


def touches(glob: Glob, token: str) -> bool:
    """Whether ``token``, an entry of a list, could stand for a tool that ``glob`` names; in doubt it does."""
    if glob.matches(token):
        return True
    try:
        selector = parse_pattern(token).selector
        wanted = compile_glob(selector.text)
    except PatternError:
        return True
    if selector.kind == "tag":
        return True
    if wanted.is_literal:
        return False
    return wanted.matches(glob.literal) if glob.is_literal else True


def lookup(arguments: Mapping[str, Any], name: str) -> object:
    """The argument ``name``, or what the dotted path leads to through objects and arrays; else a marker for missing."""
    if name in arguments:
        return arguments[name]
    value: object = arguments
    for key in name.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list | tuple) and key.isascii() and key.isdigit() and len(key) < 9:
            value = value[int(key)] if int(key) < len(value) else _MISSING
        else:
            return _MISSING
    return value


def texts_of(arguments: Mapping[str, Any], name: str) -> list[str]:
    """The texts that a constraint on an argument is compared with."""
    value = lookup(arguments, name)
    return [] if value is _MISSING else [part for part in _parts(value) if part is not None]


def address_spellings(text: str) -> set[str]:
    """An address as it is written, and with what is encoded in it written out; nothing for other texts."""
    return {text, unquote(text)} if _ADDRESS.match(text) else set()


def _parts(value: object, depth: int = 0) -> list[str | None]:
    """The texts of a value: one, or those of an array's elements. None stands for what no glob fits (R-PAT-11)."""
    if not isinstance(value, list | tuple):
        return [_text(value)]
    if depth == MAX_NESTING:
        return [None]
    return [part for element in value for part in (_parts(element, depth + 1) or [None])]


def _text(value: object) -> str | None:
    """A text as it is, a number, truth value or null as JSON writes it; objects and the rest have none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else json.dumps(value)
    if isinstance(value, int) and value.bit_length() < MAX_BITS:
        return str(value)
    return None

"""Arguments that are paths, and how they and their globs are made comparable (R-PAT-17).

Lexical only: no disk is touched, links are the boundary's business. Which arguments are paths:

1. declared in the tool's schema with ``format: path`` (also ``file-path``, ``directory``); another format says no;
2. else named like one: ``path``, ``file``, ``dir``, ``folder``, ``cwd`` and so on, or ending in ``_path``, ``File``;
3. else a value that looks like one (``/x``, ``~/x``, ``../x``, ``a/../b``) *may* be a path: an allowing constraint must
   then fit it both as it is written and normalised, for a denying one either is enough.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.skills.patterns.globs import Glob, is_globstar, segments
from desktop.skills.patterns.syntax import Alternative, alternatives

_FORMATS = frozenset({"path", "file-path", "directory", "directory-path"})
_WORDS = "path|paths|file|files|filename|dir|dirs|directory|directories|folder|folders"
_NAMED = lazy_pattern(
    rf"(?:{_WORDS}|cwd|root|workdir|workspace)"
    rf"|.*[_-](?:{_WORDS}|cwd)"
    r"|.*[a-z0-9](?:Paths?|Files?|FileName|Dirs?|Directory|Folders?|Cwd)"
)
_LOOKS = lazy_pattern(r"~?/|~\Z|\.\.?(?:/|\Z)|.*/\.\.?(?:/|\Z)", re.DOTALL)


class PathKind(Enum):
    """Whether an argument is a path."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"


class Where(NamedTuple):
    """The absolute folders that relative paths and ``~`` stand for. Empty: not known."""

    cwd: str = ""
    home: str = ""


def is_path_name(name: str) -> bool:
    """Whether an argument, or the last name of a dotted path to one, is named like a path."""
    return _NAMED.fullmatch(re.split(r"[.\[]", name)[-1] or name) is not None


def path_kind(name: str, named: bool, value: str, params: Mapping[str, Any]) -> PathKind:
    """``name`` is the argument or the dotted path to it, ``named`` what ``is_path_name`` says of it, ``params`` the
    tool's schema (nothing in it is trusted)."""
    declared = _declared(name, params)
    if declared:
        return PathKind.YES if declared in _FORMATS else PathKind.NO
    if named:
        return PathKind.YES
    return PathKind.MAYBE if _LOOKS.match(value) else PathKind.NO


def _declared(name: str, params: Mapping[str, Any]) -> str:
    properties = params.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    items = schema.get("items") if isinstance(schema, Mapping) else None
    for part in (schema, items):
        found = part.get("format") if isinstance(part, Mapping) else None
        if isinstance(found, str) and found:
            return found
    return ""


def normal_path(value: str, where: Where) -> str | None:
    """Absolute where it can be, without ``~``, ``.``, ``..`` and doubled slashes; None for what is no usable path."""
    if "\0" in value or not value:
        return None
    if value == "~" or value.startswith("~/"):
        if not where.home:
            return None
        value = f"{where.home}/{value[2:]}"
    elif value.startswith("~"):
        return None
    if not value.startswith("/") and where.cwd:
        value = f"{where.cwd}/{value}"
    found = posixpath.normpath(value)
    return "/" + found.lstrip("/") if found.startswith("/") else found


def path_glob(text: str, where: Where) -> Glob:
    """The glob for normalised paths of a text that can be compiled. ``..`` takes back a name before it, never a ``**``.

    Not held to the size of other globs: a deny must not fail because the folder has a long name.
    """
    return Glob("", [_tokens(_normal(segments(found), where)) for found in alternatives(text)])


def _normal(found: list[Alternative], where: Where) -> list[Alternative]:
    absolute = not found[0] and len(found) > 1
    if found[0] == ["~"] and where.home:
        found = [*_folders(where.home), *found[1:]]
        absolute = True
    elif not absolute and where.cwd:
        found = [*_folders(where.cwd), *found]
        absolute = True
    kept: list[Alternative] = []
    for segment in found:
        name = "".join(token if isinstance(token, str) else "*" for token in segment)
        if name in {"", "."}:
            continue
        if name == ".." and not kept and absolute:
            continue
        if name == ".." and kept and not is_globstar(kept[-1]) and kept[-1] != [".."]:
            kept.pop()
        else:
            kept.append([name] if name == ".." else segment)
    return [[], *kept] if absolute else kept or [["."]]


def _folders(path: str) -> list[Alternative]:
    return [[name] if name else [] for name in path.split("/")]


def _tokens(found: list[Alternative]) -> Alternative:
    tokens: Alternative = []
    for number, segment in enumerate(found):
        tokens += ["/", *segment] if number else segment
    return tokens or ["/"]

"""From a mapping to a skill: every key checked, each problem with its place (C-2, Q-2)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from desktop.domain.skills import LEVELS, Severity, SkillDef, SkillKind, SkillSource
from desktop.domain.text.places import Keys, Locate
from desktop.skills.formats.keys import Place, check_keys
from desktop.skills.formats.other_tools import forbids, is_foreign, read_list
from desktop.skills.names import is_bare_name, normal_tags
from desktop.skills.patterns.grammar import parse_patterns
from desktop.skills.patterns.syntax import PatternError
from desktop.skills.problems import Report, shown
from desktop.skills.schemas import validation as schemas
from desktop.systems import current

MAX_DESCRIPTION = 1_024
MAX_TAGS = 100
_CATEGORIES = ("read", "write", "admin")
_ROLES = ("main", "middleware", "context", "agent")
_RESERVED = "meta-"

_TOP = frozenset({"name", "description", "allowed-tools", "metadata"})
_FLAT = frozenset(
    {
        "params",
        "returns",
        "tags",
        "visibility",
        "role",
        "main",
        "category",
        "delegate",
        "session",
        "trust",
        "paths",
        "mcp",
        "cwd",
        "workspace",
        "include",
    }
)
"""Keys of ``metadata`` that are accepted at the top, with a warning (C-2)."""
_ALLOWED_ALIASES = ("allowedTools", "allowed_tools", "allowedtools", "allowed-tool", "allowed_tool", "allowedTool")
"""Reading these as unknown keys would allow everything."""

_SAFE_PATH = re.compile(r"[A-Za-z0-9_./~-]+\Z")
_SIMPLE_PATTERNS = re.compile(r"(?:[a-z0-9*-]+(?: [a-z0-9*-]+)*)?\Z")


class Origin(NamedTuple):
    """Where a definition comes from; see SkillDef."""

    path: str
    source: SkillSource
    root: str
    kind: SkillKind
    stamp: str = ""


class FilePart(NamedTuple):
    """The part of a file that a skill is made of; see SkillDef. ``several``: the file holds more than one skill."""

    entry: str = ""
    body_at: int = -1
    body_end: int = -1
    several: bool = False


def build(data: Mapping[str, Any], origin: Origin, locate: Locate, part: FilePart, report: Report) -> SkillDef | None:
    """The definition, or None when there is no usable name. Everything that is wrong goes to ``report``."""
    name = _name(data.get("name"), locate, report)
    if not name:
        return None
    if origin.kind == "folder" and name != (folder := _folder(origin.path)):
        report.add("name.folder", f"the folder is called {folder}, the skill {name}", locate(("name",)), "warning")
    builder = _DefinitionBuilder(data, origin, locate, report)
    description = builder.description()
    metadata = builder.metadata()
    allowed = builder.allowed_tools(metadata)
    role = builder.role(metadata)
    if "activatable" in metadata:
        _check_activatable(metadata, role, locate, report)
    if "level" in metadata:
        _check_level(metadata["level"], role, origin.kind, locate, report)
    extras = {key: value for key, value in data.items() if key not in _TOP and key not in builder.taken}
    builder.check_keys(extras, metadata, role)
    return SkillDef(
        name,
        description,
        origin.kind,
        origin.source,
        origin.path,
        _uri(origin.path, name if part.several else ""),
        origin.root,
        part.entry,
        allowed,
        metadata,
        extras,
        builder.tags(metadata),
        builder.visibility(metadata),
        role,
        builder.category(metadata),
        origin.stamp,
        part.body_at,
        part.body_end,
        tuple(report.found),
        "broken" if report.found and report.broken else "ready",
    )


def _check_activatable(metadata: Mapping[str, Any], role: str, locate: Locate, report: Report) -> None:
    """Says where the key does nothing: only middleware with ``params`` can be switched on for a call (D-11)."""
    value, keys = metadata["activatable"], ("metadata", "activatable")
    if not isinstance(value, bool):
        report.add("activatable.invalid", f"activatable is true or false, not {shown(value)}", locate(keys), "warning")
    elif value and (role != "middleware" or not isinstance(metadata.get("params"), Mapping)):
        message = "activatable does nothing here: it is for skills with role: middleware and params"
        report.add("activatable.useless", message, locate(keys), "warning")


def _check_level(value: Any, role: str, kind: SkillKind, locate: Locate, report: Report) -> None:
    """A level that cannot be meant keeps the skill from running: it would stand somewhere else (D-7)."""
    keys = ("metadata", "level")
    if role != "middleware":
        report.add(
            "level.useless", "level does nothing here: it is for skills with role: middleware", locate(keys), "warning"
        )
    elif not isinstance(value, str) or value not in LEVELS:
        report.add("level.invalid", f"level must be agent, chat or call, not {shown(value)}", locate(keys))
    elif value != "call" and kind not in ("python", "javascript"):
        message = f"level: {value} is for skills in Python or JavaScript: an agent would be asked for each of its own"
        report.add("level.invalid", f"{message} requests", locate(keys))


def _name(value: Any, locate: Locate, report: Report) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and is_bare_name(value):
        return value
    if value is None:
        report.add("name.missing", "name is required", locate(("name",)))
    else:
        message = f"name must be 1 to 64 of a-z, 0-9 and single hyphens, not {shown(value)}"
        report.add("name.invalid", message, locate(("name",)))
    return ""


def _folder(path: str) -> str:
    """The name of the folder that a file is in."""
    parts = path.rsplit(os.sep, 2)
    return parts[-2] if len(parts) > 1 else ""


def _uri(path: str, fragment: str) -> str:
    """``file://`` and the path, with what a URI cannot hold escaped."""
    if _SAFE_PATH.match(path) is None:
        path = path.replace("\\", "/") if current.WINDOWS else path
        path = quote(path.encode("utf-8", "surrogateescape"), safe="/~:" if current.WINDOWS else "/~")
    slash = "" if path.startswith("/") else "/"
    return f"file://{slash}{path}#{fragment}" if fragment else f"file://{slash}{path}"


@lru_cache(maxsize=1_024)
def _normal(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The same few lists of tags occur again and again: one tuple for each."""
    return tuple(sys.intern(tag) for tag in normal_tags(tags))


def _is_pattern(text: str) -> bool:
    try:
        parse_patterns(text)
    except PatternError:
        return False
    return True


class _DefinitionBuilder:
    """The keys of one mapping. ``taken`` are top-level keys that were read as something of ours."""

    __slots__ = ("_data", "_locate", "_origin", "_report", "_where", "taken")

    def __init__(self, data: Mapping[str, Any], origin: Origin, locate: Locate, report: Report) -> None:
        self._data = data
        self._origin = origin
        self._locate = locate
        self._report = report
        self._where: dict[str, Keys] = {}
        self.taken: set[str] = set()

    def place(self, key: str) -> Keys:
        """Where a key of ``metadata`` was found."""
        return self._where.get(key, ("metadata", key))

    def _warn(self, code: str, message: str, keys: Keys) -> None:
        self._report.add(code, message, self._locate(keys), "warning")

    def _error(self, code: str, message: str, keys: Keys) -> None:
        self._report.add(code, message, self._locate(keys))

    def check_keys(self, extras: Mapping[str, Any], metadata: Mapping[str, Any], role: str) -> None:
        """Warn of keys that do nothing."""
        model, origin = metadata.get("model"), self._origin
        places: dict[Place, Mapping[str, Any]] = {"": extras, "metadata": metadata}
        if isinstance(model, Mapping):
            places["model"] = model
        check_keys(places, (origin.kind, origin.source, role), self.place, self._locate, self._report)

    def description(self) -> str:
        value = self._data.get("description")
        if not isinstance(value, str) or not value.strip():
            missing = value is None or isinstance(value, str)
            message = "description is required" if missing else f"description must be text, not {shown(value)}"
            self._error("description.missing" if missing else "description.invalid", message, ("description",))
            return ""
        text = " ".join(value.split())
        if len(text) > MAX_DESCRIPTION:
            message = f"description has {len(text)} characters; the first {MAX_DESCRIPTION} are used"
            self._warn("description.long", message, ("description",))
            text = text[: MAX_DESCRIPTION - 1] + "…"
        return text

    def metadata(self) -> dict[str, Any]:
        """``metadata`` with flat keys moved in (C-2) and its schemas checked (R-SK-4)."""
        value = self._data.get("metadata")
        if value is not None and not isinstance(value, dict):
            self._error("metadata.invalid", f"metadata must be a mapping, not {shown(value)}", ("metadata",))
        found: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
        for key in self._data.keys() & _FLAT:
            self._move(key, found)
        if isinstance(self._data.get("model"), dict):
            self._move("model", found)
        for key in ("params", "returns"):
            if key in found:
                self._schema(key, found)
        return found

    def _move(self, key: str, metadata: dict[str, Any]) -> None:
        self.taken.add(key)
        if key in metadata:
            self._warn("key.flat", f"{key} is given at the top and in metadata; the one in metadata counts", (key,))
            return
        self._warn("key.flat", f"{key} belongs into metadata", (key,))
        metadata[key] = self._data[key]
        self._where[key] = (key,)

    def _schema(self, key: str, metadata: dict[str, Any]) -> None:
        schema = metadata[key]
        if schema is None:
            del metadata[key]
            return
        for problem in schemas.check(schema, arguments=key == "params"):
            self._error(
                "schema.invalid",
                f"{key} is no valid JSON Schema at {problem.pointer or 'its top'}: {problem.message}",
                (*self.place(key), *problem.keys),
            )

    # -- allowed-tools ------------------------------------------------------------------------------------------------

    def allowed_tools(self, metadata: dict[str, Any]) -> str | None:
        """The pattern list as one text; None when not given. Whatever cannot be read allows nothing (R-PAT-14)."""
        if "allowed-tools" in self._data:
            return self._patterns(self._data["allowed-tools"], ("allowed-tools",))
        for key in _ALLOWED_ALIASES:
            if key in self._data:
                self.taken.add(key)
                self._warn("key.alias", f"{key} is read as allowed-tools; write it so", (key,))
                return self._patterns(self._data[key], (key,))
        for key in ("allowed-tools", *_ALLOWED_ALIASES):
            if key in metadata:
                self._warn("key.nested", f"{key} belongs to the top, not into metadata", ("metadata", key))
                return self._patterns(metadata[key], ("metadata", key))
        return None

    def _patterns(self, value: Any, keys: Keys) -> str:
        if value is None:
            self._warn("patterns.empty", "allowed-tools has no value, so nothing is allowed", keys)
            return ""
        if isinstance(value, str):
            return self._pattern_text(value, keys) or ""
        if not isinstance(value, list):
            self._nothing(f"allowed-tools must be text or a list, not {shown(value)}", self._locate(keys))
            return ""
        found: list[str] = []
        for number, item in enumerate(value):
            if not isinstance(item, str):
                self._nothing(f"allowed-tools holds {shown(item)}", self._locate((*keys, number)))
                return ""
            text = self._pattern_text(item, (*keys, number))
            if text is None:
                return ""
            found.append(text)
        return " ".join(found)

    def _pattern_text(self, text: str, keys: Keys) -> str | None:
        """One text in patterns of ours; None when because of it nothing may be allowed (R-PAT-14)."""
        if not self._of_others and not is_foreign(text):
            return text if _SIMPLE_PATTERNS.match(text) or self._fits(text, keys) else None
        reading = read_list(text, os.path.dirname(self._origin.path), any_case=self._of_others)
        line, column = self._locate(keys) if reading.unknown else (1, 1)
        for word, at in reading.unknown:
            if forbids(word) or not (self._of_others or _is_pattern(word)):
                self._nothing(f"allowed-tools: {shown(word)} cannot be read", (line, column + at - 1))
                return None
            message = f"allowed-tools: {shown(word)} is no tool that is known here; it is left out"
            self._report.add("patterns.unknown", message, (line, column + at - 1), "warning")
        if reading.unknown and not reading.patterns:
            self._warn("patterns.none", "nothing in allowed-tools is known here, so nothing is allowed", keys)
        return " ".join(reading.patterns)

    @property
    def _of_others(self) -> bool:
        """Whether the file is of the Agent Skills format, where ``allowed-tools`` is a hint that other apps read by
        other rules: what cannot be read of it never keeps a skill from running."""
        return self._origin.kind == "folder" and self._origin.source != "library"

    @property
    def _is_hint(self) -> bool:
        """Whether the list of tools is only a hint, as in every skill in words (agentskills.io: experimental): without
        it the skill still runs, and may call nothing."""
        return self._origin.kind in ("folder", "markdown") and self._origin.source != "library"

    def _fits(self, text: str, keys: Keys) -> bool:
        """Whether a pattern list can be read; if not, says so at its column."""
        try:
            parse_patterns(text)
        except PatternError as error:
            line, column = self._locate(keys)
            self._nothing(f"allowed-tools: {error}", (line, column + error.column - 1))
            return False
        return True

    def _nothing(self, message: str, where: tuple[int, int]) -> None:
        severity: Severity = "warning" if self._is_hint else "error"
        self._report.add("patterns.invalid", f"{message}; nothing is allowed", where, severity)

    # -- the short ones -----------------------------------------------------------------------------------------------

    def tags(self, metadata: dict[str, Any]) -> tuple[str, ...]:
        """Normalised (R-VIS-3), without those that only the library may carry (R-SK-10)."""
        value = metadata.get("tags")
        if value is None:
            return ()
        if isinstance(value, str):
            self._warn("tags.text", "tags should be a list", self.place("tags"))
            value = value.replace(",", " ").split()
        if not isinstance(value, list):
            self._warn("tags.invalid", f"tags must be a list, not {shown(value)}", self.place("tags"))
            value = []
        tags = _normal(tuple(str(tag)[:200] for tag in value[:MAX_TAGS] if isinstance(tag, (str, int, float))))
        if self._origin.source != "library" and any(tag.startswith(_RESERVED) for tag in tags):
            stripped = [tag for tag in tags if tag.startswith(_RESERVED)]
            message = f"{', '.join(stripped)}: tags that begin with {_RESERVED} are kept for the library and ignored"
            self._warn("tags.reserved", message, self.place("tags"))
            tags = tuple(tag for tag in tags if not tag.startswith(_RESERVED))
        metadata["tags"] = list(tags)
        return tags

    def role(self, metadata: dict[str, Any]) -> str:
        """What the skill is for. A folder skill that says nothing is ``context``, but for the library's: those are
        prompts and say otherwise themselves. ``role:`` without a value makes any folder skill an ordinary one."""
        if "role" not in metadata and "main" not in metadata:
            return "context" if self._origin.kind == "folder" and self._origin.source != "library" else ""
        value = metadata.get("role")
        if metadata.get("main") is True:
            value = "main"
        if value == "main" and self._origin.source not in ("project", "library"):
            self._warn(
                "role.main", "role: main has an effect in a project only, and is ignored here", self.place("role")
            )
            metadata.pop("role", None)
            metadata.pop("main", None)
            return ""
        if value == "agent" and self._origin.kind != "python":
            self._warn("role.agent", "role: agent is for skills in Python, and is ignored here", self.place("role"))
            return ""
        if value in _ROLES:
            return str(value)
        if value not in (None, ""):
            message = f"role must be main, middleware, context or agent, not {shown(value)}"
            self._warn("role.invalid", message, self.place("role"))
        return ""

    def visibility(self, metadata: dict[str, Any]) -> str:
        value = metadata.get("visibility")
        if value is None or value == "":
            return ""
        if value == "hidden":
            return "hidden"
        hidden = isinstance(value, str) and value.lower() == "hidden"
        read_as = "it is read so" if hidden else "it has no effect"
        self._warn(
            "visibility.invalid",
            f"visibility is hidden or left out, not {shown(value)}; {read_as}",
            self.place("visibility"),
        )
        return "hidden" if hidden else ""

    def category(self, metadata: dict[str, Any]) -> str:
        """The declared category; a value that cannot be read is taken for the strictest."""
        value = metadata.get("category")
        if value in _CATEGORIES:
            return str(value)
        if value is not None:
            message = f"category must be read, write or admin, not {shown(value)}; it counts as admin"
            self._warn("category.invalid", message, self.place("category"))
            return "admin"
        if self._origin.source == "library":
            self._warn("category.missing", "a skill of the library has to declare its category", ("metadata",))
        return ""

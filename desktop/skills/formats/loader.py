"""From a path or from bytes to the skills in it: the one way in. Blocks; never raises for what a file says (R-SK-2)."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from dataclasses import replace

from desktop.domain.errors import BugError, KnownError, NotFound
from desktop.domain.skills import SkillDef, SkillKind, SkillSource
from desktop.domain.text.places import FormatError
from desktop.skills.formats import javascript, markdown, python
from desktop.skills.formats.build import FilePart, Origin, build
from desktop.skills.formats.code import declared
from desktop.skills.formats.records import LoadedFile
from desktop.skills.problems import Report
from desktop.systems import open_flags
from desktop.yaml_text.mapping import read_mapping

_log = logging.getLogger(__name__)

MAX_BYTES = 1_000_000
MAX_PROBLEMS = 100
_FLAGS = os.O_RDONLY | open_flags.NONBLOCK | open_flags.CLOEXEC | open_flags.BINARY
"""Not blocking, so that a named pipe which calls itself a skill holds nobody up."""

_KINDS: tuple[tuple[str, SkillKind], ...] = (
    (".md", "markdown"),
    (".skill.py", "python"),
    (".skill.js", "javascript"),
    (".skill.ts", "foreign"),
)


def skill_kind(path: str) -> SkillKind | None:
    """What a file is by its name; None: no skill file. Any ``*.md`` may be named by path, a scan finds fewer."""
    name = path[path.rfind(os.sep) + 1 :]
    if name in ("SKILL.md", "skill.md"):
        return "folder"
    for ending, kind in _KINDS:
        if name.endswith(ending):
            return kind
    return None


def load_skills_from_file(path: str, *, source: SkillSource, root: str) -> LoadedFile:
    """Read one skill file. Blocks: use a thread.

    ``path`` is absolute; ``root`` the search-path folder it was found in, "" when it was named directly. No error of
    the file is raised: all of them are in ``problems``, with line and column.
    """
    try:
        data, stamp = read_bytes(path)
    except FormatError as error:
        report = Report(path)
        report.failed(error)
        return LoadedFile(path, "", (), tuple(report.found))
    return load_from_bytes(data, path, source=source, root=root, stamp=stamp)


def read_bytes(path: str) -> tuple[bytes, str]:
    """A file's bytes, and its stamp from before they were read. FormatError when it cannot be read or is too large."""
    try:
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise FormatError("this is no regular file", 1, code="file.unreadable")
        if found.st_size > MAX_BYTES:
            message = f"the file has {found.st_size:,} bytes; a skill has {MAX_BYTES:,} at most"
            raise FormatError(message, 1, code="file.too-large")
        data = os.read(handle, found.st_size + 1)
        while len(data) != found.st_size and len(data) <= MAX_BYTES:  # it grew or shrank meanwhile
            more = os.read(handle, MAX_BYTES + 1)
            if not more:
                break
            data += more
    except OSError as error:
        raise _unreadable(error) from error
    finally:
        os.close(handle)
    return data, f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"


def _unreadable(error: Exception) -> FormatError:
    reason = getattr(error, "strerror", None) or str(error)
    code = "file.gone" if isinstance(error, FileNotFoundError) else "file.unreadable"
    return FormatError(f"the file cannot be read: {reason}", 1, code=code)


def load_from_bytes(data: bytes, path: str, *, source: SkillSource, root: str, stamp: str = "") -> LoadedFile:
    """What a file with these bytes would be: the editor checks as a person types. Blocks for some milliseconds."""
    report = Report(path, [])
    definitions: list[SkillDef] = []
    try:
        kind = skill_kind(path)
        if kind is None:
            raise FormatError(
                "this is no skill file: *.skill.md, SKILL.md, *.skill.py or *.skill.js", 1, code="file.kind"
            )
        text = decode(data)
        definitions = _READERS[kind](text, Origin(path, source, root, kind, stamp), report)
    except FormatError as error:
        report.failed(error)
    except Exception as error:  # noqa: BLE001 - one file must never take the others with it
        return failed(path, stamp, error)
    if report.found:
        report.found.sort(key=lambda problem: (problem.line, problem.column))
    return LoadedFile(path, stamp, tuple(definitions), tuple(report.found[:MAX_PROBLEMS]))


def failed(path: str, stamp: str, error: Exception) -> LoadedFile:
    """What a file comes to that our own code could not cope with: a problem on its page, and a line in the log."""
    bug = BugError(f"{path} could not be read as a skill")
    bug.__cause__ = error
    _log.error("%s", bug, exc_info=bug)
    report = Report(path)
    report.add("file.bug", f"Assent made a mistake in reading this file ({type(error).__name__}); the log has more")
    return LoadedFile(path, stamp, (), tuple(report.found))


def decode(data: bytes) -> str:
    """The text, a byte order mark included. FormatError naming the place of the first byte that is not UTF-8."""
    if len(data) > MAX_BYTES:
        raise FormatError(f"the file has more than {MAX_BYTES:,} bytes", 1, code="file.too-large")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise FormatError("the file is UTF-16; save it as UTF-8", 1, code="file.encoding") from error
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        message = f"the file is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise FormatError(message, line, column, "file.encoding") from error


# -- markdown ---------------------------------------------------------------------------------------------------------


def _folder(text: str, origin: Origin, report: Report) -> list[SkillDef]:
    """A ``SKILL.md`` is one skill, whatever rules and examples its body holds."""
    return _markdown([markdown.first_section(text)], origin, report)


def _sections(text: str, origin: Origin, report: Report) -> list[SkillDef]:
    return _markdown(markdown.sections(text), origin, report)


def _markdown(parts: list[markdown.SkillSection], origin: Origin, report: Report) -> list[SkillDef]:
    several = len(parts) > 1
    found: list[SkillDef] = []
    for section in parts:
        own = Report(origin.path, [])
        try:
            data, locate, notes = read_mapping(section.head, section.first_line)
        except FormatError as error:
            report.failed(error)
            continue
        for note in notes:
            own.add(note.code, str(note), (note.line, note.column), "warning")
        part = FilePart(str(data.get("name", "")) if several else "", section.body_at, section.body_end, several)
        definition = build(data, origin, locate, part, own)
        report.found += own.found
        if definition is not None:
            found.append(definition)
    return _distinct(found, report)


def _distinct(definitions: list[SkillDef], report: Report) -> list[SkillDef]:
    """The first of each name; the others are problems (R-RES-19)."""
    if len(definitions) < 2:
        return definitions
    found: dict[str, SkillDef] = {}
    for definition in definitions:
        if found.setdefault(definition.name, definition) is not definition:
            report.add("name.duplicate", f"this file already has a skill called {definition.name}")
    return list(found.values())


# -- code -------------------------------------------------------------------------------------------------------------


def _code(text: str, origin: Origin, report: Report) -> list[SkillDef]:
    skills = declared(python.read(text) if origin.kind == "python" else javascript.read(text))
    found: list[SkillDef] = []
    for skill in skills:
        own = Report(origin.path)
        if skill.wrong:
            own.add("entry.missing", skill.wrong, skill.locate(("entry",)))
        definition = build(skill.data, origin, skill.locate, FilePart(skill.entry, several=len(skills) > 1), own)
        report.found += own.found
        if definition is not None:
            found.append(definition)
    return _distinct(found, report)


def _foreign(text: str, origin: Origin, report: Report) -> list[SkillDef]:
    """TypeScript: listed under its declared name, or else its file's, and not run (C-1)."""
    report.add("kind.foreign", "TypeScript skills are listed and not run: save it as *.skill.js")
    try:
        skills = declared(javascript.read(text, typed=True))
        data = [(skill.data, skill.locate, skill.entry) for skill in skills]
    except FormatError:
        data = [({"name": os.path.basename(origin.path).removesuffix(".skill.ts")}, lambda _: (1, 1), "")]
    found: list[SkillDef] = []
    for mapping, locate, entry in data:
        definition = build(mapping, origin, locate, FilePart(entry, several=len(data) > 1), Report(origin.path))
        if definition is not None:
            found.append(replace(definition, state="broken", problems=tuple(report.found)))
    return found


_READERS: dict[SkillKind, Callable[[str, Origin, Report], list[SkillDef]]] = {
    "markdown": _sections,
    "folder": _folder,
    "python": _code,
    "javascript": _code,
    "foreign": _foreign,
}


# -- bodies -----------------------------------------------------------------------------------------------------------


def read_body(definition: SkillDef) -> str:
    """A skill's body as it is in the file now: a markdown skill's prompt, all of a code skill's file. Blocks.

    NotFound when the file has gone or no longer has the skill; KnownError ``skill.changed`` when anything but the body
    is different since it was listed: the rules that the caller holds would not be the body's own.
    """
    if not definition.path:
        raise NotFound(f"{definition.name} is not in a file.")
    try:
        data, stamp = read_bytes(definition.path)
        text = decode(data)
    except FormatError as error:
        raise NotFound(f"{definition.name}: {error}.", next_step="Reload the skills.") from error
    if stamp != definition.stamp:
        definition = _as_it_is_now(definition, data, stamp)
    if definition.body_at < 0:
        return text
    return text[definition.body_at : definition.body_end if definition.body_end >= 0 else None]


def _as_it_is_now(before: SkillDef, data: bytes, stamp: str) -> SkillDef:
    loaded = load_from_bytes(data, before.path, source=before.source, root=before.root, stamp=stamp)
    now = next((found for found in loaded.definitions if found.name == before.name), None)
    if now is None:
        raise NotFound(f"{before.path} no longer holds the skill {before.name}.", next_step="Reload the skills.")
    if now.state == "broken" or _meaning(now) != _meaning(before):
        message = f"{before.name} has changed since it was listed."
        raise KnownError(message, next_step="Reload the skills.", code="skill.changed")
    return now


def _meaning(definition: SkillDef) -> tuple[object, ...]:
    """All that decides what a skill may do and what it takes; its body and its place in the file left out."""
    return (
        definition.kind,
        definition.entry,
        definition.allowed_tools,
        definition.metadata,
        definition.tags,
        definition.visibility,
        definition.role,
        definition.category,
    )

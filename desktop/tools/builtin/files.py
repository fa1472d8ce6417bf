"""``read-file``, ``list-directory`` and ``write-file``: files behind the boundary.

All file work happens in threads. The pre-check and the execution ask the same boundary; the execution opens at the
handle, so nothing that changes in between leads elsewhere.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.changes import ChangeRecorder
from desktop.domain.files.documents import DocumentOpener
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access, GuardedFiles, ListedEntry, PathVerdict, SettingsProvider
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.systems import disk
from desktop.tools.builtin.edits.encoded import as_utf8
from desktop.tools.builtin.edits.versions import FileVersion, ReadVersions
from desktop.tools.builtin.text_files import FileLines, NotText, read_part
from desktop.tools.documents.in_files import DOCUMENT, PAGES_SCHEMA, read_in_file
from desktop.tools.pictures.in_files import picture_in_file

MAX_ENTRIES = 2000
MAX_CONTENT = 20_000_000
MAX_EDITED = 4_000_000
"""Bytes of a file that can be edited in parts, and of which is remembered which version a thread has read. With more,
single steps of it would hold the window up, although they are made in a thread."""
PREVIEW_BYTES = 200_000
PATH_SCHEMA = {"type": "string", "minLength": 1, "maxLength": 4096}

READ_FILE = ToolSpec(
    name="read-file",
    alias="read_file",
    description=(
        "Read a text file (UTF-8, or UTF-16 with its mark), whole or a range of lines; or a PDF, Word, Excel, "
        "PowerPoint, OpenDocument or EPUB file as Markdown; or see a picture (PNG, JPEG, GIF, WebP, AVIF, TIFF, "
        "BMP). Relative paths start in the workspace. Long files "
        "come in parts: pass what the end of a part names as offset, and as pages, to go on."
    ),
    params={
        "type": "object",
        "properties": {
            "path": {**PATH_SCHEMA, "description": "The file."},
            "offset": {"type": "integer", "minimum": 1, "description": "First line to read, from 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines of a text at most."},
            "pages": PAGES_SCHEMA,
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    category=Category.READ,
    tags=("files", "meta-internal"),
    parallel_safe=True,
    about="path",
    gives="local",
)
LIST_DIRECTORY = ToolSpec(
    name="list-directory",
    alias="list_directory",
    description="List a folder by name: folders end in /, links in @. Relative paths start in the workspace.",
    params={
        "type": "object",
        "properties": {"path": {**PATH_SCHEMA, "description": "The folder; where relative paths start when left out."}},
        "additionalProperties": False,
    },
    category=Category.READ,
    tags=("files", "meta-internal"),
    parallel_safe=True,
    about="path",
    gives="local",
)
WRITE_FILE = ToolSpec(
    name="write-file",
    alias="write_file",
    description=(
        "Write a whole UTF-8 text file, replacing what was there. Missing folders are made. Relative paths start in "
        "the workspace. A person is shown the change and has to agree."
    ),
    params={
        "type": "object",
        "properties": {
            "path": {**PATH_SCHEMA, "description": "The file."},
            "content": {"type": "string", "maxLength": MAX_CONTENT, "description": "All of its new text."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    category=Category.WRITE,
    tags=("files", "meta-internal"),
    about="path",
    lengthy=("content",),
    gives="local",
)


def judged(verdict: PathVerdict, declared: Category, *, preview: Mapping[str, Any] | None = None) -> PreCheck:
    """A verdict of the boundary as a pre-check: refused, raised to admin, or as declared (R-TOOL-4)."""
    refusal = None if verdict.allowed else BoundaryViolation(verdict.sentence)
    return PreCheck(
        category=Category.ADMIN if verdict.elevated else declared,
        raised_because=verdict.elevated,
        paths=(verdict.resolved,) if verdict.resolved else (),
        preview=preview or {},
        identity={verdict.resolved: verdict.identity} if verdict.allowed else {},
        denied=refusal,
        constraint=verdict.resolved,
        resolved={"path": verdict.resolved} if verdict.resolved else {},
    )


class ReadFile:
    """The tool ``read-file``: gives a part of a text file. ``versions`` hears which version its thread has read;
    ``documents`` and ``pictures`` open what is no text, None: nothing does."""

    def __init__(
        self,
        files: GuardedFiles,
        settings: SettingsProvider,
        versions: ReadVersions | None = None,
        documents: DocumentOpener | None = None,
        pictures: PictureOpener | None = None,
    ) -> None:
        self._files = files
        self._settings = settings
        self._versions = ReadVersions() if versions is None else versions
        self._documents = documents
        self._pictures = pictures

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return READ_FILE

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Judge the path against the boundary."""
        verdict = await asyncio.to_thread(self._files.within(place).explain, args["path"], Access.READ)
        return judged(verdict, Category.READ)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The lines asked for, cut to the output limit, with a notice where to go on."""
        context.meta.cancellation.check()
        files = self._files.within(context.meta.work_place)
        if self._documents is not None:
            place = args["path"], args.get("pages", ""), args.get("offset", 1)
            found = await read_in_file(self._documents, files, *place, min(DOCUMENT, self._room // 2))
            if found is not None:
                return found
        if self._pictures is not None:
            seen = await picture_in_file(self._pictures, files, args["path"])
            if seen is not None:
                return seen
        return await asyncio.to_thread(self._read, files, args, context.meta.thread_id)

    @property
    def _room(self) -> int:
        """How much may be shown at once."""
        return max(1000, self._settings().output_limit - 300)

    def _read(self, files: GuardedFiles, args: Mapping[str, Any], thread_id: str) -> ToolResult:
        path, offset, room = args["path"], args.get("offset", 1), self._room
        resolved = files.explain(path, Access.READ).resolved
        with files.open_read(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            try:
                data = stream.read(MAX_EDITED + 1)
                whole = len(data) <= MAX_EDITED
                part = read_part(_again(data, stream), offset, args.get("limit"), room)
            except NotText as what:
                raise ToolFailure(f"{path} is {what} of {size} bytes, not UTF-8 text.", code="file.not_text") from None
            except OSError as error:
                raise ToolFailure(f"{path}: {error.strerror or error}.", code="file.failed") from error
        self._versions.saw(thread_id, resolved, read=True)
        if whole:
            self._versions.note(thread_id, resolved, FileVersion.of(data))
        notice = _notice(part, offset, size)
        facts = {"path": path, "size": size, "first_line": part.first, "last_line": part.last, "lines": part.total}
        more = {"notice": notice, "next_line": part.next_line, "cut_bytes": part.cut_bytes} if notice else {}
        return ToolResult(part.text + notice, facts={**facts, **more})


def _again(data: bytes, stream: BinaryIO) -> BinaryIO:
    """What was read and what comes after it. Text in UTF-16 comes as UTF-8, as far as it was read."""
    if len(data) > MAX_EDITED:
        stream.seek(0)
        return stream
    return io.BytesIO(as_utf8(data))


def _notice(part: FileLines, offset: int, size: int) -> str:
    """What the model has to know of what it does not see."""
    if part.last < part.first:
        if size == 0:
            return "[The file is empty.]"
        has = f"fewer than {offset} lines" if part.total is None else f"{part.total} lines, and none at {offset}"
        return f"[The file has {has}.]"
    notes = []
    if part.cut_bytes:
        notes.append(f"line {part.last} is cut, more than {part.cut_bytes} bytes of it are not shown")
    if part.next_line is not None:
        notes.append(f"continue at offset {part.next_line}")
    if not notes:
        return ""
    of = f" of {part.total}" if part.total is not None else ""
    return f"\n[{size} bytes in the file; lines {part.first} to {part.last}{of} shown; {'; '.join(notes)}]"


class ListDirectory:
    """The tool ``list-directory``: lists what is in a folder."""

    def __init__(self, files: GuardedFiles) -> None:
        self._files = files

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return LIST_DIRECTORY

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Judge the folder against the boundary."""
        verdict = await asyncio.to_thread(self._files.within(place).explain, args.get("path", "."), Access.LIST)
        return judged(verdict, Category.READ)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """One line an entry, by name (R-BLT-6)."""
        context.meta.cancellation.check()
        files = self._files.within(context.meta.work_place)
        entries, total = await asyncio.to_thread(files.list_folder, args.get("path", "."), MAX_ENTRIES)
        lines = [_line(entry) for entry in entries]
        if total > len(entries):
            lines.append(f"[{total} entries; the first {len(entries)} are shown]")
        return ToolResult("\n".join(lines) or "[The folder is empty.]", facts={"entries": total})


def shown_name(name: str) -> str:
    """A name or path on one line: what is no letter is escaped, so that none can pass for two lines."""
    name = name.encode("utf-8", "backslashreplace").decode()
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _line(entry: ListedEntry) -> str:
    """One entry as a line."""
    name = shown_name(entry.name)
    if entry.kind == "dir":
        return f"dir   {name}/"
    if entry.kind == "link":
        return f"link  {name}@"
    size = "" if entry.size is None else f"  {entry.size} bytes"
    return f"file  {name}{size}" if entry.kind == "file" else f"other {name}"


class WriteFile:
    """The tool ``write-file``: replaces a file at once (R-BLT-4). ``versions`` hears what its thread knows then."""

    def __init__(self, files: GuardedFiles, changes: ChangeRecorder, versions: ReadVersions | None = None) -> None:
        self._files, self._changes = files, changes
        self._versions = ReadVersions() if versions is None else versions

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return WRITE_FILE

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Boundary, system paths, and the change as it will be shown (R-PRM-2)."""
        return await asyncio.to_thread(self._precheck, self._files.within(place), args["path"], args["content"])

    def _precheck(self, files: GuardedFiles, path: str, content: str) -> PreCheck:
        verdict = files.explain(path, Access.WRITE)
        if not verdict.allowed:
            return judged(verdict, Category.WRITE)
        if why := cannot_hold(verdict.resolved) or not_utf8(content):
            return replace(judged(verdict, Category.WRITE), denied=why)
        shown = judged(verdict, Category.WRITE, preview=self._preview(files, verdict, content))
        return replace(shown, undoable=True)

    def _preview(self, files: GuardedFiles, verdict: PathVerdict, content: str) -> dict[str, Any]:
        """Before and after, each at most 200 KB; ``notes`` say what is not shown."""
        new = verdict.identity == "absent"
        before, notes = ("", []) if new else self._before(files, verdict.resolved)
        after, cut = _capped(content)
        if cut:
            notes.append(f"the new text has {len(content)} characters; its beginning is shown")
        return {
            "kind": "diff",
            "path": verdict.resolved,
            "before": before,
            "after": after,
            "new": new,
            "notes": notes,
            "size": len(content.encode("utf-8", "replace")),
        }

    def _before(self, files: GuardedFiles, path: str) -> tuple[str, list[str]]:
        try:
            with files.open_read(path) as stream:
                data = stream.read(PREVIEW_BYTES + 4)
        except (ToolFailure, OSError) as error:
            return "", [f"the present text cannot be shown: {error}"]
        text = data[:PREVIEW_BYTES].decode("utf-8", "ignore")
        if b"\x00" in data or "\ufffd" in data[:PREVIEW_BYTES].decode("utf-8", "replace")[:-1]:
            return "", ["the present file is not text"]
        cut = ["only the beginning of the present text is shown"] if len(data) > PREVIEW_BYTES else []
        return text, cut

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Write the file; the file that was approved must still be there (R-PRM-5)."""
        context.meta.cancellation.check()
        files = self._files.within(context.meta.work_place)
        if why := not_utf8(args["content"]):
            raise why
        data = args["content"].encode("utf-8")
        expected = await asyncio.to_thread(approved_identity, files, args["path"], context.identity)
        done = await self._changes.write(files, args["path"], data, expected=expected, context=context)
        if len(data) <= MAX_EDITED:
            version = await asyncio.to_thread(FileVersion.of, data)
            self._versions.note(context.meta.thread_id, done.resolved, version)
        self._versions.saw(context.meta.thread_id, done.resolved, read=False)
        made = f" Made {len(done.folders_made)} folders." if done.folders_made else ""
        verb = "Created" if done.created else "Replaced"
        facts = {"path": done.resolved, "size": done.size, "created": done.created}
        return ToolResult(f"{verb} {done.resolved}, {done.size} bytes.{made}", facts=facts)


def approved_identity(files: GuardedFiles, path: str, identity: Mapping[str, str]) -> str | None:
    """Which file must be there for what was approved to be done, or None where nothing was. Blocking. Raises
    BoundaryViolation for a path that leads elsewhere now."""
    expected = identity.get(files.explain(path, Access.WRITE).resolved) if identity else None
    if identity and expected is None:
        raise BoundaryViolation(f"{path} leads to another place than what was approved; nothing was written.")
    return expected


def cannot_hold(path: str) -> ToolFailure | None:
    """Why no file can be written at a resolved path as the disk is now, or None: nobody is asked about what is certain
    to fail. Blocking."""
    if os.path.isdir(path):
        return ToolFailure(f"{path} is a folder, not a file.", code="file.is_folder")
    here, missing = os.path.dirname(path), [os.path.basename(path)]
    while not os.path.lexists(here):
        here, name = os.path.split(here)
        missing.append(name)
    if not os.path.isdir(here):
        return ToolFailure(f"{here} is a file, so nothing can be written below it.", code="file.failed")
    longest = disk.longest_name(here)
    for name in missing:
        if len(os.fsencode(name)) > longest:
            return ToolFailure(f"The name {name[:40]}… is longer than the file system permits.", code="file.failed")
    if not os.access(here, os.W_OK | os.X_OK):
        return ToolFailure(f"The system does not permit writing in {here}.", code="file.failed")
    if os.path.lexists(path) and not os.access(path, os.W_OK):
        return ToolFailure(f"The system does not permit changing {path}, by its permissions.", code="file.failed")
    return None


def not_utf8(content: str) -> ToolFailure | None:
    """Why a text cannot be stored, or None."""
    try:
        content.encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"The content cannot be written as UTF-8: character {error.start + 1} is half of a surrogate pair."
        return ToolFailure(what, code="tool.validation")
    return None


def _capped(text: str) -> tuple[str, bool]:
    encoded = text.encode("utf-8", "replace")
    return (text, False) if len(encoded) <= PREVIEW_BYTES else (encoded[:PREVIEW_BYTES].decode("utf-8", "ignore"), True)

"""``edit-file``: changes parts of a text file, all of them or none.

The edits are found in the file as it is, before a person is asked and again when they are made. They are bound to the
version that the agent's thread has read: of a file that changed since, the agent is told what changed instead. A
change while a person is asked is shown to them, and they are asked again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.files.changes import ChangeRecorder
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, GuardedFiles, PathVerdict
from desktop.domain.text.words import count_words, size_words
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.builtin.edits.encoded import EncodedText, decoded
from desktop.tools.builtin.edits.places import CannotEdit, EditPlace, TextEdit, apply, find_places
from desktop.tools.builtin.edits.shown import preview_of
from desktop.tools.builtin.edits.versions import FileVersion, ReadVersions, changed_words
from desktop.tools.builtin.files import (
    MAX_CONTENT,
    MAX_EDITED,
    PATH_SCHEMA,
    approved_identity,
    cannot_hold,
    judged,
    not_utf8,
)
from desktop.tools.builtin.text_files import NotText

MAX_EDITS = 1_000
READ_AGAIN = "What it was is not kept: read the file again."
_ASKED = 100
"""Calls whose first version is remembered while they are asked about."""
_NAMED = 20

EDIT_FILE = ToolSpec(
    name="edit-file",
    alias="edit_file",
    description=(
        "Change parts of a text file that you have read. Each edit replaces old, which must be in the file exactly "
        "once (white space and indentation included), by new; with all set to true, every place. All edits of a call "
        "are made, or none; put all changes of a file into one call. They apply to the file as you read it, so none "
        "may overlap or build on another. Line ends and encoding stay. A person is shown the change and has to agree."
    ),
    params={
        "type": "object",
        "properties": {
            "path": {**PATH_SCHEMA, "description": "The file."},
            "edits": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_EDITS,
                "items": {
                    "type": "object",
                    "properties": {
                        "old": {"type": "string", "maxLength": MAX_EDITED, "description": "The exact text to replace."},
                        "new": {"type": "string", "maxLength": MAX_CONTENT, "description": "What takes its place."},
                        "all": {"type": "boolean", "description": "Replace it wherever it is."},
                    },
                    "required": ["old", "new"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["path", "edits"],
        "additionalProperties": False,
    },
    category=Category.WRITE,
    tags=("files", "meta-internal"),
    about="path",
    lengthy=("edits",),
    bound_by="write-file",
    gives="local",
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The edits of one call in the file as it is."""

    file: EncodedText
    """The file."""
    version: FileVersion
    """Which version of it that is."""
    edits: tuple[TextEdit, ...]
    """What was asked for."""
    places: tuple[EditPlace, ...]
    """Where it is to be done, from the top down."""
    after: str
    """The text afterwards, with its line ends."""
    data: bytes
    """The bytes afterwards."""


class EditFile:
    """The tool ``edit-file``. ``versions`` knows what each thread has read."""

    def __init__(self, files: GuardedFiles, changes: ChangeRecorder, versions: ReadVersions) -> None:
        self._files, self._changes = files, changes
        self._versions = versions
        self._lock = threading.Lock()
        self._asked: OrderedDict[str, FileVersion] = OrderedDict()

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return EDIT_FILE

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Boundary, system paths, and the edits as they will be shown (R-PRM-2)."""
        await self._versions.loaded(place.thread_id)
        return await asyncio.to_thread(self._precheck, self._files.within(place), args, place.thread_id)

    def _precheck(self, files: GuardedFiles, args: Mapping[str, Any], thread_id: str) -> PreCheck:
        verdict = files.explain(args["path"], Access.WRITE)
        check = judged(verdict, Category.WRITE)
        if not verdict.allowed:
            return check
        if verdict.identity == "absent":
            why = f"There is no file {verdict.resolved}. A new file is made with write_file."
            return replace(check, denied=ToolFailure(why, code="file.not_found"))
        if unwritable := cannot_hold(verdict.resolved):
            return replace(check, denied=unwritable)
        seen = self._versions.seen(thread_id, verdict.resolved)
        if seen is None:
            why = f"{verdict.resolved} was not read yet. Read the part that you change with read_file first."
            return replace(check, denied=ToolFailure(why, code="file.not_read"))
        try:
            prepared = _prepare(files, verdict, args["edits"], quotes=seen)
            changed = self._compare(thread_id, verdict.resolved, args["edits"], prepared)
        except KnownError as error:
            return replace(check, denied=error)
        known = self._versions.known(thread_id, verdict.resolved)
        shown = preview_of(verdict.resolved, prepared.file, prepared.edits, prepared.places, prepared.after)
        bound = {**_bound(prepared, known), "changed": changed}
        preview = {**shown, "size": len(prepared.data), "bound": bound}
        return replace(judged(verdict, Category.WRITE, preview=preview), undoable=True)

    def _compare(self, thread_id: str, path: str, edits: Any, prepared: Prepared) -> str:
        """What changed since a person was asked about this very call, or "". Raises ToolFailure where the file is not
        the one that the thread has read: the model, which is told now, can edit that one from then on."""
        known, now = self._versions.known(thread_id, path), prepared.version
        key = _key(thread_id, path, edits)
        with self._lock:
            first = self._asked.get(key)
        is_known = known is not None and known.digest == now.digest
        if first is not None and first.digest != now.digest and not is_known:
            return _what_changed(first, prepared.file)
        if first is None and known is not None and not is_known:
            may_quote = self._versions.seen(thread_id, path)
            said = _what_changed(known, prepared.file) if may_quote else READ_AGAIN
            if said != READ_AGAIN:
                self._versions.note(thread_id, path, now)
            raise ToolFailure(
                f"{path} has changed since you read it, so nothing was edited. What changed:\n{said}\n"
                "If your edits still hold, make the call again.",
                code="file.changed",
            )
        if first is None or is_known:
            with self._lock:
                self._asked[key] = now
                while len(self._asked) > _ASKED:
                    self._asked.popitem(last=False)
        return ""

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Make the edits; the file that was approved must still be there (R-PRM-5)."""
        context.meta.cancellation.check()
        files, path = self._files.within(context.meta.work_place), args["path"]
        prepared, expected = await asyncio.to_thread(_approved, files, args, context.identity)
        done = await self._changes.write(files, path, prepared.data, expected=expected, context=context)
        version = await asyncio.to_thread(FileVersion.of, prepared.data)
        self._versions.note(context.meta.thread_id, done.resolved, version)
        self._versions.saw(context.meta.thread_id, done.resolved, read=False)
        with self._lock:
            first = self._asked.pop(_key(context.meta.thread_id, done.resolved, args["edits"]), None)
        words = _done_words(done.resolved, prepared)
        if first is not None and first.digest != prepared.version.digest:
            words += f"\nThe file had changed meanwhile:\n{_what_changed(first, prepared.file)}"
        return ToolResult(words, facts={"path": done.resolved, "size": done.size, "created": False})


def _approved(files: GuardedFiles, args: Mapping[str, Any], identity: Mapping[str, str]) -> tuple[Prepared, str]:
    """The edits in the file as it is now, and which file that has to be when it is written."""
    verdict = files.explain(args["path"], Access.WRITE)
    expected = approved_identity(files, args["path"], identity) or verdict.identity
    return _prepare(files, verdict, args["edits"]), expected


def _prepare(
    files: GuardedFiles, verdict: PathVerdict, given: Sequence[Mapping[str, Any]], *, quotes: bool = False
) -> Prepared:
    """The edits found in the file as it is now. Raises ToolFailure for what cannot be done."""
    path = verdict.resolved
    with files.open_read(path) as stream:
        data = stream.read(MAX_EDITED + 1)
    if len(data) > MAX_EDITED:
        raise ToolFailure(
            f"{path} has more than {size_words(MAX_EDITED)}, which is too large to be edited in parts; use a command.",
            code="file.too_large",
        )
    edits = tuple(TextEdit.of(edit) for edit in given)
    for number, edit in enumerate(edits, 1):
        if why := not_utf8(edit.new):
            raise ToolFailure(f"Edit {number}: {why}", code="tool.validation")
    try:
        file = decoded(data)
        places = tuple(find_places(file.plain, edits, quotes=quotes))
        after = apply(file, edits, places)
    except NotText as what:
        raise ToolFailure(
            f"{path} is {what} of {len(data)} bytes, no text that can be edited.", code="file.not_text"
        ) from None
    except CannotEdit as why:
        raise ToolFailure(f"Nothing was changed in {path}.\n{why}", code="file.no_match") from None
    after_data = file.bytes_of(after)
    if len(after_data) > MAX_CONTENT:
        raise ToolFailure(
            f"{path} would have {size_words(len(after_data))}, more than {size_words(MAX_CONTENT)}.",
            code="file.too_large",
        )
    return Prepared(file, FileVersion.of(data), edits, places, after, after_data)


def _what_changed(before: FileVersion, now: EncodedText) -> str:
    data = before.data
    try:
        return changed_words(decoded(data).plain, now.plain) if data is not None else READ_AGAIN
    except NotText:
        return READ_AGAIN


def _bound(prepared: Prepared, known: FileVersion | None) -> dict[str, Any]:
    """Which version the edits are for, as a request says it."""
    plain = prepared.file.plain
    lines = plain.count("\n") + (bool(plain) and not plain.endswith("\n"))
    return {
        "read_at": known.at if known is not None else 0.0,
        "lines": lines,
        "size": prepared.version.size,
        "digest": prepared.version.digest[:8],
        "ends": prepared.file.ends_words,
        "encoding": prepared.file.encoding_words,
    }


def _key(thread_id: str, path: str, edits: Any) -> str:
    text = json.dumps([thread_id, path, edits], ensure_ascii=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def _done_words(path: str, prepared: Prepared) -> str:
    """How much was changed, and where that is now: short, for a model reads it after each call."""
    shift = 0
    where: list[str] = []
    for place in prepared.places:
        old = prepared.file.plain.count("\n", place.start, place.end)
        new = prepared.edits[place.number - 1].new.removesuffix("\n").count("\n")
        first = place.first + shift
        where.append(str(first) if not new else f"{first}-{first + new}")
        shift += prepared.edits[place.number - 1].new.count("\n") - old
    more = len(where) - _NAMED
    named = ", ".join(where[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    many = count_words(len(prepared.edits), "edit")
    at = "" if len(prepared.places) == len(prepared.edits) else f" at {count_words(len(prepared.places), 'place')}"
    lines = "lines" if len(where) > 1 or "-" in where[0] else "line"
    return f"Made {many}{at} in {path}; now at {lines} {named}."

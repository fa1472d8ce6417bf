"""``find-text`` and ``find-files``: lines and names in a folder tree.

The tree is gone through by a child of the app; what it found is held against the boundary before it is shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import Any

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.rule_book import RuleBook
from desktop.domain.errors import ToolFailure
from desktop.domain.files.searching import FoundPath, SearchArea, SearchBoundary
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child, ChildRefused
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import Access, SettingsProvider
from desktop.domain.text.words import count_words
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.builtin.edits.versions import ReadVersions
from desktop.tools.builtin.files import PATH_SCHEMA, judged, shown_name

MAX_FOUND = 2_000
LINES, NAMES = 200, 500
"""Found lines, or names, of one call unless it says otherwise."""
SLICE = 25
"""Found files that rules are asked about before others have their turn on the loop."""
ROUNDS = 8
"""How often a search is made anew without what may not be shown."""
_SYNTAX = (
    "The expression cannot be used: {why}. It is in RE2's syntax, which has no look-around and no references back. "
    "With literal set to true the pattern is plain text."
)
_GLOB = {"type": "string", "minLength": 1, "maxLength": 500}
_SHARED = {
    "path": {**PATH_SCHEMA, "description": "Where to look: a folder with all below it. Default: where paths start."},
    "ignored": {"type": "boolean", "description": "Also what git leaves out."},
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "description": "How many at most."},
    "skip": {"type": "integer", "minimum": 0, "maximum": 10_000_000, "description": "How many to pass over first."},
}

FIND_TEXT = ToolSpec(
    name="find-text",
    alias="find_text",
    description=(
        "Find lines in files by a regular expression (RE2 syntax, line by line), or plain text. Gives path, line "
        "number and line. Leaves out what .gitignore names, and what is not text. Faster than a command, and needs no "
        "permission."
    ),
    params={
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 10_000,
                "description": "What to find; \\w and \\b are of ASCII.",
            },
            **_SHARED,
            "globs": {
                "type": "array",
                "maxItems": 50,
                "items": _GLOB,
                "description": "Only files that fit one, as *.py or src/**; those that fit one with ! are left out.",
            },
            "context": {"type": "integer", "minimum": 0, "maximum": 20, "description": "Lines shown around each."},
            "case": {"enum": ["exact", "ignore"], "description": "Whether upper and lower case count (exact)."},
            "literal": {"type": "boolean", "description": "The pattern is plain text."},
            "names_only": {"type": "boolean", "description": "Only each file's name and how many lines it has."},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    category=Category.READ,
    tags=("files", "meta-internal"),
    parallel_safe=True,
    about="path",
    bound_by="read-file",
    gives="local",
)
FIND_FILES = ToolSpec(
    name="find-files",
    alias="find_files",
    description=(
        "Find files by name: *.py at any depth, src/**/test_*.py from the folder on, build/ for folders. Leaves out "
        "what .gitignore names. In order of path."
    ),
    params={
        "type": "object",
        "properties": {"glob": {**_GLOB, "description": "The name, with * ? [] {} and **."}, **_SHARED},
        "required": ["glob"],
        "additionalProperties": False,
    },
    category=Category.READ,
    tags=("files", "meta-internal"),
    parallel_safe=True,
    about="path",
    bound_by="list-directory",
    gives="local",
)


@dataclass(frozen=True, slots=True)
class FoundInTree:
    """What the child handed over of one search."""

    area: SearchArea
    """Where it was."""
    given: str
    """The path that the model gave, or ""."""
    items: tuple[tuple[str, Mapping[str, Any]], ...]
    """Each path from the root on, with what was found there; none that may not be shown."""
    said: Mapping[str, Any]
    """What the child says of the whole: how many files it saw, what it left aside."""

    def shown_path(self, path: str) -> str:
        """A path as the model can give it to other tools."""
        if not path:  # the root is a file
            return shown_name(self.given)
        return shown_name(os.path.join(self.given, path) if self.given not in ("", ".") else path)


class _TreeTool:
    """What both tools have in common. ``child`` is the process that searches; of what it finds a person's ``rules``
    leave out what they do not let an agent read or list unasked."""

    def __init__(self, boundary: SearchBoundary, child: Child, settings: SettingsProvider, rules: RuleBook) -> None:
        self._boundary = boundary
        self._child = child
        self._settings = settings
        self._rules = rules

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Judge the folder against the boundary."""
        boundary = self._boundary.within(place)
        return judged(await asyncio.to_thread(boundary.explain, args.get("path", "."), Access.LIST), Category.READ)

    async def _find(self, method: str, args: Mapping[str, Any], context: ToolCallContext, **more: Any) -> FoundInTree:
        """Ask the child, and keep what the boundary vouches for. What may not be shown is closed, and the search made
        anew without it: neither how many there are nor where it was cut tells whether something is in such a file."""
        context.meta.cancellation.check()
        boundary = self._boundary.within(context.meta.work_place)
        area = await asyncio.to_thread(boundary.area, args.get("path", "."))
        closed = list(area.closed)
        for _ in range(ROUNDS):
            ground = {
                "root": _packed(area.root),
                "top": _packed(area.top),
                "closed": [_packed(path) for path in closed],
                "closed_objects": [list(one) for one in area.closed_objects],
                "ignored": args.get("ignored", False),
                "left_out": area.left_out.decode("latin-1"),
            }
            found, said = await self._asked(method, {"ground": ground, "skip": args.get("skip", 0), **more})
            whole = [_found_path(area, path, item) for path, item in found]
            allowed = await asyncio.to_thread(boundary.vouched, whole)
            hidden = [one.path for one, may in zip(whole, allowed, strict=True) if not may]
            for at, one in enumerate(whole):
                if allowed[at] and self._kept_back(one.path, context.meta):
                    hidden.append(one.path)
                if at % SLICE == SLICE - 1:
                    await asyncio.sleep(0)
            if not hidden:
                files = int(said.get("files", 0)) + len(closed) - len(area.closed)
                return FoundInTree(area, args.get("path", ""), tuple(found), {**said, "files": files})
            closed += hidden
        raise ToolFailure(
            "Too much here may not be read by agents: look in a folder further below.", code="file.failed"
        )

    async def _asked(
        self, method: str, params: Mapping[str, Any]
    ) -> tuple[list[tuple[str, Mapping[str, Any]]], Mapping[str, Any]]:
        """What the child found, and what it says of the whole."""
        stream = self._child.stream(method, params)
        try:
            return [(_unpacked(item["path"]), item) async for item in stream], stream.value or {}
        except ChildRefused as error:
            if error.code != "search.expression":
                raise
            raise ToolFailure(_SYNTAX.format(why=str(error).rstrip(".")), code="tool.validation") from error
        finally:
            stream.cancel()

    def _kept_back(self, path: str, meta: RunMeta) -> bool:
        """Whether a rule denies the plain call that would show this file, or asks first."""
        facts = CallFacts(
            self.spec.bound_by,
            Category.READ,
            path,
            self.spec.tags,
            {"path": path},
            self.spec.source,
            resolved={"path": path},
            thread_id=meta.thread_id,
            above=meta.above,
            project=meta.project,
        )
        rule = self._rules.match(facts)
        return rule is not None and (rule.policy == "deny" or (rule.policy == "ask" and not rule.bare))

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        raise NotImplementedError

    def _room(self) -> int:
        return max(1000, self._settings().output_limit - 800)


class FindText(_TreeTool):
    """The tool ``find-text``. ``versions`` hears of which files its thread has seen lines."""

    def __init__(
        self,
        boundary: SearchBoundary,
        child: Child,
        settings: SettingsProvider,
        rules: RuleBook,
        versions: ReadVersions | None = None,
    ) -> None:
        super().__init__(boundary, child, settings, rules)
        self._versions = ReadVersions() if versions is None else versions

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return FIND_TEXT

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The lines by file, with notices of what was left out and how to go on."""
        limit, names_only = args.get("limit", LINES), args.get("names_only", False)
        finding = await self._find(
            "lines",
            args,
            context,
            pattern=args["pattern"],
            globs=list(args.get("globs", ())),
            around=args.get("context", 0),
            case=args.get("case", "exact") == "exact",
            literal=args.get("literal", False),
            names_only=names_only,
            limit=limit,
        )
        text, count, files, cut = await asyncio.to_thread(_lines, finding, self._room())
        for path, item in finding.items:
            if "lines" in item:
                self._versions.saw(context.meta.thread_id, _found_path(finding.area, path, item).path, read=True)
        noun = "file" if names_only else "line"
        notes = _notes(finding, count, noun, skip=args.get("skip", 0), cut=cut)
        if finding.said.get("binary") and finding.said.get("files") == 1:
            notes.insert(0, "the file is not text")
        facts = {"path": finding.area.root, "lines": count, "files": files}
        return ToolResult(_with_notes(text, notes), facts=facts)


class FindFiles(_TreeTool):
    """The tool ``find-files``."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return FIND_FILES

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """One path a line, with notices of what was left out and how to go on."""
        glob = args["glob"]
        folders = glob.endswith("/")
        finding = await self._find(
            "names", args, context, globs=[glob], folders=folders, limit=args.get("limit", NAMES)
        )
        lines: list[str] = []
        room = self._room()
        for path, _ in finding.items:
            line = finding.shown_path(path) + ("/" if folders else "")
            room -= len(line.encode("utf-8", "replace")) + 1
            if room < 0:
                break
            lines.append(line)
        noun = "folder" if folders else "file"
        notes = _notes(finding, len(lines), noun, skip=args.get("skip", 0), cut=room < 0)
        return ToolResult(_with_notes("\n".join(lines), notes), facts={"path": finding.area.root, "files": len(lines)})


def _lines(finding: FoundInTree, room: int) -> tuple[str, int, int, bool]:
    """The text; how many found lines, or files, and how many files are in it; whether there was no room for all."""
    said: list[str] = []
    count = files = 0
    for path, item in finding.items:
        for line, found in _of_file(finding.shown_path(path), item, first=not said):
            room -= len(line.encode("utf-8", "replace")) + 1
            if room < 0 and count:
                return "\n".join(said), count, files, True
            said.append(line)
            count += found
        files += 1
    return "\n".join(said), count, files, False


def _of_file(name: str, item: Mapping[str, Any], *, first: bool) -> Iterator[tuple[str, bool]]:
    """The lines of text about one file, each with whether it is one that was found."""
    lines = item.get("lines")
    if not isinstance(lines, list):
        yield f"{name}: {count_words(int(item.get('count', 0)), 'line')}", True
        return
    yield (name if first else f"\n{name}"), False
    around, last = any(not found for _, _, found in lines), 0
    for number, text, found in lines:
        if around and last and number > last + 1:
            yield "--", False
        last = number
        yield f"{number}{':' if found else '-'}{_shown(str(text))}", bool(found)


def _notes(finding: FoundInTree, count: int, noun: str, *, skip: int, cut: bool) -> list[str]:
    """What the model has to know of what it does not see."""
    said, notes = finding.said, list[str]()
    if cut or said.get("more") is True:
        notes.append(f"{count_words(count, noun)} shown, there are more: narrow the search, or skip {skip + count}")
    elif not count:
        after = f" after the first {skip}" if skip else ""
        notes.append(f"nothing found{after} in {count_words(int(said.get('files', 0)), 'file')}")
        if ignored := int(said.get("ignored", 0)):
            notes.append(f"left out as ignored: {ignored:,}")
    if unread := int(said.get("unread", 0)):
        named = ", ".join(shown_name(_unpacked(path)) for path in said.get("unreadable", ()))
        notes.append(f"could not be read: {named}{f' and {unread - 5:,} more' if unread > 5 else ''}")
    if deep := int(said.get("too_deep", 0)):
        notes.append(f"too deep to go into: {count_words(deep, 'folder')}")
    return notes


def _with_notes(text: str, notes: list[str]) -> str:
    if not notes:
        return text
    note = "; ".join(notes)
    return f"{text}{chr(10) if text else ''}[{note[:1].upper()}{note[1:]}]"


def _shown(text: str) -> str:
    """A line of a file: it stays one line, whatever it holds."""
    return text.replace("\r", "\\r").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\x85")


def _found_path(area: SearchArea, path: str, item: Mapping[str, Any]) -> FoundPath:
    where = os.path.join(area.root, path) if path else area.root
    device, inode = item.get("device"), item.get("inode")
    return FoundPath(where, device if isinstance(device, int) else None, inode if isinstance(inode, int) else None)


def _packed(path: str) -> str:
    """A path for the pipe, which takes no halves of characters: its bytes as Latin-1."""
    return os.fsencode(path).decode("latin-1")


def _unpacked(path: object) -> str:
    return os.fsdecode(str(path).encode("latin-1", "replace"))

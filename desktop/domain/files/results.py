"""Results: files that the calls of a chat wrote, and large code blocks of its answers, each with its versions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from desktop.domain.errors import KnownError
from desktop.domain.files.changes import KeptChange, NotKept
from desktop.domain.loading.lazy_dataclass import dataclass

ResultKind = Literal["page", "drawing", "table", "tree", "markdown", "image", "pdf", "code"]
NodeKind = Literal["object", "list", "part", "number", "text", "word"]
_KINDS: Mapping[str, ResultKind] = {
    **dict.fromkeys(("html", "htm", "xhtml"), "page"),
    **dict.fromkeys(("svg",), "drawing"),
    **dict.fromkeys(("csv", "tsv", "tab"), "table"),
    **dict.fromkeys(("json", "jsonl", "ndjson", "geojson"), "tree"),
    **dict.fromkeys(("md", "markdown"), "markdown"),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "avif", "tif", "tiff", "bmp", "ico"), "image"),
    **dict.fromkeys(("pdf",), "pdf"),
}
_CODE = frozenset(
    "bat c cc clj cpp cs css dart ex exs fs go gradle h hpp hs ini java jl js jsx kt lua m mjs ml nim pas php pl proto "
    "ps1 py r rb rs rst sass scala scss sh sql swift tex tf toml ts tsx txt vb vue xml yaml yml zig".split()
)
FENCED: Mapping[str, str] = {
    "html": "html",
    "htm": "html",
    "svg": "svg",
    "csv": "csv",
    "tsv": "tsv",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
}
"""What a code block says it is, and the ending that its name gets."""
FENCE_FROM = 600
"""Characters from which on a code block is a result."""
FENCE_MOST = 2_000_000
FENCES = 40
"""Results of one answer."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$")
_NAMED = re.compile(r"(?:title|file|filename|name)\s*=\s*[\"']?([^\"'\s}]{1,120})")
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})<", re.IGNORECASE)


class ResultRefused(KnownError):
    """A result cannot be shown; the text says why."""

    code = "result.refused"


@dataclass(frozen=True, slots=True)
class ResultVersion:
    """A result as it was at a time."""

    number: int
    """From 1."""
    at: float
    """When, in seconds since the epoch; 0: unknown."""
    size: int
    """Bytes."""
    digest: str = ""
    """SHA-256 of what is kept of it."""
    text: str = ""
    """What it says, where it stood in an answer."""
    not_kept: NotKept = ""
    """Why it is not kept."""
    gone: bool = False
    """Whether it is not kept any more."""
    calls: frozenset[str] = frozenset()
    """The ids of the calls that wrote it, and the threads of agents in which they were made."""


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A result with its versions, the oldest first."""

    key: str
    """The path of a file; of what stood in an answer its name with a mark before it."""
    name: str
    """What a person calls it: never a path."""
    kind: ResultKind
    """How it is shown."""
    versions: tuple[ResultVersion, ...]
    """At least one."""
    project: str = ""
    """The folder in which the last call worked."""
    beginning: str = ""
    """The digest of the file as it was before the first call, where that is kept."""

    @property
    def is_file(self) -> bool:
        """Whether it was written as a file."""
        return os.path.isabs(self.key)


def kind_of(name: str) -> ResultKind | None:
    """How a file is shown, by its ending; None: it is none that is shown."""
    ending = os.path.splitext(name)[1][1:].lower()
    return _KINDS.get(ending) or ("code" if ending in _CODE else None)


def results_of(records: Sequence[KeptChange]) -> list[ResultFile]:
    """What the calls of a thread wrote, from what is kept of them, in the order in which it was first written. An undo
    writes no version."""
    found: dict[str, ResultFile] = {}
    for record in records:
        if record.undoes:
            continue
        calls = frozenset((record.origin.call_id, record.origin.thread_id, *record.origin.above))
        for file in record.files:
            change, kind = file.change, kind_of(file.change.path)
            if kind is None or change.after.kind != "file" or change.after.digest == change.before.digest:
                continue
            known = found.get(change.path)
            versions = known.versions if known is not None else ()
            made = ResultVersion(
                len(versions) + 1,
                record.at,
                change.after.size,
                change.after.digest,
                not_kept=file.not_kept,
                gone=not record.kept,
                calls=calls,
            )
            beginning = known.beginning if known is not None else change.before.digest
            found[change.path] = ResultFile(
                change.path, os.path.basename(change.path), kind, (*versions, made), record.origin.project, beginning
            )
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Fence:
    """A code block of an answer that is a result."""

    name: str
    """What it is called."""
    kind: ResultKind
    """How it is shown."""
    text: str
    """What stands in it."""


def fences_in(markdown: str) -> list[Fence]:
    """The large code blocks of a text that can be shown as what they are. One that is not closed is none yet."""
    if "```" not in markdown and "~~~" not in markdown:
        return []
    found: list[Fence] = []
    mark, info, begins = "", "", 0
    at = 0
    for line in markdown.split("\n"):
        end = at + len(line)
        opened = _FENCE.match(line) if mark or line.lstrip(" ")[:3] in ("```", "~~~") else None
        if opened is not None and not mark:
            mark, info, begins = opened[1], opened[2].strip(), end + 1
        elif opened is not None and opened[1][0] == mark[0] and len(opened[1]) >= len(mark) and not opened[2].strip():
            made = _fence(info, markdown[begins : max(begins, at - 1)])
            if made is not None and len(found) < FENCES:
                found.append(made)
            mark = ""
        at = end + 1
    return found


def _fence(info: str, text: str) -> Fence | None:
    said = info.split(None, 1)
    language = said[0].lower().strip("{.}") if said else ""
    ending = FENCED.get(language, "svg" if language == "xml" and text.lstrip()[:4].lower() == "<svg" else "")
    if not ending or not FENCE_FROM <= len(text) <= FENCE_MOST:
        return None
    rest = said[1] if len(said) > 1 else ""
    named = _NAMED.search(rest)
    words = named[1] if named is not None else next((one for one in rest.split() if kind_of(one)), "")
    name = os.path.basename(words.replace("\\", "/")).strip()
    if kind_of(name) is None:
        title = _TITLE.search(text[:20_000]) if ending in ("html", "svg") else None
        name = (
            f"{' '.join(title[1].split())[:60].replace('/', '-') if title is not None else _UNNAMED[ending]}.{ending}"
        )
    kind = kind_of(name)
    return Fence(name, kind, text) if kind is not None else None


_UNNAMED = {"html": "page", "svg": "drawing", "csv": "table", "tsv": "table", "json": "data", "jsonl": "data"}


@dataclass(frozen=True, slots=True)
class ResultValue:
    """A value in a tree."""

    key: str
    """What it is called where it stands."""
    kind: NodeKind
    """What it is; a part is some of what is inside a very long one."""
    words: str
    """What it says; "" for what has others inside."""
    count: int
    """How many are inside."""
    rows: int
    """How many rows these are: of very many, parts of them."""


@dataclass(frozen=True, slots=True)
class ResultAbout:
    """What is known of a result once it is open."""

    title: str = ""
    """What a page calls itself."""
    left: tuple[tuple[str, str], ...] = ()
    """What was left out of a page: what it is, and which."""
    more_left: int = 0
    """How many things beyond those."""
    rows: int = 0
    """Of a table."""
    names: tuple[str, ...] = ()
    """Of its columns."""
    columns: int = 0
    """How many it has, also those that are not shown."""
    root: ResultValue | None = None
    """The outermost value of a tree."""
    pages: int = 0
    """Of a PDF."""
    notes: tuple[str, ...] = ()
    """What else is to be said."""


@dataclass(frozen=True, slots=True)
class DrawnSize:
    """How large a drawn page is."""

    width: int
    """Pixels."""
    height: int
    """Pixels."""
    tile: int
    """Pixels of one piece in height; the last one may be lower."""
    note: str = ""
    """What of it is not drawn."""


class OpenResult(Protocol):
    """A result that is open, in a process of its own. Everything raises ResultRefused."""

    @property
    def about(self) -> ResultAbout:
        """What it is."""
        ...

    async def draw(self, width: int, scale: float) -> DrawnSize:
        """Draw a page so wide at 100 %, with so many pixels for each."""
        ...

    async def tile(self, number: int) -> bytes:
        """A piece of what was drawn, as PNG."""
        ...

    async def page(self, part: int, width: int) -> bytes:
        """A page of a PDF, as PNG."""
        ...

    async def rows(self, first: int, count: int, *, whole: bool = False) -> list[tuple[str, ...]]:
        """Rows of a table; ``whole``: with all of their cells' text."""
        ...

    async def sort(self, column: int, *, descending: bool) -> None:
        """Order a table by a column; -1: as it is written."""
        ...

    async def nodes(self, path: Sequence[int], first: int, count: int) -> list[ResultValue]:
        """What is inside a value of a tree."""
        ...


class ResultOpener(Protocol):
    """Opens results."""

    def open(self, handle: int, name: str, kind: ResultKind) -> AbstractAsyncContextManager[OpenResult]:
        """The result that ``handle`` has open, which stays the caller's. Raises ResultRefused."""
        ...

"""The result beside the open chat: its versions, how it is shown, what was left out. The view-model of the panel."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.files.results import DrawnSize, OpenResult, ResultFile, ResultKind, ResultVersion
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words, size_words
from desktop.presenter.common.held import HeldOpen
from desktop.presenter.common.words import clock
from desktop.presenter.results.cards import ResultCards
from desktop.presenter.results.rows import WINDOW, TableRows, TreeRows

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.results.service import ResultService

View = Literal["page", "text", "changes"]
CHILD: tuple[ResultKind, ...] = ("page", "drawing", "table", "tree", "pdf")
"""Shown with the help of a process of its own."""
TEXTS: tuple[ResultKind, ...] = ("page", "drawing", "table", "tree", "markdown", "code")
"""Have a text."""
TEXT_ROOM, LINES = 300_000, 6_000
"""Characters and lines of a text that are shown."""
COPIED_ROWS = 5_000
CLOSES = 60_000
"""Milliseconds without a look after which the process is ended."""
REDRAW = 250
"""Milliseconds after which a page is drawn anew that has another room."""


@dataclass(frozen=True, slots=True)
class ShownResult:
    """What the panel shows."""

    key: str = ""
    """The result; "": none."""
    name: str = ""
    """What it is called."""
    kind: ResultKind = "code"
    """How it is shown."""
    versions: tuple[ResultVersion, ...] = ()
    """All of them."""
    number: int = 0
    """The one that is shown."""
    view: View = "page"
    """As what it is, as its text, or as what became other."""
    loading: bool = False
    """Whether it is still to come."""
    problem: str = ""
    """Why it cannot be shown."""
    text: str = ""
    """Its text, as far as it is shown."""
    before: str | None = None
    """The text of the version before, for the differences; None: there is none."""
    data: bytes = field(repr=False, default=b"")
    """A picture."""
    drawn: DrawnSize | None = None
    """How large the drawn page is."""
    pages: int = 0
    """Of a PDF."""
    page: int = 1
    """The one that is shown."""
    title: str = ""
    """What it calls itself."""
    foot: str = ""
    """What was left out, or what else is to be said."""
    left: tuple[tuple[str, str], ...] = ()
    """What was left out: what it is, and which."""
    now: str = ""
    """What became of the file since."""

    @property
    def version(self) -> ResultVersion | None:
        """The one that is shown."""
        return next((one for one in self.versions if one.number == self.number), None)

    @property
    def views(self) -> tuple[View, ...]:
        """How it can be shown."""
        own: tuple[View, ...] = () if self.kind == "code" else ("page",)
        return (*own, "text", "changes") if self.kind in TEXTS else own

    @property
    def when(self) -> str:
        """When the version was made, and how large it is."""
        shown = self.version
        if shown is None:
            return ""
        return ", ".join(filter(None, (clock(shown.at) if shown.at else "", size_words(shown.size))))


class ResultViewModel(QObject):
    """``opened``: one is to be shown; ``changed``: what is shown is another; ``tile_came`` a piece of a drawn page;
    ``said`` a sentence; ``saved``: name and bytes that are to be saved; ``copied`` text for the clipboard."""

    opened = Signal()
    changed = Signal()
    tile_came = Signal(int, bytes)
    said = Signal(str)
    saved = Signal(str, object)
    copied = Signal(str)

    def __init__(self, service: ResultService, cards: ResultCards, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._cards, self._bridge = service, cards, bridge
        self.shown = ShownResult()
        self.table, self.tree = TableRows(self), TreeRows(self)
        self.table.wanted = self._want_rows
        self.table.sorted_by = self._sort
        self.tree.wanted = self._want_nodes
        self._held: HeldOpen[OpenResult] | None = None
        self._held_for: tuple[str, int] = ("", 0)
        self._turn = asyncio.Lock()
        self._asked = 0
        self._room: tuple[int, float] = (500, 1.0)
        self._views: dict[str, View] = {}
        self._order: tuple[int, bool] = (-1, False)
        self._idle = QTimer(self, singleShot=True, interval=CLOSES)
        self._idle.timeout.connect(self._put_away)
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW)
        self._redraw.timeout.connect(self._draw_anew)
        cards.changed.connect(self._others)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def open(self, key: str, number: int = 0) -> None:
        """Show a result of the open chat, in a version or in its last one."""
        result = self._cards.result(key)
        if result is None:
            self.said.emit("This result is not kept any more.")
            return
        number = number if 1 <= number <= len(result.versions) else len(result.versions)
        view = self._views.get(key, "text" if result.kind == "code" else "page")
        self.shown = ShownResult(key, result.name, result.kind, result.versions, number, view, loading=True)
        self._cards.mark_open(key, number)
        self.opened.emit()
        self._show()

    def show_version(self, number: int) -> None:
        """Show another version of it."""
        if number != self.shown.number and 1 <= number <= len(self.shown.versions):
            self._cards.mark_open(self.shown.key, number)
            self.shown = self._blank(number)
            self._show()

    def set_view(self, view: View) -> None:
        """As what it is, as its text, or as what became other."""
        if view in self.shown.views and view != self.shown.view:
            self._views[self.shown.key] = view
            self.shown = replace(self._blank(self.shown.number), view=view)
            self._show()

    def set_room(self, width: int, scale: float) -> None:
        """How wide a page may be, at 100 %, and how many pixels are one of those."""
        room = (max(120, width), round(scale, 2))
        if room != self._room:
            self._room = room
            if self.shown.kind in ("page", "drawing") and self.shown.view == "page":
                self._redraw.start()

    def go(self, page: int) -> None:
        """Show another page of a PDF."""
        shown = self.shown
        page = max(1, min(page, shown.pages))
        if shown.pages and page != shown.page:
            self.shown = replace(shown, page=page, loading=True)
            self._show()

    def want_tile(self, number: int) -> None:
        """Have a piece of the drawn page."""
        asked = self._asked

        async def work() -> None:
            async with self._turn:
                if asked != self._asked:
                    return
                if self._held is None:  # nobody had looked for a while: it is drawn again
                    self._redraw.start()
                    return
                self._idle.start()
                png = await (await self._held.value).tile(number)
                if asked == self._asked:
                    self.tile_came.emit(number, png)

        self._spawn(work(), "a piece of a page")

    def copy_rows(self, rows: range, columns: range) -> None:
        """Copy cells of a table with all that stands in them."""
        rows = rows[:COPIED_ROWS]

        async def work(result: OpenResult) -> None:
            found: list[tuple[str, ...]] = []
            for first in range(rows.start, rows.stop, WINDOW):
                found += await result.rows(first, min(WINDOW, rows.stop - first), whole=True)
            lines = ["\t".join(_cell(row[at]) if at < len(row) else "" for at in columns) for row in found]
            self.copied.emit("\n".join(lines))
            self.said.emit(f"{count_words(len(lines), 'row')} copied")

        self._with_open(work, "copy rows")

    def save_copy(self) -> None:
        """Get all of the version that is shown, to be saved."""
        version, name = self.shown.version, self.shown.name
        if version is None:
            return

        async def work() -> None:
            self.saved.emit(name, await self._service.content(version))

        self._spawn(work(), "save a result")

    def close(self) -> None:
        """The panel is closed: the process that shows it is ended."""
        self._asked += 1
        self._cards.mark_open("", 0)
        self.shown = ShownResult()
        self._put_away()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _blank(self, number: int) -> ShownResult:
        shown = self.shown
        return ShownResult(
            shown.key, shown.name, shown.kind, shown.versions, number, shown.view, loading=True, now=shown.now
        )

    def _others(self) -> None:
        """The result may have one version more; who looks at the last one sees it."""
        shown = self.shown
        result = self._cards.result(shown.key) if shown.key else None
        if result is None or result.versions == shown.versions:
            return
        if shown.number == len(shown.versions) and len(result.versions) > len(shown.versions):
            self.open(shown.key)
        else:
            self.shown = replace(shown, versions=result.versions)
            self.changed.emit()

    def _show(self) -> None:
        self._asked += 1
        asked, shown = self._asked, self.shown
        self._give_up((shown.key, shown.number))
        self.changed.emit()
        by_child = shown.view == "page" and shown.kind in CHILD

        async def work() -> None:
            async with self._turn if by_child else contextlib.nullcontext():
                if asked != self._asked:
                    return
                try:
                    made = await self._made(shown)
                except KnownError as error:
                    if by_child:
                        await self._drop()
                    made = replace(shown, problem=error.advice)
                result = self._cards.result(shown.key)
                now = await self._service.now(result) if result is not None else ""
            if asked == self._asked:
                self.shown = replace(made, versions=self.shown.versions, loading=False, now=now)
                self.changed.emit()

        self._spawn(work(), "show a result")

    async def _made(self, shown: ShownResult) -> ShownResult:
        version = shown.version
        result = self._cards.result(shown.key)
        if version is None or result is None:
            return replace(shown, problem="This result is not kept any more.")
        if shown.view == "changes":
            return await self._compared(shown, result, version)
        if shown.view == "text" or shown.kind == "markdown":
            return await self._as_text(shown, version)
        if shown.kind == "image":
            return replace(shown, data=await self._service.picture(result, version))
        return await self._opened(shown, result, version)

    async def _compared(self, shown: ShownResult, result: ResultFile, version: ResultVersion) -> ShownResult:
        before = ""
        if version.number > 1:
            before = await self._text(result.versions[version.number - 2])
        elif result.beginning:
            before = _decoded(await self._service.beginning(result.beginning))
        (text, foot), (cut, other) = _cut(await self._text(version)), _cut(before)
        return replace(shown, text=text, before=cut, foot=foot or other)

    async def _as_text(self, shown: ShownResult, version: ResultVersion) -> ShownResult:
        text, foot = _cut(await self._text(version))
        return replace(shown, text=text, foot=foot)

    async def _text(self, version: ResultVersion) -> str:
        return await self._bridge.in_thread(_decoded, await self._service.content(version))

    async def _opened(self, shown: ShownResult, result: ResultFile, version: ResultVersion) -> ShownResult:
        open_ = await self._open(result, version)
        about = open_.about
        foot = " ".join(about.notes)
        if shown.kind in ("page", "drawing"):
            drawn = await open_.draw(*self._room)
            told = left_words(about.left, about.more_left)
            said = " ".join(filter(None, (f"No script, no network{': ' + told if told else ''}.", drawn.note)))
            return replace(shown, drawn=drawn, title=about.title, left=about.left, foot=said)
        if shown.kind == "table":
            self._order = (-1, False)
            await open_.sort(-1, descending=False)
            self.table.show_table(about.names, about.rows)
            size = f"{count_words(about.rows, 'row')}, {count_words(about.columns, 'column')}."
            return replace(shown, foot=" ".join(filter(None, (size, foot))))
        if shown.kind == "tree":
            self.tree.show_tree(about.root)
            return replace(shown, foot=foot)
        picture = await open_.page(min(shown.page, about.pages), round(self._room[0] * self._room[1]))
        return replace(shown, data=picture, pages=about.pages, title=about.title)

    async def _open(self, result: ResultFile, version: ResultVersion) -> OpenResult:
        self._idle.start()
        wanted = (result.key, version.number)
        if self._held is not None and self._held_for != wanted:
            await self._drop()
        if self._held is None:
            self._held, self._held_for = HeldOpen[OpenResult](), wanted
            opened = self._service.opened(result, version)
            self._held.task = self._bridge.spawn(self._held.hold(opened), name="hold a result open")
            self._held.task.add_done_callback(lambda _: self._idle.stop())
            if self._held.task.cancelled():  # the app closes
                self._held = None
                raise asyncio.CancelledError
            if result.kind == "table" and self._order[0] >= 0:
                await (await self._held.value).sort(self._order[0], descending=self._order[1])
        return await self._held.value

    def _draw_anew(self) -> None:
        if self.shown.drawn is not None or self.shown.loading:
            self._show()

    def _want_rows(self, first: int) -> None:
        async def work(result: OpenResult) -> None:
            self.table.take(first, await result.rows(first, WINDOW))

        self._with_open(work, "rows of a table")

    def _sort(self, column: int, descending: bool) -> None:
        async def work(result: OpenResult) -> None:
            self._order = (column, descending)
            await result.sort(column, descending=descending)
            self.table.forget()

        self._with_open(work, "sort a table")

    def _want_nodes(self, path: list[int], first: int) -> None:
        async def work(result: OpenResult) -> None:
            self.tree.take(path, first, await result.nodes(path, first, WINDOW))

        self._with_open(work, "open a value")

    def _with_open(self, act: Callable[[OpenResult], Coroutine[Any, Any, None]], name: str) -> None:
        """Do something with what is shown, if it still is then; its process is started again where it was ended."""
        asked = self._asked

        async def work() -> None:
            async with self._turn:
                version, result = self.shown.version, self._cards.result(self.shown.key)
                if asked == self._asked and version is not None and result is not None:
                    await act(await self._open(result, version))

        self._spawn(work(), name)

    def _give_up(self, wanted: tuple[str, int]) -> None:
        """What is at work on another one is ended now: nobody waits for it."""
        if self._held is not None and self._held_for != wanted:
            self._held.over.set()
            self._held = None

    def _put_away(self) -> None:
        self._idle.stop()
        self._give_up(("", 0))

        async def work() -> None:
            async with self._turn:
                await self._drop()

        self._spawn(work(), "close a result")

    async def _drop(self) -> None:
        held, self._held = self._held, None
        if held is not None and held.task is not None:
            held.over.set()
            await asyncio.wait({held.task})

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._failed)

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice if isinstance(error, KnownError) else "The result cannot be shown.")


def left_words(left: tuple[tuple[str, str], ...], more: int = 0) -> str:
    """``2 scripts and 1 picture left out``."""
    counts: dict[str, int] = {}
    for what, _ in left:
        counts[what] = counts.get(what, 0) + 1
    words = [_counted(count, what) for what, count in counts.items()]
    if more:
        words.append(f"{more:,} more things")
    if not words:
        return ""
    return f"{', '.join(words[:-1])}{' and ' if len(words) > 1 else ''}{words[-1]} left out"


def _counted(count: int, what: str) -> str:
    head, _, rest = what.partition(",")
    kind, _, place = head.partition(" in ")
    name = f"{kind}{'' if count == 1 else 's'}"
    if kind.startswith("way "):
        name = "way to another page" if count == 1 else "ways to other pages"
    return f"{count:,} {name}{' in ' + place if place else ''}{' (' + rest.strip() + ')' if rest else ''}"


def _decoded(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _cut(text: str) -> tuple[str, str]:
    """As much of a text as is shown, with what is said then."""
    whole = len(text)
    shown = text[:TEXT_ROOM]
    lines = shown.split("\n", LINES)
    if len(lines) > LINES:
        shown = "\n".join(lines[:LINES])
    if len(shown) == whole:
        return text, ""
    return shown, f"The first {size_words(len(shown))} are shown. Save as has all of it."


def _cell(text: str) -> str:
    """A cell on one line, so that a row stays a row where it is pasted."""
    return " ".join(text.replace("\t", " ").splitlines())

"""A result beside the chat: as what it is, as its text, or as what became other; one version or another."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import QFrame, QMenu, QStackedWidget, QWidget

from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.results.viewer import ResultViewModel, ShownResult
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import Diff, diff, plain_rows
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.results.data_views import TablePage, TreePage
from desktop.ui.results.left_out import LeftOutDialog
from desktop.ui.results.markdown_page import MarkdownPage
from desktop.ui.results.page_view import PageView
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

W = TypeVar("W", bound=QWidget)
VIEWS = {"page": "Page", "text": "Text", "changes": "Changes"}
PAGES = {"table": "Table", "tree": "Values", "image": "Picture", "drawing": "Drawing"}
"""What the first of the views is called where it is no page."""
ICONS = {
    "page": "code",
    "drawing": "appearance",
    "table": "file",
    "tree": "code",
    "image": "appearance",
    "code": "code",
}
NUMBERS = 5
"""Versions that stand side by side; earlier ones are in a menu."""
COLOURED = 60_000
"""Characters of a text that is shown in colours."""
_TICKS = re.compile("`+")
IN_WORDS = "Shown as a picture; what stands in it is under Text"
NOT_SHOWN = "This cannot be shown"
NO_CHANGES = "Nothing changed", "This version says the same as the one before."


class ResultPanel(QFrame):
    """``closed`` by the person; ``save`` a path, and the bytes; ``link`` an address that was pressed. ``said`` is there
    as in every panel at the side."""

    closed = Signal()
    said = Signal(str)
    save = Signal(str, object)
    link = Signal(str)

    def __init__(
        self, result: ResultViewModel, parent: QWidget | None = None, fences: FencesViewModel | None = None
    ) -> None:
        super().__init__(parent)
        self._result, self._fences = result, fences
        self.setProperty("pane", "side")
        self.setAccessibleName("Result")
        self.head, self.bar, self.foot = _ResultHead(), _VersionBar(), _ResultFoot()
        self.page = PageView("Page")
        self._pages = QStackedWidget()
        self._pages.addWidget(self.page)
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        for part in (self.head, self.bar):
            column.addWidget(part)
        column.addWidget(self._pages, 1)
        column.addWidget(self.foot)
        self._work = Background(self, self._made)
        self._before = ShownResult()
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        result = self._result
        result.changed.connect(self.refresh)
        result.tile_came.connect(self.page.take)
        result.saved.connect(self._ask_where)
        result.copied.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.page.tile_wanted.connect(result.want_tile)
        self.page.room.connect(result.set_room)
        self.page.turned.connect(lambda by: result.go(result.shown.page + by))
        self.head.close_button.clicked.connect(self.closed)
        self.head.save.clicked.connect(result.save_copy)
        self.bar.version_wanted.connect(result.show_version)
        self.bar.view_wanted.connect(result.set_view)
        self.bar.page_wanted.connect(result.go)
        self.foot.which.clicked.connect(self._show_left)

    # -- what shows it, each made when it is first wanted -------------------------------------------------------------

    @cached_property
    def lines(self) -> LinesView:
        """A text, or what became other."""
        return self._added(LinesView("Text"))

    @cached_property
    def table(self) -> TablePage:
        """A table."""
        made = self._added(TablePage(self._result.table))
        made.copy_wanted.connect(self._result.copy_rows)
        return made

    @cached_property
    def tree(self) -> TreePage:
        """Values."""
        made = self._added(TreePage(self._result.tree))
        made.copied.connect(self.said)
        return made

    @cached_property
    def markdown(self) -> MarkdownPage:
        """A text in Markdown."""
        made = self._added(MarkdownPage())
        made.link_activated.connect(self.link)
        if self._fences is not None:
            made.colours.set_source(self._fences)
            made.drawings.set_source(self._fences)
        return made

    @cached_property
    def code(self) -> MarkdownPage:
        """A text in the colours of its language."""
        made = self._added(MarkdownPage())
        if self._fences is not None:
            made.colours.set_source(self._fences)
        return made

    @cached_property
    def problem(self) -> EmptyState:
        """Why there is nothing."""
        return self._added(EmptyState("file", NOT_SHOWN, ""))

    def _added(self, widget: W) -> W:
        self._pages.addWidget(widget)
        return widget

    def first_focus(self) -> QWidget:
        """Keys go to what is shown."""
        shown = self._pages.currentWidget()
        return self.head.save if shown is None or isinstance(shown, EmptyState) else shown

    # -- what is shown ------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what the view-model has now."""
        now, before = self._result.shown, self._before
        self.head.show_result(now)
        self.bar.show_result(now)
        self.foot.show_result(now)
        if not now.key or now == before:
            return
        if now.problem:
            self.problem.say(NOT_SHOWN, now.problem)
            self._pages.setCurrentWidget(self.problem)
        elif now.loading:
            return  # what is there stays until the other is
        elif now.view == "page":
            self._show_page(now)
        elif _said(now) != _said(before):
            self._show_text(now)
        self._before = now

    def _show_page(self, now: ShownResult) -> None:
        self._work.cancel()
        before = self._before
        same = (now.key, now.number, now.view) == (before.key, before.number, before.view)
        name = shown_line(f"{now.title or now.name}, {PAGES.get(now.kind, 'Page')}")
        if now.kind in ("page", "drawing") and now.drawn is not None:
            if now.drawn is not before.drawn or not same:
                self.page.show_drawn(now.drawn, again=same)
        elif now.kind in ("image", "pdf") and now.data is not before.data:
            self.page.show_picture(now.data, paper=now.kind == "pdf")
        elif now.kind == "markdown" and not (same and now.text == before.text):
            self.markdown.show_text(shown_line(now.name), now.text)
        self.page.setAccessibleName(name)
        self.page.setAccessibleDescription(IN_WORDS if now.kind in ("page", "drawing") else "")
        own = {"table": "table", "tree": "tree", "markdown": "markdown"}.get(now.kind, "page")
        self._pages.setCurrentWidget(getattr(self, own))

    def _show_text(self, now: ShownResult) -> None:
        """In the colours of its language, or line by line what is very long and what became other."""
        language = language_of(now) if self._fences is not None and now.view == "text" else ""
        if not language or len(now.text) > COLOURED:
            self._work.start(_rows(now))
            return
        self._work.cancel()
        mark = "`" * max(3, 1 + max(map(len, _TICKS.findall(now.text)), default=0))
        self.code.show_text(shown_line(now.name), f"{mark}{language}\n{now.text}\n{mark}")
        self._pages.setCurrentWidget(self.code)

    def _made(self, found: object) -> None:
        now = self._result.shown
        if now.view == "page" or now.problem:
            return
        if isinstance(found, Diff) and not found.rows:
            self.problem.say(*NO_CHANGES)
            self._pages.setCurrentWidget(self.problem)
            return
        rows = found.rows if isinstance(found, Diff) else found
        assert isinstance(rows, tuple)
        self.lines.setAccessibleName(f"{VIEWS[now.view]} of {shown_line(now.name)}")
        self.lines.set_rows(rows)
        self._pages.setCurrentWidget(self.lines)

    def hideEvent(self, event: QHideEvent) -> None:
        """What shows it is ended."""
        super().hideEvent(event)
        above = self.parentWidget()
        if above is None or not self.isVisibleTo(above):  # else the window, or the page, is away for a while
            self._before = ShownResult()
            self.page.clear()
            self._result.close()

    def _show_left(self) -> None:
        LeftOutDialog(self.window(), self._result.shown.left).open()

    def _ask_where(self, name: str, data: object) -> None:
        dialog = FileDialog(self, "Save this version")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        name = file_name(name)
        dialog.setDefaultSuffix(name.rpartition(".")[2] if "." in name else "")
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self.save.emit(path, data))
        dialog.open()


class _ResultHead(QFrame):
    """The name of the result, and the ways out."""

    tabs = None

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self._icon = Icon("code", "text-2", 16)
        self.name = Text("", "strong", elide="middle")
        self.save = Button("Save as…", small=True, icon="export", tip="Save this version as a file of your own")
        self.close_button = IconButton("close", "Close the result", side=32)
        row = Row(self, margins=(16, 1, 8, 0), spacing=8)
        row.addWidget(self._icon)
        row.addWidget(self.name, 1)
        row.addWidget(self.save)
        row.addWidget(self.close_button)

    def show_result(self, now: ShownResult) -> None:
        """Whose versions these are."""
        self._icon.set_icon(ICONS.get(now.kind, "file"), "text-2")
        self.name.setText(shown_line(now.name))
        self.save.setEnabled(bool(now.key))


class _VersionBar(QFrame):
    """Which version, and how it is shown."""

    version_wanted = Signal(int)
    view_wanted = Signal(str)
    page_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=40)
        self._word = Text("Version", "small", "2")
        self._earlier = IconButton("left", "Earlier versions", side=24)
        self._earlier.clicked.connect(self._show_earlier)
        self.when = Text("", "small", "2", elide="right")
        self.back = IconButton("left", "The page before", side=24)
        self.on = IconButton("right", "The next page", side=24)
        self.of = Text("", "small", "2")
        self._page = 1
        self.back.clicked.connect(lambda: self.page_wanted.emit(self._page - 1))
        self.on.clicked.connect(lambda: self.page_wanted.emit(self._page + 1))
        self.versions: Segmented | None = None
        self.views: Segmented | None = None
        self._numbers: tuple[int, ...] = ()
        self._kinds: tuple[str, ...] = ()
        self._all = 0
        self._row = Row(self, margins=(16, 0, 16, 0), spacing=8)
        self._row.addWidget(self._word)
        self._row.addWidget(self._earlier)
        self._row.addWidget(self.when, 1)
        for widget in (self.back, self.of, self.on):
            self._row.addWidget(widget)

    def show_result(self, now: ShownResult) -> None:
        """Where in its versions that is."""
        self._all = len(now.versions)
        last = max(self._all, 1)
        end = max(min(last, now.number + NUMBERS - 1), min(last, NUMBERS)) if now.number <= last - NUMBERS else last
        self._set_numbers(tuple(range(max(1, end - NUMBERS + 1), end + 1)))
        if self.versions is not None:
            self.versions.set_value(str(now.number))
        self._earlier.setVisible(self._all > NUMBERS)
        self._set_views(tuple(now.views), PAGES.get(now.kind, "Page"))
        if self.views is not None:
            self.views.set_value(now.view)
        self.when.setText(now.when)
        self._page = now.page
        for widget in (self.back, self.of, self.on):
            widget.setVisible(now.pages > 1)
        self.of.setText(f"{now.page:,} of {now.pages:,}")
        self.back.setEnabled(now.page > 1)
        self.on.setEnabled(now.page < now.pages)

    def _set_numbers(self, numbers: tuple[int, ...]) -> None:
        if numbers == self._numbers:
            return
        self._numbers = numbers
        if self.versions is not None:
            self.versions.hide()
            self.versions.deleteLater()
        self.versions = Segmented("Which version", tuple((str(one), str(one)) for one in numbers), small=True)
        self.versions.chosen.connect(lambda value: self.version_wanted.emit(int(value)))
        self._row.insertWidget(2, self.versions)

    def _set_views(self, views: tuple[str, ...], first: str) -> None:
        kinds = (first, *views)
        if kinds == self._kinds:
            return
        self._kinds = kinds
        if self.views is not None:
            self.views.hide()
            self.views.deleteLater()
            self.views = None
        if len(views) > 1:
            labels = tuple((one, first if one == "page" else VIEWS[one]) for one in views)
            self.views = Segmented("How it is shown", labels, small=True)
            self.views.chosen.connect(self.view_wanted)
            self._row.addWidget(self.views)

    def _show_earlier(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number in range(self._all, 0, -1):
            menu.addAction(f"Version {number}").triggered.connect(
                lambda _=False, number=number: self.version_wanted.emit(number)
            )
        menu.popup(self._earlier.mapToGlobal(self._earlier.rect().bottomLeft()))


class _ResultFoot(QFrame):
    """What was left out, and what became of the file since."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "footer")
        self._icon = Icon("lock", "text-2", 16)
        self.words = Text("", "small", "2", elide="right")
        self.which = Button("Which", "quiet", small=True, tip="What was left out of this page")
        row = Row(self, margins=(16, 6, 12, 6), spacing=8)
        row.addWidget(self._icon)
        row.addWidget(self.words, 1)
        row.addWidget(self.which)
        sized(self, height=44)

    def show_result(self, now: ShownResult) -> None:
        """Of what is shown."""
        words = " ".join(filter(None, (now.now, now.foot)))
        self.words.setText(shown_line(words or "As it was written."))
        self.words.setToolTip(plain_tip(shown_line(words)))
        self._icon.set_icon("info" if now.now else "lock", "text-2")
        self.which.setVisible(bool(now.left) and now.view == "page")


def language_of(now: ShownResult) -> str:
    """What a text is written in; "" for a table."""
    ending = now.name.rpartition(".")[2].lower()
    known = {"page": "html", "drawing": "xml", "tree": "json", "markdown": "markdown", "code": ending}
    return "" if ending == "txt" else known.get(now.kind, "")


def file_name(name: str) -> str:
    """A name as a file can be called: no path, and nothing that cannot be seen."""
    return "".join(c for c in name if c.isprintable() and c not in '/\\:*?"<>|').strip(". ")[:120] or "result"


def _said(now: ShownResult) -> tuple[object, ...]:
    """What a text, or what became other, is made of."""
    return now.key, now.number, now.view, now.text, now.before


def _rows(now: ShownResult) -> Callable[[], object]:
    """The rows of a text or of a difference, made in a thread."""

    def work() -> object:
        if now.view == "changes" and now.before is not None:
            return diff(now.before, now.text)
        return plain_rows(now.text)

    return work

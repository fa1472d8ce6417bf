"""The changes of the open thread: its files against the beginning, its calls, and the ways to take them back."""

from __future__ import annotations

import os

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.changes.rows import ChangeRow, FileRow
from desktop.ui.changes.lists import CallDelegate, ChangeRows, FileDelegate, draw_figures, figures
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.layout.panel_head import CHANGES_KEYS, panel_tabs
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

EMPTY = (
    "Nothing changed yet",
    "What agents write in this chat, by whatever tool, shows here: each file against the beginning, and each call with "
    "the way to undo it.",
)
OPENED = frozenset(".md .txt .csv .tsv .json .yaml .yml .toml .ini .cfg .log .rst .tex .srt .org .adoc".split())
"""Endings of files that are opened with the person's own program; of others their folder is shown, because opening one
might run it."""
LEAST = 132
"""Pixels that each list keeps."""


class ChangesPanel(QFrame):
    """``closed`` by the person; ``said`` a sentence."""

    closed = Signal()
    said = Signal(str)

    def __init__(self, changes: ChangesViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes = changes
        self.setProperty("pane", "side")
        self.setAccessibleName("Changes")
        self.head = _Head()
        self.files = ChangeRows("Files changed in this chat", FileDelegate())
        self.calls = ChangeRows("Calls that changed files, the oldest first", CallDelegate())
        self.detail = _Detail()
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        column.addWidget(self.head)
        self._empty = EmptyState("changes", *EMPTY)
        self._body = pane("surface")
        self._scroll = _Scrolled(self._body)
        self._scroll.resized.connect(self.place)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._scroll)
        column.addWidget(self._pages, 1)
        self.against = _Caption()
        self.by_call = _Caption("Call by call", "oldest first")
        self.foot = _Foot()
        for widget in (self.against, self.files, self.by_call, self.calls, self.detail, self.foot):
            widget.setParent(self._body)

    def _connect(self) -> None:
        changes, detail = self._changes, self.detail
        changes.changed.connect(self.refresh)
        changes.conflict_found.connect(self._conflict_found)
        self.head.close_button.clicked.connect(self.closed)
        self.files.chosen.connect(self._file_chosen)
        self.files.undo_wanted.connect(self._open_file)
        self.calls.chosen.connect(self._call_chosen)
        self.calls.undo_wanted.connect(self._undo)
        self.calls.fold_wanted.connect(changes.unfold)
        self.calls.tell_folds(changes.is_unfolded)
        detail.call.clicked.connect(lambda: self._undo(self.calls.current))
        detail.agent.clicked.connect(lambda: self._with_id(changes.undo_agent))
        detail.run.clicked.connect(lambda: self._with_id(changes.undo_run))
        detail.since.clicked.connect(lambda: self._with_id(changes.undo_since))
        detail.open.clicked.connect(lambda: self._open_file(self.files.current))
        theme().changed.connect(self.place)

    def first_focus(self) -> QWidget:
        """Keys go to the calls."""
        return self.calls if self._changes.calls else self.head.close_button

    def choose_last(self) -> None:
        """Choose the newest call that can be undone."""
        rows = self._changes.calls
        at = next((number for number in range(len(rows) - 1, -1, -1) if rows[number].can_undo), -1)
        self.calls.select(at)
        if at >= 0:
            self.calls.scrollTo(self.calls.currentIndex())

    # -- what is shown ------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the changes while the panel is on the screen."""
        super().showEvent(event)
        self._changes.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following them."""
        super().hideEvent(event)
        self._changes.watch(False)

    def refresh(self) -> None:
        """Show what the view-model has now."""
        changes = self._changes
        some = bool(changes.calls)
        self._pages.setCurrentWidget(self._scroll if some else self._empty)
        self.head.tabs.set_count("changes", changes.count)
        self.files.show_rows(list(changes.files), "paths")
        self.calls.show_rows(changes.calls, "key")
        self.against.show_words(changes.head, *changes.sums)
        self.foot.words.set_pieces(changes.foot)
        self._show_detail()

    def _file_chosen(self, row: FileRow | None) -> None:
        """The calls that did not touch it are quiet."""
        self.calls.dim_but(frozenset(row.paths) if row is not None else None)
        if row is not None:
            self.calls.select(-1)
        self._show_detail()

    def _call_chosen(self, row: ChangeRow | None) -> None:
        if row is not None and self.files.current is not None and not set(self.files.current.paths) & row.paths:
            self.files.select(-1)
        self._show_detail()
        if row is not None and row.can_undo and row.change_id:
            self._changes.look_at(row)

    def _show_detail(self) -> None:
        call, file = self.calls.current, self.files.current
        agent = self._changes.agent_of(call.change_id) if call is not None else ""
        self.detail.show_rows(call, file, agent)
        self.place()

    def _conflict_found(self, key: str, words: str) -> None:
        call = self.calls.current
        if call is not None and call.key == key:
            self.detail.say(words, conflict=" conflict" in words)
            self.place()

    # -- what is done -------------------------------------------------------------------------------------------------

    def _with_id(self, act: object) -> None:
        call = self.calls.current
        if call is not None and call.change_id and callable(act):
            act(call.change_id)

    def _undo(self, row: ChangeRow | None) -> None:
        if row is not None and row.can_undo and row.change_id:
            self._changes.undo_calls(row.change_ids)

    def _open_file(self, row: FileRow | None) -> None:
        """In the person's own editor; of what an editor might run, its folder."""
        if row is None:
            return
        path = row.paths[0]
        whole = len(row.paths) == 1 and os.path.splitext(path)[1].lower() in OPENED and os.path.isfile(path)
        place = path if whole and not os.access(path, os.X_OK) else os.path.dirname(path)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(place)):
            self.said.emit(f"No program here opens {shown_line(os.path.basename(place))}.")

    # -- places -------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """The lists share what the rest leaves: each what it needs, and at least something; where there is no room for
        that, all of it is scrolled."""
        px, width, height = theme().px, self._scroll.viewport().width(), self._scroll.viewport().height()
        foot = self.foot.heightForWidth(width) if self.foot.hasHeightForWidth() else self.foot.sizeHint().height()
        below = 0 if self.detail.isHidden() else self.detail.needed(width)
        least = [min(px(LEAST), rows.content_height) for rows in (self.files, self.calls)]
        room = max(sum(least), height - 2 * px(32) - foot - below)
        files = min(self.files.content_height, max(least[0], room - self.calls.content_height), room - least[1])
        self._body.resize(width, room + 2 * px(32) + foot + below)
        at = 0
        for widget, tall in (
            (self.against, px(32)),
            (self.files, files),
            (self.by_call, px(32)),
            (self.calls, room - files),
            (self.detail, below),
            (self.foot, foot),
        ):
            widget.setGeometry(0, at, width, tall)
            at += tall


class _Scrolled(QScrollArea):
    """Scrolls the whole panel where the window is too low for it."""

    resized = Signal()

    def __init__(self, body: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(body)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is another room."""
        super().resizeEvent(event)
        self.resized.emit()


class _Head(QFrame):
    """The head of the panel, 48 pixels high."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self.tabs = panel_tabs("changes")
        self.close_button = IconButton("close", "Close the changes", shortcut=CHANGES_KEYS, side=32)
        row = Row(self, margins=(16, 1, 8, 0), spacing=12)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self.close_button)


class _Caption(QFrame):
    """A line over a list, 32 pixels high."""

    def __init__(self, text: str = "", right: str = "") -> None:
        super().__init__()
        self.setProperty("pane", "header")
        row = Row(self, margins=(16, 0, 16, 1), spacing=8)
        self._text = Text(text, "caption", "2", elide="right")
        self._sums = None if right else _Sums()
        row.addWidget(self._text, 1)
        row.addWidget(self._sums or Text(right, "caption", "2"))

    def show_words(self, text: str, added: int, removed: int) -> None:
        """What stands at the left, and the sums at the right."""
        self._text.setText(text)
        if self._sums is not None:
            self._sums.show_sums(added, removed)


class _Sums(QWidget):
    """Lines that came and went in all."""

    def __init__(self) -> None:
        super().__init__()
        self._sums = (0, 0)
        sized(self, width=140)

    def show_sums(self, added: int, removed: int) -> None:
        """Show these."""
        self._sums = (added, removed)
        self.setAccessibleName(", ".join(text for text, _ in figures(added, removed)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw them at the right."""
        draw_figures(QPainter(self), self.rect(), *self._sums)


class _Foot(QFrame):
    """How long and how much is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "footer")
        row = Row(self, margins=(16, 9, 16, 9), spacing=8)
        row.addWidget(Icon("lock", "text-2", 16), 0, Qt.AlignmentFlag.AlignTop)
        self.words = Paragraph("", "small", "2")
        row.addWidget(self.words, 1)


class _Detail(QFrame):
    """What would stay if the chosen call were undone, and the ways to undo; of a file the way to an editor."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "footer")
        self._column = Column(self, margins=(16, 10, 16, 10), spacing=8)
        said = Row(spacing=6)
        self._mark = Icon("retry", "info", 16)
        self.words = Paragraph("", "small", "2")
        said.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        said.addWidget(self.words, 1)
        self._column.addLayout(said)
        self.call = Button("Undo this call…", small=True, tip="Shown before it is done (Return)")
        self.agent = Button("", small=True)
        self.run = Button("Undo its run…", small=True)
        self.since = Button("Undo since here…", small=True)
        self.open = Button("Open", small=True, icon="file")
        self._rows = Row(spacing=6), Row(spacing=6)
        for row, buttons in zip(self._rows, ((self.call, self.agent), (self.run, self.since, self.open)), strict=True):
            for button in buttons:
                row.addWidget(button)
            row.addStretch(1)
            self._column.addLayout(row)
        self.hide()

    def show_rows(self, call: ChangeRow | None, file: FileRow | None, agent: str) -> None:
        """What is chosen in the two lists."""
        acts = call is not None and bool(call.change_id)
        can = acts and call is not None and call.can_undo
        self.setVisible(acts or file is not None)
        self.say(call.note.capitalize() + "." if acts and call is not None and call.note else "")
        self.call.setVisible(can)
        self.call.set_label(_undo_label(call))
        self.agent.setVisible(acts and bool(agent))
        self.agent.set_label(f"Undo everything by {shown_line(agent)[:40]}…" if agent else "")
        self.run.setVisible(acts and call is not None and not call.undo_of)
        self.since.setVisible(acts and call is not None and not call.undo_of)
        self.open.setVisible(file is not None)
        if file is not None:
            self.open.set_label("Open" if len(file.paths) == 1 else "Show folder")

    def say(self, words: str, *, conflict: bool = False) -> None:
        """What would stay, or why nothing can be undone."""
        head, colon, rest = words.partition(":") if conflict else ("", "", words)
        self.words.set_pieces(((head + colon, "strong"), (rest, "")) if head else words)
        self.words.setVisible(bool(words))
        self._mark.setVisible(conflict and bool(words))

    def needed(self, width: int) -> int:
        """How high it is."""
        self._column.activate()
        return self._column.heightForWidth(width) if self._column.hasHeightForWidth() else self.sizeHint().height()


def _undo_label(call: ChangeRow | None) -> str:
    if call is not None and call.inner:
        return f"Undo these {len(call.inner)} calls…"
    return "Undo the undo…" if call is not None and call.undo_of else "Undo this call…"

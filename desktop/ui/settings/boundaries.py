"""The lists of allowed and denied folders, and a path put to the test (R-FS-11, R-FS-14).

What opens more than it seems is confirmed in words first. A removed entry leaves its place empty while the pointer is
there, so that the cross of the next one does not come to lie under a second click.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.safety import Access, EntryFacts, Verdict
from desktop.presenter.boundaries import LISTS, BoundariesViewModel
from desktop.presenter.settings import SettingsViewModel
from desktop.ui.widgets.buttons import Button, IconButton
from desktop.ui.widgets.dialog import Answer, Dialog
from desktop.ui.widgets.fields import Field
from desktop.ui.widgets.files import FileDialog
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane, set_property
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

PAUSE = 200
"""Milliseconds after a key before the path is tested."""


class EntryRow(QFrame):
    """An entry as it is written, where it really leads, and what is odd about it; a cross at the right."""

    def __init__(self, entry: str) -> None:
        super().__init__()
        self.entry = entry
        self.setProperty("pane", "row")
        row = Row(self, margins=(12, 3, 4, 3))
        words = Column(spacing=0)
        self.text = Text(shown_line(entry), "code", elide="middle")
        words.addWidget(self.text)
        self._leads = Paragraph("", "small", "2")
        self._warning = Paragraph("", "small", "ask")
        for below in (self._leads, self._warning):
            words.addWidget(below)
            below.hide()
        row.addLayout(words, 1)
        self.cross = IconButton("close", f"Remove {entry}", side=28, glyph_side=14)
        kept = self.cross.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.cross.setSizePolicy(kept)
        row.addWidget(self.cross, 0, Qt.AlignmentFlag.AlignTop)

    def show_facts(self, facts: EntryFacts) -> None:
        """Say where it leads and what to know of it."""
        leads = f"leads to {shown_line(facts.resolved)}" if facts.resolved not in ("", self.entry) else ""
        below = ", ".join(part for part in (leads, "nothing is there now" if facts.missing else "") if part)
        self._leads.set_pieces(below)
        self._leads.setVisible(bool(below))
        warning = ", ".join(shown_line(words) for words in facts.warnings)
        self._warning.set_pieces(warning[:1].upper() + warning[1:])
        self._warning.setVisible(bool(warning))
        self.cross.setAccessibleDescription(warning)

    def retire(self) -> None:
        """Its entry is gone; its place stays for a moment."""
        self.setFixedHeight(self.height())
        self.text.setText(f"{shown_line(self.entry)}  removed")
        self.text.set_tone("3")
        self._leads.hide()
        self._warning.hide()
        self.cross.hide()


class BoundaryList(QWidget):
    """``edited(tuple)`` carries the whole new list; before it ``removing`` or ``adding`` an entry, so that it can be
    undone."""

    edited = Signal(object)
    removing = Signal(str)
    adding = Signal(str)

    def __init__(self, name: str, key: str, boundaries: BoundariesViewModel) -> None:
        super().__init__()
        self._name, self._key, self._boundaries = name, key, boundaries
        self._entries: tuple[str, ...] = ()
        self._facts: dict[str, EntryFacts] = {}
        self._made: dict[str, EntryRow] = {}
        self._gone: list[EntryRow] = []
        column = Column(self, spacing=8)
        self._card = pane("card")
        self._rows = Column(self._card, margins=0, spacing=0)
        self._card.installEventFilter(self)
        column.addWidget(self._card)
        column.addLayout(self._foot(name))
        boundaries.described.connect(self._described)
        boundaries.considered.connect(self._considered)

    def _foot(self, name: str) -> Row:
        row = Row(spacing=8)
        self.field = Field(f"Add to {name}", hint="/a/folder or ~/a/folder", mono=True)
        self.field.returnPressed.connect(self._add)
        row.addWidget(self.field, 1)
        self.add = Button("Add", icon="new")
        self.add.clicked.connect(self._add)
        row.addWidget(self.add)
        browse = Button("Choose…", "quiet", icon="folder")
        browse.clicked.connect(self._browse)
        row.addWidget(browse)
        return row

    # -- showing ----------------------------------------------------------------------------------------------------

    def set_entries(self, entries: tuple[str, ...]) -> None:
        """Show these; rows that stay are left alone, so that nothing moves that need not."""
        for entry in [entry for entry in self._made if entry not in entries]:
            self._drop(self._made.pop(entry))
        for at, entry in enumerate(entries):
            if entry not in self._made:
                self._made[entry] = made = EntryRow(entry)
                made.cross.clicked.connect(lambda _=False, row=made: self._wish_removed(row))
                self._rows.insertWidget(at, made)
        self._entries = entries
        self._line_last()
        self._boundaries.describe(self._key, entries)

    def _drop(self, row: EntryRow) -> None:
        """Take a row away, at once or, under the pointer, when that has left; keys stay in the list."""
        focused = row.isAncestorOf(row.window().focusWidget() or self)
        under_pointer = self._card.underMouse() and row.isVisible()
        if focused:
            reason = Qt.FocusReason.MouseFocusReason if under_pointer else Qt.FocusReason.OtherFocusReason
            self._neighbour(row).setFocus(reason)
        if under_pointer:
            row.retire()
            self._gone.append(row)
        else:
            self._delete(row)

    def _neighbour(self, row: EntryRow) -> QWidget:
        """The cross of the next row, else of the one before, else the field below."""
        rows = self._in_order()
        at = rows.index(row)
        others = [*rows[at + 1 :], *reversed(rows[:at])]
        return next((other.cross for other in others if other not in self._gone), self.field)

    def _in_order(self) -> list[EntryRow]:
        """All rows as they stand, empty places included."""
        items = (self._rows.itemAt(at) for at in range(self._rows.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), EntryRow)]

    def _delete(self, row: EntryRow) -> None:
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The pointer has left: empty places close."""
        if event.type() in (QEvent.Type.Leave, QEvent.Type.Hide) and self._gone:
            gone, self._gone = self._gone, []
            for row in gone:
                self._delete(row)
            self._line_last()
        return False

    def _line_last(self) -> None:
        """The line below each row but the last."""
        rows = self._in_order()
        for row in rows:
            set_property(row, "pane", "row-last" if row is rows[-1] else "row")
        self._card.setVisible(bool(rows))

    def _described(self, key: str, facts: Sequence[EntryFacts]) -> None:
        if key != self._key:
            return
        self._facts = {found.text: found for found in facts}
        for found in facts:
            if found.text in self._made:
                self._made[found.text].show_facts(found)

    # -- changing ---------------------------------------------------------------------------------------------------

    def _add(self) -> None:
        text = self.field.text().strip()
        if text and text not in self._entries:
            self._boundaries.consider(self._key, text)
        else:
            self.field.clear()

    def _considered(self, key: str, facts: EntryFacts) -> None:
        if key != self._key or facts.text != self.field.text().strip():
            return
        if not facts.adding:
            self._put(facts.text)
            return
        title = f"Allow {shown_line(facts.text)[:60]}?"
        answers = (Answer("cancel", "Do not allow it", key="Esc"), Answer("add", "Allow it all the same", "admin"))
        dialog = Dialog(self.window(), title, facts.adding, answers, width=480)
        dialog.answered.connect(lambda value: self._put(facts.text) if value == "add" else None)
        dialog.open()

    def _put(self, text: str) -> None:
        self.field.clear()
        self.adding.emit(text)
        self.edited.emit((*self._entries, text))

    def _wish_removed(self, row: EntryRow) -> None:
        """Removing a denial opens something: say what, and let the person confirm it (R-FS-14)."""
        if LISTS[self._key] != "denied":
            self._remove(row.entry)
            return
        facts = self._facts.get(row.entry)
        words = facts.removing if facts is not None else "What it closes would be open to commands and file tools."
        title = f"Remove {shown_line(row.entry)[:60]} from the denied folders?"
        answers = (Answer("cancel", "Keep it denied", key="Esc"), Answer("remove", "Remove it", "admin"))
        dialog = Dialog(self.window(), title, words, answers, width=480)
        dialog.answered.connect(lambda value: self._remove(row.entry) if value == "remove" else None)
        dialog.open()

    def _remove(self, entry: str) -> None:
        self.removing.emit(entry)
        self.edited.emit(tuple(e for e in self._entries if e != entry))

    def _browse(self) -> None:
        dialog = FileDialog(self.window(), "Choose a folder")
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.setOption(FileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._picked)
        dialog.open()

    def _picked(self, path: str) -> None:
        self.field.setText(path)
        self._add()


class PathTester(QFrame):
    """Type a path, see what the boundary says: allowed or denied, for reading and writing, and by which rule."""

    def __init__(self, boundaries: BoundariesViewModel) -> None:
        super().__init__()
        self._boundaries = boundaries
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 12), spacing=8)
        column.addWidget(Text("Test a path", "medium"))
        words = "The answer comes from the function that decides about calls, with the lists as they are now."
        column.addWidget(Paragraph(words, "small", "2"))
        self.field = Field("Path to test", hint="/a/path, ~/a/path, or a path in the workspace", mono=True)
        column.addWidget(self.field)
        self._answers = Column(spacing=6)
        column.addLayout(self._answers)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self.ask)
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.field.returnPressed.connect(self.ask)
        boundaries.judged.connect(self._judged)
        self._lines: list[QWidget] = []

    def ask(self) -> None:
        """Test what is typed, now."""
        self._pause.stop()
        path = self.field.text().strip()
        if path:
            self._boundaries.judge(path)
        else:
            self._clear()

    def _judged(self, path: str, read: Verdict, write: Verdict) -> None:
        if path != self.field.text().strip():
            return
        self._clear()
        if read.resolved and read.resolved != path:
            self._add(Paragraph(f"leads to {shown_line(read.resolved)}", "small", "2"))
        for what, verdict in (("Reading", read), ("Writing", write)):
            self._add(_verdict_line(what, verdict))

    def _add(self, widget: QWidget) -> None:
        self._lines.append(widget)
        self._answers.addWidget(widget)

    def _clear(self) -> None:
        for widget in self._lines:
            self._answers.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._lines = []


def _verdict_line(what: str, verdict: Verdict) -> QWidget:
    """``Reading: allowed``, and why."""
    holder = QWidget()
    row = Row(holder, spacing=10)
    row.addWidget(sized(Text(what, "body", "2"), width=64), 0, Qt.AlignmentFlag.AlignTop)
    state = StateLabel("allow", "allowed") if verdict.allowed else StateLabel("deny", "denied")
    row.addWidget(sized(state, width=88), 0, Qt.AlignmentFlag.AlignTop)
    reason = verdict.sentence.removeprefix("Permission denied: ")
    asks = " Each write asks first." if verdict.allowed and verdict.access is Access.WRITE else ""
    if verdict.allowed and verdict.elevated:
        asks = f" A call here asks as admin: {verdict.elevated}."
    words = f"{reason[:1].upper()}{reason[1:]}{asks} Rule: {verdict.rule}."
    row.addWidget(Paragraph(shown_line(words), "small", "2"), 1)
    word = "allowed" if verdict.allowed else "denied"
    holder.setAccessibleName(f"{what}: {word}. {reason}{asks}")
    return holder


class UndoOffer(QObject):
    """Offers to undo what was done to a list, once it has really happened. ``say(sentence, token)`` shows it."""

    say = Signal(str, str)

    def __init__(self, settings: SettingsViewModel, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._waiting: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._before: dict[str, tuple[str, tuple[str, ...]]] = {}
        settings.changed.connect(self._changed)
        settings.refused.connect(lambda key, _why: self._waiting.pop(key, None))

    def expect(self, key: str, sentence: str, before: tuple[str, ...]) -> None:
        """A change of this list is under way; ``before`` is what it was."""
        self._waiting[key] = (sentence, before)

    def undo(self, key: str) -> None:
        """The list as it was before the last offer."""
        _, before = self._before.pop(key, ("", None))
        if before is not None:
            self._settings.set(key, before)

    def _changed(self, key: str) -> None:
        found = self._waiting.pop(key, None)
        if found is not None and tuple(self._settings.get(key)) != found[1]:
            self._before[key] = found
            self.say.emit(found[0], key)

"""The lists of allowed and denied folders (R-FS-11, R-FS-14).

What opens more than it seems is confirmed in words first. A removed entry leaves its place empty while the pointer is
there, so that the cross of the next one does not come to lie under a second click.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.safety import EntryFacts
from desktop.presenter.settings.boundaries import LISTS, BoundariesViewModel
from desktop.presenter.settings.page import SettingsViewModel
from desktop.ui.settings.add_row import AddRow
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane, set_property
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

ALLOWED = "security.allowed_paths"
MARKS = 2
"""Short warnings of an entry that stand at its right."""
DEFAULT_ADDING = {
    "allowed": "Agents can then read everything in it without asking, and write what you agree to.",
    "denied": "File tools and commands are then kept out of it, also where an allowed folder holds it.",
}
_YES = {"allowed": "Allow it", "denied": "Deny it"}
_NO = {"allowed": "Do not allow", "denied": "Leave it as it is"}


class EntryRow(QFrame):
    """An entry as it is written and where it really leads; at the right what is odd about it, and a cross."""

    def __init__(self, entry: str) -> None:
        super().__init__()
        self.entry = entry
        self.setProperty("pane", "row")
        self._row = Row(self, margins=(12, 5, 4, 5), spacing=8)
        words = Column(spacing=0)
        self.text = Text(shown_line(entry), "code", elide="middle")
        words.addWidget(self.text)
        self._leads = Text("", "small", "2", elide="middle")
        self._detail = Paragraph("", "small", "2")
        for below in (self._leads, self._detail):
            words.addWidget(below)
            below.hide()
        self._row.addLayout(words, 1)
        self._marks = Column(spacing=0)
        self._row.addLayout(self._marks)
        self.cross = IconButton("close", f"Remove {entry}", side=28, glyph_side=14)
        kept = self.cross.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.cross.setSizePolicy(kept)
        self._row.addWidget(self.cross, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_facts(self, facts: EntryFacts) -> None:
        """Say where it leads and what to know of it."""
        self._leads.setText(shown_line(facts.resolved))
        self._leads.setVisible(bool(facts.resolved))
        warning = ", ".join(shown_line(words) for words in facts.warnings)
        warning = warning[:1].upper() + warning[1:]
        # The short marks say it all but for what an entry holds.
        self._detail.set_pieces(warning)
        self._detail.setVisible(any(words.startswith(("holds ", "is no path")) for words in facts.warnings))
        clear(self._marks)
        for look, word in facts.marks[:MARKS]:
            mark = StateLabel(look, word) if look else Text(word, "small", "2")
            mark.setToolTip(plain_tip(warning or word))
            self._marks.addWidget(mark, 0, Qt.AlignmentFlag.AlignRight)
        self.cross.setAccessibleDescription(warning)

    def retire(self) -> None:
        """Show that the entry was removed; its place stays for a moment."""
        self.setFixedHeight(self.height())
        self.text.setText(f"{shown_line(self.entry)}  removed")
        self.text.set_tone("3")
        clear(self._marks)
        self._leads.hide()
        self._detail.hide()
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
        self._foot = AddRow(name, folders=True)
        self._foot.wanted.connect(self._add)
        self.field, self.add = self._foot.field, self._foot.add
        self.field.installEventFilter(self)
        column = Column(self, spacing=8)
        self._card = pane("card")
        self._rows = Column(self._card, margins=0, spacing=0)
        self._card.installEventFilter(self)
        column.addWidget(self._card)
        self.add_button = Button("Add folder…" if key == ALLOWED else "Add…", icon="new", small=True)
        self._proposed = ""
        self.add_button.clicked.connect(self._toggle_foot)
        self._foot.hide()
        column.addWidget(self._foot)
        boundaries.described.connect(self._described)
        boundaries.considered.connect(self._considered)

    def _toggle_foot(self) -> None:
        self.show_foot(not self._foot.isVisible())

    def show_foot(self, shown: bool) -> None:
        """The line to add with; the keys go there, and back to the button."""
        self._foot.setVisible(shown)
        (self.field if shown else self.add_button).setFocus(Qt.FocusReason.OtherFocusReason)

    # -- showing ----------------------------------------------------------------------------------------------------

    def set_entries(self, entries: tuple[str, ...]) -> None:
        """Show other entries; rows that stay are left alone, so that they do not move."""
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
        """The cross of the next row, else of the one before, else what adds one."""
        rows = self._in_order()
        at = rows.index(row)
        others = [*rows[at + 1 :], *reversed(rows[:at])]
        return next((other.cross for other in others if other not in self._gone), self.add_button)

    def _in_order(self) -> list[EntryRow]:
        """All rows as they stand, empty places included."""
        items = (self._rows.itemAt(at) for at in range(self._rows.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), EntryRow)]

    def _delete(self, row: EntryRow) -> None:
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The pointer has left: empty places close. Escape puts the line to add with away."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.field.clear()
                self.show_foot(False)
                return True
            return False
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

    def propose(self, path: str) -> None:
        """Add a path that was found elsewhere on the page, once the person has confirmed it."""
        if path not in self._entries:
            self._proposed = path
            self._boundaries.consider(self._key, path)

    def _considered(self, key: str, facts: EntryFacts) -> None:
        proposed = facts.text == self._proposed
        if key != self._key or not (proposed or facts.text == self.field.text().strip()):
            return
        self._proposed = ""
        if not facts.adding and not proposed:
            self._put(facts.text)
            return
        name = LISTS[self._key]
        title = f"{'Allow' if name == 'allowed' else 'Deny'} {shown_line(facts.text)[:60]}?"
        yes = (
            DialogAnswer("add", "Allow it anyway", "admin")
            if facts.adding
            else DialogAnswer("add", _YES[name], "primary")
        )
        answers = (DialogAnswer("cancel", _NO[name], key="Esc"), yes)
        words = facts.adding or DEFAULT_ADDING[name]
        if facts.warnings:
            words += f" It {', '.join(shown_line(warning) for warning in facts.warnings)}."
        dialog = Dialog(self.window(), title, words, answers, width=480)
        dialog.answered.connect(lambda value: self._put(facts.text) if value == "add" else None)
        dialog.open()

    def _put(self, text: str) -> None:
        self.field.clear()
        if self._foot.isVisible():  # hidden with the keys in it, it would hand them to the cross of the first entry
            self.show_foot(False)
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
        answers = (DialogAnswer("cancel", "Keep it denied", key="Esc"), DialogAnswer("remove", "Remove it", "admin"))
        dialog = Dialog(self.window(), title, words, answers, width=480)
        dialog.answered.connect(lambda value: self._remove(row.entry) if value == "remove" else None)
        dialog.open()

    def _remove(self, entry: str) -> None:
        self.removing.emit(entry)
        self.edited.emit(tuple(e for e in self._entries if e != entry))


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

"""A picture of a message, large: as it fits, at its own size, nearer; the others of the message beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from desktop.presenter.transcript.items import MediaPart
from desktop.ui.theme import theme
from desktop.ui.transcript.pictures.area import PictureArea
from desktop.ui.transcript.pictures.copying import copy_picture
from desktop.ui.transcript.pictures.saving import Save, ask_where
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

EDGE = 24
"""Pixels (at 100 %) that are left of the window around it."""
CONTROL = Qt.KeyboardModifier.ControlModifier


class PictureViewer(Dialog):
    """``images`` of one message, of which number ``at`` is shown. ``save`` writes one, ``said`` tells what was done."""

    help_page = "documents"

    def __init__(
        self, window: QWidget, images: Sequence[MediaPart], at: int, save: Save, said: Callable[[str], None]
    ) -> None:
        super().__init__(window, "Picture", "", ())
        self._images, self._at, self._save, self._said = tuple(images), at, save, said
        self.facts = Text("", "small", "2", elide="right")
        self.area = PictureArea()
        self.back = IconButton("left", "The picture before", shortcut="Left", side=28)
        self.on = IconButton("right", "The next picture", shortcut="Right", side=28)
        self.place = Text("", "small", "2")
        self.nearer = IconButton("new", "Nearer", shortcut="+", side=28)
        self.farther = Button("\u2212", "quiet", small=True, tip="Farther (-)")
        self.farther.setAccessibleName("Farther")
        self.own_size = Button("100 %", "quiet", small=True, tip="At its own size (1)")
        self.fit = Button("Fit", "quiet", small=True, tip="As it fits (0)")
        self.copy = Button("Copy", icon="copy", small=True, tip="Copy the picture (Ctrl+C)")
        self.save = Button("Save as…", icon="export", small=True, tip="Save the picture as a file (Ctrl+S)")
        self.close_button = Button("Close", small=True, key="Esc")
        self._lay_out()
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        self.body.addWidget(self.facts)
        self.body.addWidget(self.area, 1)
        row = Row(spacing=6)
        for widget in (self.back, self.place, self.on):
            row.addWidget(widget)
            widget.setVisible(len(self._images) > 1)
        row.addStretch(1)
        for button in (self.farther, self.own_size, self.nearer, self.fit):
            row.addWidget(button)
        row.addStretch(1)
        for button in (self.copy, self.save, self.close_button):
            row.addWidget(button)
        self.body.addLayout(row)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self.go(-1))
        self.on.clicked.connect(lambda: self.go(1))
        self.nearer.clicked.connect(lambda: self.area.zoom(1))
        self.farther.clicked.connect(lambda: self.area.zoom(-1))
        self.own_size.clicked.connect(self.area.show_own_size)
        self.fit.clicked.connect(self.area.show_whole)
        self.copy.clicked.connect(lambda: copy_picture(self.parent() or self, self.shown, self._said))
        self.save.clicked.connect(lambda: ask_where(self, self.shown, self._save))
        self.close_button.clicked.connect(lambda: self.answer("cancel"))
        self.area.scaled.connect(self._scaled)

    @property
    def shown(self) -> MediaPart:
        """The picture that is shown."""
        return self._images[self._at]

    def show_now(self) -> None:
        """Open it; keys go to the picture."""
        self.open(self.area)

    def go(self, step: int) -> None:
        """The next one, or the one before; at the ends it stays."""
        at = min(max(0, self._at + step), len(self._images) - 1)
        if at != self._at:
            self._at = at
            self._show()

    def _show(self) -> None:
        part, count = self.shown, len(self._images)
        name = shown_line(part.name)
        self.set_title(name)
        notes = f". {part.notes[:1].upper()}{part.notes[1:]}" if part.notes else ""
        self.facts.setText(shown_line(f"{part.facts}{notes}"))
        self.place.setText(f"{self._at + 1} of {count}")
        self.back.setEnabled(self._at > 0)
        self.on.setEnabled(self._at < count - 1)
        self.area.show_picture(part, f"Picture {name}, {part.facts}")

    def _scaled(self, percent: int) -> None:
        self.own_size.set_label(f"{percent} %")
        self.own_size.setAccessibleName(f"At its own size; now at {percent} %")

    def resized(self) -> None:
        """As large as the window lets it be."""
        if not hasattr(self, "area"):  # not built yet
            return
        edge = min(theme().px(EDGE), self.width() // 20)
        self._box.place(QRect(edge, edge, max(1, self.width() - 2 * edge), max(1, self.height() - 2 * edge)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the buttons; all others as in any dialog."""
        acts: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Left: lambda: self.go(-1),
            Qt.Key.Key_Right: lambda: self.go(1),
            Qt.Key.Key_PageUp: lambda: self.go(-1),
            Qt.Key.Key_PageDown: lambda: self.go(1),
            Qt.Key.Key_Plus: lambda: self.area.zoom(1),
            Qt.Key.Key_Equal: lambda: self.area.zoom(1),
            Qt.Key.Key_Minus: lambda: self.area.zoom(-1),
            Qt.Key.Key_0: self.area.show_whole,
            Qt.Key.Key_1: self.area.show_own_size,
        }
        with_control: dict[int, Callable[[], None]] = {Qt.Key.Key_C: self.copy.click, Qt.Key.Key_S: self.save.click}
        act = (with_control if event.modifiers() & CONTROL else acts).get(event.key())
        if act is None:
            super().keyPressEvent(event)
            return
        act()
        event.accept()

"""The list of models over the composer, with what is known of the marked one; models to try next are added here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.presenter.chat.state import Meters
from desktop.ui.chat.models import ChatModels
from desktop.ui.model_picker.about import ModelAbout
from desktop.ui.model_picker.correcting import CorrectModel
from desktop.ui.model_picker.popup import ModelPopup

KEYS = "Ctrl+M"
SETTLES_MS = 40
"""Milliseconds before what is known of a model is drawn, so that arrows that are held are not held up."""
NEXT = "Search for a model to try next"


class ChatModelPopup(ModelPopup):
    """``chosen(ref)``: the chat's model. The keys stay in the search; Tab goes to the right half."""

    def __init__(self, parent: QWidget, models: ChatModels, *, popup: bool = True) -> None:
        meters = models.chat.meters
        self._adding = False
        self._models = models
        super().__init__(
            parent,
            models.setup,
            meters.model,
            keys=KEYS,
            connects=True,
            used=used_by(meters, models.chat.token_scale),
            popup=popup,
        )
        self._pile = QStackedWidget()
        self.about = ModelAbout(models.setup, models.effort, meters.agent, meters.agent_title)
        self.correcting: CorrectModel | None = None
        self._pile.addWidget(self.about)
        self.put_beside(self._pile, self.about.wanted_height)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLES_MS)
        self._settle.timeout.connect(self._show_marked)
        self.chooser.marked.connect(lambda _row: self._settle.start())
        self.about.grew.connect(self.fit)
        self.about.add_wanted.connect(self.add_next)
        self.about.correct_wanted.connect(self.correct)
        self._settle.start()

    def _show_marked(self) -> None:
        row = self.chooser.row
        if row is not None and not self._adding and self.correcting is None:
            self.about.show_model(row.ref)

    # -- models to try next -------------------------------------------------------------------------------------------

    def add_next(self) -> None:
        """Have one more model chosen for the list of those that are asked instead."""
        self._adding = True
        self.chooser.field.clear()
        self.chooser.field.setPlaceholderText(NEXT)
        self.chooser.field.setAccessibleName(NEXT)
        self.refresh()
        self.chooser.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_adding(self) -> None:
        self._adding = False
        self.chooser.field.setPlaceholderText("Search models")
        self.chooser.field.setAccessibleName("Search models")
        self.chooser.field.clear()
        self.refresh()
        self.chooser.mark(self.about.ref)
        if self.about.add is not None:
            self.about.add.setFocus(Qt.FocusReason.OtherFocusReason)

    def fits(self, ref: str) -> bool:
        """Whether a model is offered: one to try next is not there yet."""
        if not self._adding:
            return True
        setup = self._models.setup
        able = setup.model(ref)
        known = able is not None and able.locality in ("local", "provider")
        return known and ref != self.about.ref and ref not in setup.fallbacks

    def take(self, ref: str) -> None:
        """A model was chosen, for the chat or to be tried next."""
        if not self._adding:
            super().take(ref)
            return
        self._models.setup.set_fallbacks((*self._models.setup.fallbacks, ref))
        self._end_adding()

    # -- what is wrong ------------------------------------------------------------------------------------------------

    def correct(self) -> None:
        """Write what is known better of the model, in the place of what is known."""
        self.correcting = CorrectModel(self._models.setup, self.about.ref)
        self.correcting.done.connect(self._end_correcting)
        self._pile.addWidget(self.correcting)
        self._pile.setCurrentWidget(self.correcting)
        self.correcting.first_focus()

    def _end_correcting(self) -> None:
        was, self.correcting = self.correcting, None
        if was is not None:
            self._pile.removeWidget(was)
            was.deleteLater()
        self.chooser.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_marked()

    def leave(self) -> None:
        """Escape: out of what was begun, or all of it."""
        if self.correcting is not None:
            self._end_correcting()
        elif self._adding:
            self._end_adding()
        else:
            super().leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys that opened it close it."""
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if control and event.key() == Qt.Key.Key_M:
            self.close()
        else:
            super().keyPressEvent(event)


def used_by(meters: Meters, scale: Callable[[str], float]) -> Callable[[str], int]:
    """How many tokens of a model the chat has, of those that its own model counted."""

    def used(ref: str) -> int:
        return round(meters.context_used / (meters.token_scale or 1.0) * scale(ref))

    return used

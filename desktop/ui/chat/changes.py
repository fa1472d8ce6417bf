"""The changes of the open chat: told in a toast with the way back, shown beside it, undone after a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from desktop.domain.files.undo import UndoPreview
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.ui.chat.side import CHANGES, SidePanels
from desktop.ui.widgets.dialogs.toast import Toast

if TYPE_CHECKING:
    from desktop.ui.changes import preview as undo_preview
else:
    undo_preview = lazy_module("desktop.ui.changes.preview")

CHANGE = "change:"
"""Begins the token of a toast that tells of a change."""


class ChangesBeside(QObject):
    """Ties the view-model of changes to the panel beside the chat and to its toasts."""

    def __init__(self, model: ChangesViewModel, side: SidePanels, toast: Toast) -> None:
        super().__init__(side)
        self._model, self._side, self._toast = model, side, toast
        model.told.connect(self._tell)
        model.previewed.connect(self.ask)
        toast.undone.connect(self._undo_told)

    def choose_last(self) -> None:
        """Show the newest call that can be undone, with the keys on it."""
        self._side.show(CHANGES, keys=True)
        panel = self._side.changes
        if panel is not None:
            panel.choose_last()
            panel.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def ask(self, preview: UndoPreview) -> None:
        """Show what an undo would do, and ask for it."""
        undo_preview.UndoDialog(self._toast.window(), self._model, preview).open()

    def _tell(self, words: str, change_id: str) -> None:
        """What was written or undone; it can be taken back from here for a while, and for ever in the changes."""
        label = "Undo the undo" if words.startswith("Undone") else "Undo"
        self._toast.say(words, f"{CHANGE}{change_id}" if change_id else "", label=label, stays="toast-undo")

    def _undo_told(self, token: str) -> None:
        if token.startswith(CHANGE):
            self._model.undo_calls([token.removeprefix(CHANGE)])

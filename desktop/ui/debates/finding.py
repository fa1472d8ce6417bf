"""Finding in a debate: the bar of Ctrl+F over its turns, and the turn that a search of the list led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal

from desktop.presenter.debates.open import OpenDebate
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.widgets.controls.find_bar import FindBar

BROKEN_OFF = "This was said in a turn that broke off and does not count."


class DebateFinding(QObject):
    """``views`` can be searched; ``shown`` is the one that is looked at; ``show_turns`` brings the turns to
    the front, the first of the views."""

    said = Signal(str)

    def __init__(
        self,
        opened: OpenDebate,
        views: Sequence[TranscriptView],
        shown: Callable[[], TranscriptView],
        show_turns: Callable[[], None],
    ) -> None:
        super().__init__()
        self._opened, self._views, self._shown, self._show_turns = opened, views, shown, show_turns
        self._awaited = ""
        self.bar = FindBar(name="Find in this debate")
        self.bar.wanted.connect(self._find)
        self.bar.closed.connect(lambda: self._shown().setFocus(Qt.FocusReason.OtherFocusReason))
        for view in views:
            view.found.connect(self.bar.show_count)

    def follow(self) -> None:
        """Connect to the open debate: after the views are, for a turn must stand before it is gone to."""
        opened = self._opened
        opened.opened.connect(lambda _: self._put_away())
        opened.items_reset.connect(lambda _: self.jump(self._awaited))
        opened.items_prepended.connect(lambda _: self.jump(self._awaited))
        opened.loaded.connect(self._loaded)

    def begin(self) -> None:
        """Open the find bar (Ctrl+F)."""
        self.bar.begin()

    def _find(self, text: str, forward: bool) -> None:
        if text:
            self.bar.show_count(*self._shown().find(text, forward))
            return
        for view in self._views:
            view.find("", forward)
        self.bar.show_count(0, 0)

    def _put_away(self) -> None:
        if not self.bar.isHidden():
            self.bar.put_away()

    def jump(self, message_id: str) -> bool:
        """The turn of a message to the top; False when it is not here."""
        item = self._opened.item_of(message_id) if message_id else ""
        if item:
            self._awaited = ""
            self._show_turns()
            self._views[0].scroll_to(item)
        return bool(item)

    def await_message(self, message_id: str) -> None:
        """Show the turn of a message as soon as it is read."""
        self._awaited = message_id

    def _loaded(self) -> None:
        """All of it is here, and what was to be shown is not."""
        if self._awaited:
            self._awaited = ""
            self.said.emit(BROKEN_OFF)

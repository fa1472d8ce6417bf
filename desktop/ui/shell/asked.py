"""The strip above a page that says that somebody waits for the person's answer, where nothing else on it does."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import Notice


class AskedNotice(Notice):
    """``wanted`` carries the request that the person wants to see. It takes no keys and answers nothing."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__("ask", banner=True)
        self._request = ""
        self._put_off = ""
        self.open = Button("Open request", small=True, tip="Show it in Approvals (Ctrl+4)")
        self.open.clicked.connect(lambda: self.wanted.emit(self._request))
        self.close_button = IconButton("close", "Decide later: it stays in Approvals", side=24, glyph_side=14)
        self.close_button.clicked.connect(self._later)
        self.add(self.open)
        self.add(self.close_button)
        self.hide()

    def show_request(self, request_id: str, words: str) -> None:
        """Say that this one waits; "" for none. One that was put off stays away."""
        if not request_id or request_id == self._put_off:
            self.hide()
            return
        if request_id != self._request or words != self.words:
            self._request = request_id
            self.say(words)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
        self.show()

    def _later(self) -> None:
        self._put_off = self._request
        self.hide()

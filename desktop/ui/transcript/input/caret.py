"""Selecting with the keyboard: Shift and an arrow, Home or End move the caret of the selection."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from desktop.ui.transcript.selection import END, Place, next_word
from desktop.ui.transcript.surface import Surface

Key = Qt.Key


class CaretKeys:
    """Moves over messages that are laid out as it reaches them."""

    def __init__(self, view: Surface) -> None:
        self._view = view

    def extend(self, key: Key, control: bool) -> bool:
        """Shift with an arrow, Home or End moves the selection's caret."""
        movers: dict[Key, Callable[[Place], Place]] = {
            Key.Key_Left: lambda place: self._by_character(place, -1, control),
            Key.Key_Right: lambda place: self._by_character(place, 1, control),
            Key.Key_Up: lambda place: self._by_line(place, -1),
            Key.Key_Down: lambda place: self._by_line(place, 1),
            Key.Key_Home: lambda place: (0, 0) if control else (place[0], 0),
            Key.Key_End: lambda place: (len(self._view.page) - 1, END) if control else (place[0], self._length(place)),
        }
        if key not in movers or not len(self._view.page):
            return False
        selection = self._view.selection
        if selection.caret is None:
            shown = self._view.keys.seen_current()
            selection.begin((shown if shown is not None else next(index for index, _ in self._view.visible()), 0))
        assert selection.caret is not None
        index, offset = selection.caret
        self._view.lay_out_quietly(index)
        place = movers[key]((index, min(offset, self._length((index, 0)))))
        selection.extend(place)
        self._view.lay_out_quietly(place[0])
        caret = self._view.page.messages[place[0]].cursor_rect(min(place[1], self._length(place)))
        self._view.show_range(place[0], caret.top(), caret.height())
        self._view.selection_changed()
        return True

    def _length(self, place: Place) -> int:
        return self._view.page.messages[place[0]].length()

    def _by_character(self, place: Place, direction: int, word: bool) -> Place:
        index, offset = place
        if direction < 0 and offset == 0:
            return (index - 1, self._laid_out_length(index - 1)) if index else place
        if direction > 0 and offset >= self._length(place):
            return (index + 1, 0) if index + 1 < len(self._view.page) else place
        if word:
            return index, next_word(self._view.page.messages[index].text(), offset, direction)
        return index, offset + direction

    def _laid_out_length(self, index: int) -> int:
        self._view.lay_out_quietly(index)
        return self._length((index, 0))

    def _by_line(self, place: Place, direction: int) -> Place:
        index, offset = place
        message = self._view.page.messages[index]
        caret = message.cursor_rect(offset)
        y = caret.center().y() + direction * caret.height()
        for _ in range(60):  # over gaps, heads of cards and the like, which have no text
            if not 0 <= y <= message.height:
                break
            moved = message.offset_at(caret.x(), y)
            if (moved > offset) if direction > 0 else (moved < offset):
                return index, moved
            y += direction * 8
        neighbour = index + direction
        if not 0 <= neighbour < len(self._view.page):
            return index, (self._length(place) if direction > 0 else 0)
        self._view.lay_out_quietly(neighbour)
        other = self._view.page.messages[neighbour]
        return neighbour, other.offset_at(caret.x(), 0 if direction > 0 else other.height)

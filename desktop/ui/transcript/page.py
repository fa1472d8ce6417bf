"""All messages of a thread with their heights; a few of them laid out, the least recently seen given up again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.transcript.heights import Heights
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.message_frame import Frame

KEPT = 48
"""Messages whose layout is kept."""
TOP, BOTTOM = 0, 24
"""Pixels at 100 % above the first and below the last message."""


class Page:
    """``y`` counts pixels from the top of the whole thread."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.messages: list[Message] = []
        self.heights = Heights()
        self._places: dict[str, int] = {}
        """By message its number as it was before older ones came."""
        self._prepended = 0
        self._used: OrderedDict[Message, None] = OrderedDict()
        self.kept = KEPT

    # ------------------------------------------------------------------------------------------------------- contents

    def reset(self, items: Sequence[TranscriptItem]) -> None:
        """Show other messages. A message that was shown before keeps its layout and what was opened in it."""
        before = {message.item.message_id: message for message in self.messages}
        messages = [before.get(item.message_id) or Message(item) for item in items]
        for message, item in zip(messages, items, strict=True):
            if message.item is not item and message.item != item:
                message.change(item)
        kept = set(messages)
        for message in [message for message in self._used if message not in kept]:
            del self._used[message]
        self._take(messages)

    def prepend(self, items: Iterable[TranscriptItem]) -> int:
        """Add older messages above; returns how many."""
        older = [Message(item) for item in items]
        self._estimate(older)
        self.messages = older + self.messages
        self.heights.prepend(message.height for message in older)
        self._prepended += len(older)
        self._places |= {message.item.message_id: at - self._prepended for at, message in enumerate(older)}
        return len(older)

    def _take(self, messages: list[Message]) -> None:
        self._estimate(messages)
        self.messages = messages
        self.heights = Heights(message.height for message in messages)
        self._prepended = 0
        self._places = {message.item.message_id: index for index, message in enumerate(messages)}

    def _estimate(self, messages: Iterable[Message]) -> None:
        look, width = self.frame.look, self.frame.width
        for message in messages:
            if not message.height:
                message.height = message.estimate(look, width)

    def append(self, item: TranscriptItem) -> int:
        """One more message at the end; returns its number."""
        message = Message(item)
        message.height = message.estimate(self.frame.look, self.frame.width)
        self.messages.append(message)
        self.heights.append(message.height)
        self._places[item.message_id] = len(self.messages) - 1 - self._prepended
        return len(self.messages) - 1

    def place(self, message_id: str) -> int | None:
        """The number of a message."""
        place = self._places.get(message_id)
        return None if place is None else place + self._prepended

    def set_frame(self, frame: Frame) -> None:
        """Take another width or look: every layout is given up; known heights serve as estimates, grown with the
        text."""
        grown = frame.look.scale / self.frame.look.scale
        self.frame = frame
        for message in list(self._used):
            message.release()
        self._used.clear()
        if grown != 1:
            for message in self.messages:
                message.height = max(1, round(message.height * grown))
            self._take(self.messages)

    # --------------------------------------------------------------------------------------------------------- layout

    def ensure(self, index: int) -> int:
        """Lays a message out if it is not; returns by how much its height changed."""
        message = self.messages[index]
        difference = 0
        if message.flows is None:
            message.lay_out(self.frame_of(message))
            difference = self.measured(index)
        self._used[message] = None
        self._used.move_to_end(message)
        while len(self._used) > self.kept:
            oldest = next(iter(self._used))
            if oldest.item.live:
                self._used.move_to_end(oldest)
                oldest = next(iter(self._used))
            del self._used[oldest]
            oldest.release()
        return difference

    def renew(self, wanted: Callable[[Message], bool]) -> None:
        """Lays out again those laid-out messages that are ``wanted``."""
        for message in self.laid_out():
            index = self.place(message.item.message_id)
            if index is not None and wanted(message):
                message.release()
                self.ensure(index)

    def measured(self, index: int) -> int:
        """Takes over the height a message has now; returns the difference."""
        return self.heights.set(index, self.messages[index].height)

    def frame_of(self, message: Message) -> Frame:
        """The frame in which a message is laid out."""
        del message
        return self.frame

    def height_of(self, index: int) -> int:
        """The height of one message, also where the next one begins beside it."""
        return self.messages[index].height

    def laid_out(self) -> list[Message]:
        """The messages that have a layout."""
        return list(self._used)

    # -------------------------------------------------------------------------------------------------------- geometry

    @property
    def margin_top(self) -> int:
        return self.frame.look.px(TOP)

    def height(self) -> int:
        """Height of all messages with the margins, in pixels."""
        return self.margin_top + self.heights.total() + self.frame.look.px(BOTTOM)

    def top(self, index: int) -> int:
        """Where a message begins."""
        return self.margin_top + self.heights.top(index)

    def at(self, y: int) -> tuple[int, int]:
        """(message at y, pixels into it)."""
        return self.heights.at(max(0, y - self.margin_top))

    def __len__(self) -> int:
        return len(self.messages)

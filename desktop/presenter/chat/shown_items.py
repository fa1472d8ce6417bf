"""What of the open thread is on the screen: the ids of its items, and the last of them."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.presenter.transcript.build import continued, passed_by
from desktop.presenter.transcript.items import TranscriptItem


class ShownIds(set[str]):
    """The ids of the messages that are shown."""

    last: TranscriptItem | None = None

    def reset(self, items: Sequence[TranscriptItem]) -> None:
        """Replace all ids by those of these items."""
        self.clear()
        self.update(item.message_id for item in items)
        self.last = items[-1] if items else None

    def put(self, item: TranscriptItem) -> bool:
        """The last one, new or grown; whether it was there."""
        known = item.message_id in self
        self.add(item.message_id)
        self.last = item
        return known

    def gone_by(self, *, answered: bool = False) -> TranscriptItem | None:
        """The last one, once the conversation goes on below it, as it looks then; None where it looks the same.
        ``answered``: the answer itself goes on."""
        last, self.last = self.last, None
        if last is None:
            return None
        passed = continued(last) if answered else passed_by(last)
        return passed if passed != last else None

"""Messages that came to an agent's inbox: kept before whoever posted one hears that it was taken."""

from __future__ import annotations

from typing import Protocol

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """A message in an inbox."""

    number: int
    """Its place: what came later has a greater one, as long as it is kept."""
    queue_id: str
    """Its id among the messages that wait."""
    text: str
    """What it says."""


MAX_WAITING = 200
"""Messages that wait in one inbox at most."""


class InboxLog(Protocol):
    """Keeps the messages of inboxes. ``inbox`` names one, also after a restart; ``run_id`` is the run with whose end
    its messages go, "" for those that stay until a thread takes them."""

    async def post(
        self, *, inbox: str, thread_id: str, run_id: str, text: str, post_id: str = "", after: int = 0
    ) -> bool:
        """Put a message at the end of an inbox, unless one with this ``post_id`` was taken before. It outlives the
        death of this process when this returns. False: ``MAX_WAITING`` with greater numbers than ``after`` wait."""
        ...

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first one with a greater number."""
        ...


class MemoryInboxes:
    """An ``InboxLog`` of what nobody goes on with after a restart."""

    def __init__(self) -> None:
        self._posted: dict[str, list[PostedMessage]] = {}

    async def post(
        self, *, inbox: str, thread_id: str, run_id: str, text: str, post_id: str = "", after: int = 0
    ) -> bool:
        """Put a message at the end of an inbox; False: too many wait."""
        kept = self._posted.setdefault(inbox, [])
        if post_id and any(one.queue_id == post_id for one in kept):
            return True
        if len(kept) >= MAX_WAITING and kept[-MAX_WAITING].number > after:
            return False
        kept.append(PostedMessage(kept[-1].number + 1 if kept else 1, post_id, text))
        return True

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first one with a greater number."""
        return next((one for one in self._posted.get(inbox, ()) if one.number > after), None)

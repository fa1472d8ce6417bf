"""Messages that came to an agent's inbox: kept before whoever posted one hears that it was taken."""

from __future__ import annotations

from typing import Protocol

from desktop.domain.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """One message."""

    number: int
    """Its place: what came later has a greater one, as long as it is kept."""
    queue_id: str
    """Its id among the messages that wait."""
    text: str
    """What it says."""


class InboxLog(Protocol):
    """Keeps the messages of inboxes. ``inbox`` names one, also after a restart; ``run_id`` is the run with whose end
    its messages go, "" for those that stay until a thread takes them."""

    async def post(self, *, inbox: str, thread_id: str, run_id: str, text: str) -> None:
        """One more at the end. It outlives the death of this process when this returns."""
        ...

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first one with a greater number."""
        ...


class MemoryInboxes:
    """An ``InboxLog`` of what nobody goes on with after a restart."""

    def __init__(self) -> None:
        self._posted: dict[str, list[PostedMessage]] = {}

    async def post(self, *, inbox: str, thread_id: str, run_id: str, text: str) -> None:
        """One more at the end."""
        kept = self._posted.setdefault(inbox, [])
        kept.append(PostedMessage(kept[-1].number + 1 if kept else 1, "", text))

    async def posted(self, *, inbox: str, after: int) -> PostedMessage | None:
        """The first one with a greater number."""
        return next((one for one in self._posted.get(inbox, ()) if one.number > after), None)

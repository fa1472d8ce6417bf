"""What the model reads of the open thread: the account of its last request, its summary, what is pinned."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.context import Account, ContextShares, Overlay, PinnedText
from desktop.domain.errors import AssentError, KnownError
from desktop.domain.runs.events import ContextMeasured, ContextSummarising, Event, RunEnded
from desktop.domain.text.words import count_words

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.threads.context import ContextService

PINNED = "Pinned: the model always reads this message."
UNPINNED = "No longer pinned."
TO_SUM_UP = "Older messages are summed up before your next message goes to the model."


class ContextViewModel(QObject):
    """The context of the open thread. ``changed``: anything of it; ``said`` is a sentence for the person."""

    changed = Signal()
    said = Signal(str)

    def __init__(self, service: ContextService, bridge: Bridge, summaries: Callable[[], bool]) -> None:
        super().__init__()
        self._service, self._bridge, self._summaries = service, bridge, summaries
        self._accounts: dict[str, Account] = {}
        self._shares: dict[str, ContextShares] = {}
        self._writing: set[str] = set()
        self.thread_id = ""
        self.overlay = Overlay()
        self.pinned: Sequence[PinnedText] = ()

    @property
    def summaries(self) -> bool:
        """Whether the person switched summaries on."""
        return self._summaries()

    @property
    def account(self) -> Account | None:
        """How the window was used by the thread's last request since the app started, or None."""
        return self._accounts.get(self.thread_id)

    @property
    def shares(self) -> ContextShares | None:
        """What the tokens of that request were, or None."""
        return self._shares.get(self.thread_id)

    @property
    def writing(self) -> bool:
        """Whether a summary is being written just now."""
        return self.thread_id in self._writing

    def take(self, events: Sequence[Event]) -> None:
        """Take in a batch of events from the bridge."""
        for event in events:
            if isinstance(event, ContextSummarising):
                self._writing.add(event.thread_id)
            elif isinstance(event, ContextMeasured):
                self._accounts[event.thread_id] = event.account
                self._shares[event.thread_id] = event.shares
                self._writing.discard(event.thread_id)
            elif isinstance(event, RunEnded) and event.thread_id in self._writing:
                self._writing.discard(event.thread_id)
            else:
                continue
            if event.thread_id == self.thread_id:
                self.look()

    def open_thread(self, thread_id: str) -> None:
        """Show the context of another thread."""
        self.thread_id, self.overlay, self.pinned = thread_id, Overlay(), ()
        self.changed.emit()
        self.look()

    def look(self) -> None:
        """Read the thread's context again."""
        thread_id = self.thread_id

        async def work() -> None:
            if thread_id:
                await self._show(thread_id, await self._service.overlay(thread_id))

        self._spawn(work(), "read the context")

    def toggle_pin(self, message_id: str) -> None:
        """Keep a message in every request, or no longer."""
        self.pin(message_id, message_id not in self.overlay.pins)

    def pin(self, message_id: str, pinned: bool) -> None:
        """Pin a message, or unpin it."""
        thread_id = self.thread_id

        async def work() -> None:
            await self._show(thread_id, await self._service.pin(thread_id, message_id, pinned))
            self.said.emit(PINNED if pinned else UNPINNED)

        self._spawn(work(), "pin a message")

    def undo_summary(self) -> None:
        """Drop the summary: the messages themselves are sent again."""
        thread_id = self.thread_id

        async def work() -> None:
            await self._show(thread_id, await self._service.undo_summary(thread_id))

        self._spawn(work(), "take a summary back")

    def sum_up(self) -> None:
        """Have the older messages summed up before the next request."""
        thread_id = self.thread_id

        async def work() -> None:
            if thread_id:
                await self._show(thread_id, await self._service.sum_up(thread_id))
                self.said.emit(TO_SUM_UP)

        self._spawn(work(), "sum up older messages")

    def allow_summaries(self) -> None:
        """Allow summaries in this thread again."""
        thread_id = self.thread_id

        async def work() -> None:
            await self._show(thread_id, await self._service.allow_summaries(thread_id))

        self._spawn(work(), "allow summaries")

    async def _show(self, thread_id: str, overlay: Overlay) -> None:
        pinned = await self._service.pinned_texts(thread_id)
        if thread_id == self.thread_id:
            self.overlay, self.pinned = overlay, pinned
            self.changed.emit()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._refused)

    def _refused(self, error: AssentError) -> None:
        if isinstance(error, KnownError):
            self.said.emit(error.advice)


def shares_words(shares: ContextShares | None) -> list[tuple[str, int]]:
    """(what, tokens) of the last request, the first of which stands in each."""
    if shares is None or not (shares.instructions or shares.messages or shares.read):
        return []
    tools = f" and {count_words(shares.tools, 'tool')}" if shares.tools else ""
    rows = [(f"Instructions{tools}", shares.instructions), ("Messages", shares.messages)]
    return [*rows, ("Files and results", shares.read)]


def account_words(account: Account | None) -> list[tuple[str, str]]:
    """(what, how many) of the last request, for a table."""
    if account is None:
        return []
    rows = [("Sent as they are", count_words(account.kept, "message"))]
    if account.shrunk:
        rows.append(("Shortened", count_words(account.shrunk, "long result")))
    if account.summarised:
        rows.append(("Covered by the summary", count_words(account.summarised, "message")))
    if account.dropped:
        rows.append(("Left out", count_words(account.dropped, "message")))
    if account.pinned:
        rows.append(("Pinned among them", count_words(account.pinned, "message")))
    return rows

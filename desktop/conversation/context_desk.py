"""A thread's context: what is pinned, what a summary stands for, and how a run keeps both (semantics.md 21)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from desktop.agents.summarising import Ask, renewed
from desktop.agents.window import PromptWindow
from desktop.conversation.masking import Mask, clean
from desktop.domain.context import Overlay
from desktop.domain.errors import BudgetExhausted, KnownError, NotFound
from desktop.domain.messages import ChatMessage
from desktop.domain.models import ModelRef
from desktop.store import Store

SHOWN = 200
LATER = 40
"""Messages after which a summary is tried again that could not be made; then twice as many."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a person has changed in a thread since the app was started; ``undone`` counts summaries taken back."""

    pins: frozenset[str]
    off: bool
    undone: int = 0


class ContextDesk:
    """Implements ``domain.context.ContextDesk``; a change counts from the next round on, also in a run under way."""

    def __init__(self, store: Store, mask: Mask = lambda text: text) -> None:
        self._store = store
        self._mask = mask
        self._changed: dict[str, _Change] = {}

    async def overlay(self, thread_id: str) -> Overlay:
        """As it is for what the thread shows."""
        try:
            leaf = (await self._store.threads.get(thread_id=thread_id)).active_leaf
        except NotFound:
            return Overlay()
        return await self.of_branch(thread_id, leaf) if leaf else await self._store.overlays.get(thread_id=thread_id)

    async def of_branch(self, thread_id: str, leaf: str) -> Overlay:
        """As it is for the branch that ends in ``leaf``."""
        return await self._store.overlays.for_branch(thread_id=thread_id, leaf=leaf)

    def now(self, thread_id: str, since: Overlay, undone: int) -> tuple[Overlay, int]:
        """``since`` with what a person has changed meanwhile; ``undone`` is how many summaries had been taken back in
        this thread when ``since`` was read, and goes up with them."""
        change = self._changed.get(thread_id)
        if change is None:
            return since, undone
        if change.undone != undone:
            since = Overlay()
        return replace(since, pins=change.pins, off=change.off), change.undone

    async def pin(self, thread_id: str, message_id: str, pinned: bool) -> Overlay:
        """Keep a message in every request, or no longer. Raises NotFound, KnownError."""
        return self._changes(
            thread_id, await self._store.overlays.pin(thread_id=thread_id, message_id=message_id, pinned=pinned)
        )

    async def undo_summary(self, thread_id: str) -> Overlay:
        """The messages themselves again; nothing of the transcript was lost."""
        return self._changes(thread_id, await self._store.overlays.switch(thread_id=thread_id, off=True), undone=1)

    async def allow_summaries(self, thread_id: str) -> Overlay:
        """A summary may be made again."""
        return self._changes(thread_id, await self._store.overlays.switch(thread_id=thread_id, off=False))

    async def summarised(self, thread_id: str, made: Overlay) -> Overlay:
        """Keep a summary that a run has made, unless the person wants none any more; then the overlay is without."""
        return await self._store.overlays.summarise(thread_id=thread_id, overlay=clean(made, self._mask))

    async def pinned_texts(self, thread_id: str) -> Sequence[tuple[str, str]]:
        """(message id, its beginning) of what is pinned and still there, oldest first."""
        found = []
        for message_id in (await self._store.overlays.get(thread_id=thread_id)).pins:
            try:
                found.append(await self._store.messages.get(message_id=message_id))
            except KnownError:  # it went with a thread that was purged
                continue
        found.sort(key=lambda record: record.created_at)
        return [(record.message_id, " ".join(record.text.split())[:SHOWN]) for record in found]

    def _changes(self, thread_id: str, overlay: Overlay, undone: int = 0) -> Overlay:
        before = self._changed.pop(thread_id, None)
        count = (before.undone if before is not None else 0) + undone
        self._changed[thread_id] = _Change(overlay.pins, overlay.off, count)
        return overlay

    def keeper(self, thread_id: str, overlay: Overlay, allowed: Callable[[], bool]) -> ContextKeeper:
        """For a run that begins with ``overlay``."""
        _, undone = self.now(thread_id, overlay, 0)
        return ContextKeeper(kept=_OfThread(self, thread_id, undone), overlay=overlay, allowed=allowed)


class Kept(Protocol):
    """Where the overlay that a run reads is kept."""

    def now(self, since: Overlay) -> Overlay:
        """``since`` with what a person has changed meanwhile."""
        ...

    async def keep(self, made: Overlay) -> Overlay:
        """Store a newer summary; the overlay then."""
        ...


@dataclass(slots=True)
class _OfThread:
    """A chat's overlay."""

    desk: ContextDesk
    thread_id: str
    undone: int

    def now(self, since: Overlay) -> Overlay:
        """As the person has it."""
        since, self.undone = self.desk.now(self.thread_id, since, self.undone)
        return since

    async def keep(self, made: Overlay) -> Overlay:
        """Unless the person wants none any more."""
        return await self.desk.summarised(self.thread_id, made)


@dataclass(slots=True, kw_only=True)
class ContextKeeper:
    """What one run knows of its overlay. ``allowed``: whether summaries are made at all (a setting, off by default,
    R-CTX-6)."""

    kept: Kept
    overlay: Overlay
    allowed: Callable[[], bool]
    not_before: int = 0
    patience: int = LATER

    async def current(
        self, messages: Sequence[ChatMessage], window: PromptWindow, ask: Ask, model: ModelRef, size: int | None
    ) -> Overlay:
        """The overlay of the next request; where not everything fits any more, with a newer summary, which is stored
        before it is used. When none can be made the window drops the oldest instead (R-CTX-7), and it is tried again
        much later. Raises what the budget and a cancellation raise."""
        self.overlay = self.kept.now(self.overlay)
        if self.overlay.off or not self.allowed() or len(messages) < self.not_before:
            return self.overlay
        try:
            made = await renewed(window, messages, self.overlay, ask, model, size)
        except BudgetExhausted:
            raise
        except KnownError as error:
            _log.info("no summary was made: %s", error.code)
            self.not_before, self.patience = len(messages) + self.patience, 2 * self.patience
            return self.overlay
        if made is not None:
            self.overlay = await self.kept.keep(made)
        return self.overlay

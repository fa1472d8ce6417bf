"""A thread's context: what is pinned, what a summary stands for, and how a run keeps both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.domain.context import Overlay, PinnedText
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.threads.masking import Mask, clean
from desktop.store import Store

if TYPE_CHECKING:
    from desktop.agents.loop import summarising as summarising
    from desktop.agents.loop.summarising import ContextKeeper, SummaryBackoff
else:
    summarising = lazy_module("desktop.agents.loop.summarising")

SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Change:
    """What a person has changed in a thread since the app was started; ``undone`` counts summaries taken back."""

    pins: frozenset[str]
    off: bool
    undone: int = 0


class ContextService:
    """What a person does with a thread's context. A change counts from the next round on, also in a run under way."""

    def __init__(self, store: Store, mask: Mask = lambda text: text) -> None:
        self._store = store
        self._mask = mask
        self._changed: dict[str, _Change] = {}
        self._backoff: dict[str, SummaryBackoff] = {}
        self._asked: set[str] = set()

    async def overlay(self, thread_id: str) -> Overlay:
        """The overlay of the branch that the thread shows."""
        try:
            leaf = (await self._store.threads.get(thread_id=thread_id)).active_leaf
        except NotFound:
            return Overlay()
        return await self.of_branch(thread_id, leaf) if leaf else await self._store.overlays.get(thread_id=thread_id)

    async def of_branch(self, thread_id: str, leaf: str) -> Overlay:
        """The overlay of the branch that ends in ``leaf``."""
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
        """The model reads the messages again instead of the summary; no other one is made in this thread."""
        return self._changes(thread_id, await self._store.overlays.switch(thread_id=thread_id, off=True), undone=1)

    async def allow_summaries(self, thread_id: str) -> Overlay:
        """Undo ``undo_summary``: older messages may be summarised again."""
        self._backoff.pop(thread_id, None)
        return self._changes(thread_id, await self._store.overlays.switch(thread_id=thread_id, off=False))

    async def sum_up(self, thread_id: str) -> Overlay:
        """A person wants the older messages summed up: before the thread's next request, whatever the setting says."""
        overlay = await self.allow_summaries(thread_id)
        self._asked.add(thread_id)
        return overlay

    def was_asked(self, thread_id: str) -> bool:
        """Whether a person has asked for a summary; told once."""
        asked = thread_id in self._asked
        self._asked.discard(thread_id)
        return asked

    async def summarised(self, thread_id: str, made: Overlay) -> Overlay:
        """Keep a summary that a run has made, unless the person wants none any more; then the overlay is without."""
        return await self._store.overlays.summarise(thread_id=thread_id, overlay=clean(made, self._mask))

    async def pinned_texts(self, thread_id: str) -> Sequence[PinnedText]:
        """What is pinned and still there, oldest first."""
        found, pins = [], (await self._store.overlays.get(thread_id=thread_id)).pins
        here = await self._shown(thread_id, pins) if pins else set()
        for message_id in pins:
            try:
                found.append(await self._store.messages.get(message_id=message_id))
            except KnownError:  # it went with a thread that was purged
                continue
        found.sort(key=lambda record: record.created_at)
        return [PinnedText(one.message_id, " ".join(one.text.split())[:SHOWN], one.message_id in here) for one in found]

    async def _shown(self, thread_id: str, pins: Iterable[str]) -> set[str]:
        """The pins on the branch that is shown, and maybe others."""
        leaf = (await self._store.threads.get(thread_id=thread_id)).active_leaf
        if not leaf:
            return set()
        above = await self._store.messages.picked_above(message_id=leaf, wanted=sorted(pins))
        return {leaf, *(record.message_id for record in above)}

    def _changes(self, thread_id: str, overlay: Overlay, undone: int = 0) -> Overlay:
        before = self._changed.pop(thread_id, None)
        count = (before.undone if before is not None else 0) + undone
        self._changed[thread_id] = _Change(overlay.pins, overlay.off, count)
        return overlay

    def keeper(self, thread_id: str, overlay: Overlay, allowed: Callable[[], bool]) -> ContextKeeper:
        """The keeper of a run's summary, for a run that begins with ``overlay``."""
        _, undone = self.now(thread_id, overlay, 0)
        backoff = self._backoff.setdefault(thread_id, summarising.SummaryBackoff())
        return summarising.ContextKeeper(
            kept=_OfThread(self, thread_id, undone), overlay=overlay, allowed=allowed, backoff=backoff
        )


@dataclass(slots=True)
class _OfThread:
    """The overlay of a chat, as a run uses it."""

    service: ContextService
    thread_id: str
    undone: int

    def now(self, since: Overlay) -> Overlay:
        """The overlay as the person has it now."""
        since, self.undone = self.service.now(self.thread_id, since, self.undone)
        return since

    async def keep(self, made: Overlay) -> Overlay:
        """Store a newer summary, unless the person wants none any more."""
        return await self.service.summarised(self.thread_id, made)

    def asked(self) -> bool:
        """Whether the person has asked for one."""
        return self.service.was_asked(self.thread_id)

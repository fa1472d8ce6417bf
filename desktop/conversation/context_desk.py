"""A thread's context: what is pinned, what a summary stands for, and how a run keeps both (semantics.md 21)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from desktop.agents.answer import Answerer
from desktop.agents.summarising import summarise
from desktop.agents.window import PromptWindow
from desktop.conversation.masking import Mask, clean
from desktop.domain.cancellation import RunMeta
from desktop.domain.context import Overlay
from desktop.domain.errors import BudgetExhausted, CancellationError, KnownError
from desktop.domain.messages import ChatMessage, Usage
from desktop.domain.models import ModelRef
from desktop.store import Store

SHOWN = 200
LEAST = 4
"""Fewer messages than this are not worth a summary."""

_log = logging.getLogger(__name__)


class ContextDesk:
    """Implements ``domain.context.ContextDesk``; a change counts from the next round on, also in a run under way."""

    def __init__(self, store: Store, mask: Mask = lambda text: text) -> None:
        self._store = store
        self._mask = mask
        self._known: dict[str, Overlay] = {}

    async def overlay(self, thread_id: str) -> Overlay:
        """As it is."""
        return self._keep(thread_id, await self._store.overlays.get(thread_id=thread_id))

    async def of_branch(self, thread_id: str, leaf: str) -> Overlay:
        """As it is for the branch that ends in ``leaf``."""
        return self._keep(thread_id, await self._store.overlays.for_branch(thread_id=thread_id, leaf=leaf))

    def now(self, thread_id: str, since: Overlay) -> Overlay:
        """``since`` with what a person has changed meanwhile."""
        return self._known.get(thread_id, since)

    async def pin(self, thread_id: str, message_id: str, pinned: bool) -> Overlay:
        """Keep a message in every request, or no longer. Raises NotFound, KnownError."""
        found = await self._store.overlays.pin(thread_id=thread_id, message_id=message_id, pinned=pinned)
        return self._keep(thread_id, found)

    async def undo_summary(self, thread_id: str) -> Overlay:
        """The messages themselves again; nothing of the transcript was lost."""
        found = await self.overlay(thread_id)
        return await self.put(thread_id, Overlay(pins=found.pins, off=True))

    async def allow_summaries(self, thread_id: str) -> Overlay:
        """A summary may be made again."""
        return await self.put(thread_id, replace(await self.overlay(thread_id), off=False))

    async def pinned_texts(self, thread_id: str) -> Sequence[tuple[str, str]]:
        """(message id, its beginning) of what is pinned and still there, oldest first."""
        found = []
        for message_id in (await self.overlay(thread_id)).pins:
            try:
                found.append(await self._store.messages.get(message_id=message_id))
            except KnownError:  # it went with a thread that was purged
                continue
        found.sort(key=lambda record: record.created_at)
        return [(record.message_id, " ".join(record.text.split())[:SHOWN]) for record in found]

    async def put(self, thread_id: str, overlay: Overlay) -> Overlay:
        """Replace it."""
        overlay = clean(overlay, self._mask)
        await self._store.overlays.put(thread_id=thread_id, overlay=overlay)
        return self._keep(thread_id, overlay)

    def _keep(self, thread_id: str, overlay: Overlay) -> Overlay:
        self._known[thread_id] = overlay
        if len(self._known) > 200:
            del self._known[next(iter(self._known))]
        return overlay


@dataclass(slots=True, kw_only=True)
class ContextKeeper:
    """What one run knows of its thread's overlay. ``allowed``: whether summaries are made at all (a setting, off
    by default, R-CTX-6); ``spent`` counts what one cost."""

    desk: ContextDesk
    thread_id: str
    overlay: Overlay
    allowed: Callable[[], bool]
    spent: Callable[[Usage], Awaitable[None]]
    failed: bool = False

    async def current(
        self, messages: Sequence[ChatMessage], window: PromptWindow, answerer: Answerer, model: ModelRef,
        meta: RunMeta, size: int | None,
    ) -> Overlay:  # fmt: skip
        """The overlay of the next request; where not everything fits any more, with a newer summary. When none can be
        made the window drops the oldest instead, and it is not tried again in this run (R-CTX-7)."""
        self.overlay = overlay = self.desk.now(self.thread_id, self.overlay)
        if self.failed or overlay.off or not self.allowed():
            return overlay
        old = window.to_summarise(messages, overlay)
        last = max((at for at, message in enumerate(old) if message.source_id), default=-1)
        if last + 1 < LEAST:
            return overlay
        old = old[: last + 1]
        try:
            text, usage = await summarise(answerer, model, old, overlay.summary, meta, size)
        except (CancellationError, BudgetExhausted):
            raise
        except KnownError as error:
            _log.info("no summary was made: %s", error.code)
            self.failed = True
            return overlay
        if usage is not None:
            await self.spent(usage)
        self.overlay = await self.desk.put(
            self.thread_id,
            replace(overlay, summary=text, upto=old[-1].source_id, summarised=overlay.summarised + len(old)),
        )
        return self.overlay

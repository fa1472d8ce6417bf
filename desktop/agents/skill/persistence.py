"""What keeps a persistent agent at work (R-PER-1 … R-PER-6): its inbox, and the waits after errors.

The agent of a called skill and that of a thread are kept at work by the same: where a round ended with a text they wait
for a message, and an error that may pass is waited out.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from desktop.domain.cancellation import CancellationToken
from desktop.domain.scopes import Interrupt
from desktop.supervision.topics import Topics

PERMANENT = frozenset(
    {
        "model.key_refused",
        "model.bad_request",
        "model.unknown",
        "model.context_too_long",
        "model.redirected",
        "limit",
        "limit.budget",
        "limit.answer_length",
        "configuration",
    }
)
"""Codes of errors that a repetition cannot mend (R-PER-5)."""
BASE_S = 1.0
CAP_S = 30.0


def inbox_of(context_id: str) -> str:
    """The topic on which a persistent agent is spoken to; its calls find it as ``nonlocals.agent.inbox``."""
    return f"inbox.{context_id}"


class AgentInbox:
    """Hears from its beginning on what comes, also in the middle of a round. ``owner`` is the run; ``close`` it."""

    def __init__(self, topics: Topics, context_id: str, owner: str) -> None:
        self._topics = topics
        self._news = asyncio.Event()
        self._listener = topics.subscribe(inbox_of(context_id), owner, heard=self._news.set)

    @property
    def topic(self) -> str:
        """Where others post."""
        return self._listener.topic

    def wake(self) -> None:
        """Whoever waits looks again: a message may have come another way."""
        self._news.set()

    def take(self) -> str | None:
        """The next message, as a text; None: there is none."""
        event = self._topics.take(self._listener)
        if event is None:
            return None
        data: Any = event.data
        return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)

    async def news(self, token: CancellationToken) -> None:
        """Wait until something may have come since the last look. Raises CancellationError."""
        async with Interrupt(token):
            await self._news.wait()
        self._news.clear()

    def close(self) -> None:
        """It listens no more."""
        self._topics.unsubscribe(self._listener.subscription_id, self._listener.owner)


class Backoff:
    """How long to wait after an error: 1 s, doubling, 30 s at most; a good round begins the count anew (R-PER-3)."""

    def __init__(self) -> None:
        self.errors = 0

    def after(self, code: str, transient: bool | None) -> float | None:
        """Seconds until the round is tried again; None: a repetition cannot mend this (R-PER-5)."""
        if code in PERMANENT or transient is False:
            return None
        self.errors += 1
        return min(CAP_S, BASE_S * 2.0 ** (self.errors - 1))

    def reset(self) -> None:
        """A round went well."""
        self.errors = 0

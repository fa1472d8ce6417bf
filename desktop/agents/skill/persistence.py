"""What keeps a persistent agent at work (R-PER-1 … R-PER-6): its inbox, and the waits after errors.

The agent of a called skill and that of a thread are kept at work by the same: where a round ended with a text they wait
for a message, and an error that may pass is waited out.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.domain.inboxes import MAX_WAITING, InboxLog, PostedMessage
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.scopes import Interrupt
from desktop.supervision.topics import INBOX, Topics

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


def thread_context(thread_id: str, side: str = "a") -> str:
    """The context of the agent of a thread, the same in all its runs; of two sides each has its own."""
    return thread_id if side == "a" else f"{thread_id}.{side}"


def inbox_of(context_id: str) -> str:
    """The topic on which a persistent agent is spoken to; its calls find it as ``nonlocals.agent.inbox``."""
    return f"{INBOX}{context_id}"


class AgentInbox:
    """Hears from its beginning on what comes, also in the middle of a round; ``close`` it. ``log`` keeps what came
    before whoever posted it hears so, under ``key``, which names the agent also after a restart; with ``run_id`` it is
    kept until that run has ended, else until it is taken out."""

    def __init__(
        self, topics: Topics, context_id: str, meta: RunMeta, log: InboxLog, *, key: str, run_id: str = ""
    ) -> None:
        self._topics = topics
        self._meta = meta
        self._log = log
        self._key = key
        self._run_id = run_id
        self._seen = 0
        self._news = asyncio.Event()
        self._listener = topics.subscribe(inbox_of(context_id), meta.run_id, heard=self._news.set, keep=self._keep)

    @property
    def topic(self) -> str:
        """The topic on which others post to this agent."""
        return self._listener.topic

    def wake(self) -> None:
        """Whoever waits looks again: a message may have come another way."""
        self._news.set()

    async def _keep(self, data: Any, key: str) -> None:
        text = _text_of(data)
        kept = await self._log.post(
            inbox=self._key,
            thread_id=self._meta.thread_id,
            run_id=self._run_id,
            text=text,
            post_id=post_id_of(key, self._key, data) if key else "",
            after=self._read,
        )
        if not kept:
            raise ToolFailure(f"{MAX_WAITING} messages wait at {self.topic} and are not read yet.", code="denied.limit")

    async def take(self) -> PostedMessage | None:
        """The next message; None: there is none. After a restart those that were taken before come first, once more:
        what the agent made of them is gone with its process."""
        found = await self._log.posted(inbox=self._key, after=self._read)
        if found is not None:
            self._seen = found.number
        return found

    @property
    def _read(self) -> int:
        """The number of the last message that was read, of those that are kept after that."""
        return self._seen if self._run_id else 0

    async def news(self, token: CancellationToken) -> None:
        """Wait until something may have come since the last look. Raises CancellationError."""
        async with Interrupt(token):
            await self._news.wait()
        self._news.clear()

    def close(self) -> None:
        """Stop listening for messages to this agent."""
        self._topics.unsubscribe(self._listener.subscription_id, self._listener.owner)


def _text_of(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)


def post_id_of(key: str, inbox: str, data: Any) -> str:
    """The id of a message that is the same when the call ``key`` posts it once more."""
    return hashlib.sha256(f"{key}\0{inbox}\0{_text_of(data)}".encode("utf-8", "replace")).hexdigest()[:32]


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
        """Begin the waiting times anew, after a round that went well."""
        self.errors = 0

"""Topics: what skills of a process tell each other (``event-emit``, ``event-subscribe``, ``event-wait``).

A topic keeps its last events, so that a subscriber who reads a moment late misses nothing; everything is bounded, and
emitting never waits. Topics that nobody listens to make room for new ones.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.ids import short_id
from desktop.domain.loading.lazy_dataclass import dataclass

INBOX = "inbox."
"""Begins the topic on which a persistent agent is spoken to, before its context."""
MAX_TOPICS = 1000
MAX_KEPT = 200
MAX_SUBSCRIPTIONS = 1000
MAX_NAME = 128

Keep = Callable[[Any, str], Awaitable[None]]
"""Keeps what is posted; of posts with the same key, which may be "", the first."""
Recall = Callable[[str, Any, str], Awaitable[bool]]
"""Whether this was posted to the topic by a call of this key before, and kept."""


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """An event of a topic. ``number`` counts over all topics from 1; ``at`` is seconds since the epoch; ``run_id`` is
    the run that it came from, "" where that is not known."""

    number: int
    topic: str
    data: Any
    at: float
    run_id: str = ""

    def to_plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"number": self.number, "topic": self.topic, "data": self.data, "at": self.at}


@dataclass(slots=True)
class TopicListener:
    """A subscription to a topic."""

    subscription_id: str
    """Names the subscription."""
    topic: str
    """The topic."""
    owner: str
    """The run: the subscription ends with it."""
    ref: str = ""
    """A skill that is called for each event, or ""."""
    seen: int = 0
    """The number of the last event that was read."""
    caller: Any = None
    """In whose name the skill is called: whoever subscribed."""
    heard: Callable[[], None] | None = None
    """Called with each event, at once; it must be quick."""
    keep: Keep | None = None
    """Keeps what is posted, before it is published."""


@dataclass(slots=True)
class _Topic:
    events: deque[TopicEvent] = field(default_factory=lambda: deque(maxlen=MAX_KEPT))
    news: asyncio.Event = field(default_factory=asyncio.Event)
    held: int = 0
    """By so many subscriptions and waits."""


class Topics:
    """All topics of a process. Used on the loop only."""

    def __init__(self) -> None:
        self._topics: OrderedDict[str, _Topic] = OrderedDict()
        self._subscriptions: dict[str, TopicListener] = {}
        self._numbers = itertools.count(1)
        self._last = 0
        self.recall: Recall | None = None

    def emit(self, topic: str, data: Any, run_id: str = "") -> TopicEvent:
        """Publish an event and wake every skill that waits for it. Raises ToolFailure for a topic without a usable
        name."""
        event = TopicEvent(next(self._numbers), topic, data, time.time(), run_id)
        self._last = event.number
        kept = self._topic(topic)
        kept.events.append(event)
        news, kept.news = kept.news, asyncio.Event()
        news.set()
        for one in tuple(self._subscriptions.values()):
            if one.topic == topic and one.heard is not None:
                one.heard()
        return event

    async def post(self, topic: str, data: Any, key: str = "", run_id: str = "") -> TopicEvent:
        """``emit``, once the inbox of an agent has kept it; ``key`` names the call that posts, also where it is made
        again: what is kept since the first time is taken, also while its agent is not at work yet. Raises ToolFailure
        for an inbox that is full or that no agent at work has, and what the store raises."""
        keeping = [(one.keep, one.heard) for one in self._subscriptions.values() if one.topic == topic and one.keep]
        if topic.startswith(INBOX) and not keeping and not await self._was_kept(topic, data, key):
            raise ToolFailure(
                f"No persistent agent is at work at {topic[:MAX_NAME]}, so this was not kept.", code="inbox.nobody"
            )
        for keep, heard in keeping:
            try:
                await keep(data, key)
            finally:  # whoever posts may be cancelled once it is kept
                if heard is not None:
                    heard()
        return self.emit(topic, data, run_id)

    async def _was_kept(self, topic: str, data: Any, key: str) -> bool:
        return bool(key) and self.recall is not None and await self.recall(topic, data, key)

    def is_heard(self, topic: str) -> bool:
        """Whether anybody listens to it now; an event of one that is not reaches nobody."""
        found = self._topics.get(topic)
        return found is not None and found.held > 0

    def heard(self, prefix: str) -> list[str]:
        """The topics with names that begin so and that somebody listens to, the latest first."""
        names = [one.topic for one in self._subscriptions.values() if one.topic.startswith(prefix)]
        return list(dict.fromkeys(reversed(names)))

    def check_listening(self, topic: str, owner: str) -> None:
        """What is posted to an agent's inbox is for those that work in its run. Raises Denied."""
        of_run = (one.owner == owner for one in self._subscriptions.values() if one.topic == topic and one.keep)
        if topic.startswith(INBOX) and not any(of_run):
            raise Denied(
                f"{topic[:MAX_NAME]} is the inbox of an agent of another run, or of none that is at work: only the "
                "agents of its own run may listen there. Posting to it is allowed.",
                code="denied.topic",
            )

    def subscribe(
        self,
        topic: str,
        owner: str,
        ref: str = "",
        caller: Any = None,
        heard: Callable[[], None] | None = None,
        keep: Keep | None = None,
    ) -> TopicListener:
        """Listen from now on. Raises ToolFailure when there are too many subscriptions, Denied for the inbox of an
        agent of another run."""
        if keep is None:
            self.check_listening(topic, owner)
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise ToolFailure(f"There are {MAX_SUBSCRIPTIONS} subscriptions already.", code="denied.limit")
        self._topic(topic).held += 1
        found = TopicListener(short_id(), topic, owner, ref, self._last, caller, heard, keep)
        self._subscriptions[found.subscription_id] = found
        return found

    def unsubscribe(self, subscription_id: str, owner: str) -> bool:
        """End a subscription of this owner; False when there is none."""
        found = self._subscriptions.get(subscription_id)
        if found is None or found.owner != owner:
            return False
        self._end(found)
        return True

    def listeners(self, topic: str, owner: str) -> list[TopicListener]:
        """The subscriptions of this owner with a skill to call: a run never calls into another."""
        return [one for one in self._subscriptions.values() if one.topic == topic and one.owner == owner and one.ref]

    def forget(self, owner: str) -> None:
        """Remove all subscriptions of a run that is over."""
        for one in [one for one in self._subscriptions.values() if one.owner == owner]:
            self._end(one)

    def take(self, one: TopicListener) -> TopicEvent | None:
        """The next event of a subscription that is there already."""
        found = next((event for event in self._topic(one.topic).events if event.number > one.seen), None)
        if found is not None:
            one.seen = found.number
        return found

    async def wait(self, subscription_id: str, owner: str, timeout_s: float) -> TopicEvent | None:
        """The next event of a subscription, or None after ``timeout_s`` seconds."""
        found = self._subscriptions.get(subscription_id)
        if found is None or found.owner != owner:
            raise ToolFailure(f"There is no subscription {subscription_id!r} here.")
        return await self._next(found, timeout_s)

    async def wait_for(self, topic: str, owner: str, timeout_s: float) -> TopicEvent | None:
        """The next event of a topic from now on, or None after ``timeout_s`` seconds. Raises Denied as ``subscribe``
        does."""
        self.check_listening(topic, owner)
        return await self._next(TopicListener("", topic, "", seen=self._last), timeout_s)

    def _end(self, one: TopicListener) -> None:
        del self._subscriptions[one.subscription_id]
        self._topic(one.topic).held -= 1

    async def _next(self, one: TopicListener, timeout_s: float) -> TopicEvent | None:
        topic = self._topic(one.topic)
        topic.held += 1
        try:
            return await self._news(one, topic, timeout_s)
        finally:
            topic.held -= 1

    async def _news(self, one: TopicListener, topic: _Topic, timeout_s: float) -> TopicEvent | None:
        until = time.monotonic() + timeout_s
        while True:
            found = self.take(one)
            if found is not None:
                return found
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    await topic.news.wait()
            except TimeoutError:
                return None

    def _topic(self, name: str) -> _Topic:
        if not name or len(name) > MAX_NAME:
            raise ToolFailure(f"A topic has a name of 1 to {MAX_NAME} characters.", code="tool.validation")
        topic = self._topics.get(name)
        if topic is None:
            if len(self._topics) >= MAX_TOPICS:
                self._make_room()
            topic = self._topics[name] = _Topic()
        return topic

    def _make_room(self) -> None:
        """Forget the oldest topic that nobody listens to."""
        oldest = next((name for name, topic in self._topics.items() if not topic.held), None)
        if oldest is None:
            raise ToolFailure(f"All of {MAX_TOPICS} topics are listened to.", code="denied.limit")
        del self._topics[oldest]

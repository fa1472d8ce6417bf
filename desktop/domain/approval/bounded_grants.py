"""Grants with an end: calls like one that a person saw, so many, until a time, up to so many bytes (R-ASK-2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import CommandPart
from desktop.domain.loading.lazy_dataclass import dataclass

MOST_CALLS, MOST_SECONDS, MOST_BYTES = 500, 24 * 3600.0, 1_000_000_000
"""The widest bounds that a grant can have."""

GrantEnd = Literal["", "used", "time", "bytes", "clock", "taken back"]
"""Why it holds no more: all calls were made, its time is over, the bytes are used up, the clock went backwards, or the
person took it back. "": it holds."""


@dataclass(frozen=True, slots=True)
class GrantBounds:
    """What a person chose. All bounds hold at once: the first that is reached ends it."""

    pattern: str
    """Which calls, in the language of rules."""
    calls: int
    """How many, the one that was asked about among them."""
    until: float
    """Until when, in seconds since the epoch."""
    most_bytes: int | None = None
    """How much they may write in all; None: as much as they like."""


@dataclass(frozen=True, slots=True)
class BoundedGrant:
    """A grant as it is kept. It only ever gets smaller."""

    grant_id: str
    """The grant."""
    thread_id: str
    """The thread in which it holds, and for the agents that work for it."""
    seen_in: str
    """The thread in which a person sees it."""
    project: str
    """The folder that the thread worked in; in another one it does not hold."""
    tool: str
    """The tool."""
    how: str
    """How such a call runs (``permission.digest.how_of``): of one that runs in another way it says nothing."""
    created_at: float
    """Seconds since the epoch."""
    bounds: GrantBounds
    """What it was given for."""
    used_calls: int = 0
    """Calls that were let through."""
    used_bytes: int = 0
    """Bytes that these write."""
    latest_at: float = 0.0
    """The latest time that was seen while it held; a clock before that was set back."""
    ended: GrantEnd = ""
    """Why it holds no more."""
    ended_at: float = 0.0
    """When that was; 0: it holds."""

    @property
    def calls_left(self) -> int:
        """How many calls it still lets through."""
        return 0 if self.ended else max(0, self.bounds.calls - self.used_calls)

    @property
    def bytes_left(self) -> int | None:
        """How much these may still write; None: as much as they like."""
        most = self.bounds.most_bytes
        return None if most is None else max(0, most - self.used_bytes)

    def left(self, now: float) -> float:
        """The share that is left, from 1 to 0, of the bound that is nearest its end."""
        bounds, whole = self.bounds, max(1.0, self.bounds.until - self.created_at)
        shares = [self.calls_left / bounds.calls, max(0.0, min(1.0, (bounds.until - now) / whole))]
        if bounds.most_bytes and self.bytes_left is not None:
            shares.append(self.bytes_left / bounds.most_bytes)
        return 0.0 if self.ended else min(shares)


class GrantPort(Protocol):
    """What a person sees of grants and does with them."""

    def held(self, thread_id: str) -> tuple[BoundedGrant, ...]:
        """Those that hold and are seen in a thread, the latest first."""
        ...

    def ended(self, thread_id: str) -> tuple[BoundedGrant, ...]:
        """Those of this start that hold no more, the latest first."""
        ...

    def patterns(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        paths: Sequence[str],
        project: str,
        parts: Sequence[CommandPart] = (),
    ) -> tuple[str, ...]:
        """What can be granted with the answer to a request about such a call, the narrowest first; ``parts``: the
        commands of a shell command."""
        ...

    def again(self, grant_id: str, bounds: GrantBounds) -> Awaitable[None]:
        """Grant the same calls anew, within these bounds. Raises KnownError for what cannot be granted."""
        ...

    def settle(self) -> Awaitable[None]:
        """Write down which have ended by their time."""
        ...

    def take_back(self, grant_id: str) -> Awaitable[None]:
        """From now on it lets nothing through."""
        ...

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told after each change, on the loop; returns what detaches the listener."""
        ...


class CallGrants(Protocol):
    """What the gate needs of grants."""

    def covering(self, facts: CallFacts, how: str, size: int | None) -> BoundedGrant | None:
        """A grant that would let this call through, which writes ``size`` bytes (None: nobody knows), or None."""
        ...

    def use(self, grant: BoundedGrant, size: int | None) -> Awaitable[bool]:
        """Count the call; it is written down when this returns. False: nothing is left for it, or somebody was
        quicker."""
        ...

    def give(self, bounds: GrantBounds, facts: CallFacts, how: str, seen_in: str, size: int | None) -> Awaitable[None]:
        """Keep what a person granted with this call, which counts as the first. Raises KnownError for what cannot be a
        grant."""
        ...


class NoCallGrants:
    """Where nobody can be given one. Implements ``CallGrants``."""

    def covering(self, facts: CallFacts, how: str, size: int | None) -> BoundedGrant | None:
        return None

    async def use(self, grant: BoundedGrant, size: int | None) -> bool:
        return False

    async def give(self, bounds: GrantBounds, facts: CallFacts, how: str, seen_in: str, size: int | None) -> None:
        return None

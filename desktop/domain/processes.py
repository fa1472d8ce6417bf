"""How rooms talk to a child process without knowing how it is run.

``workers`` implements this; ``models`` (and later code mode and skills) are handed one by ``app``. Everything that
crosses is JSON data; whatever a child says is validated and capped before it arrives here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from typing import Any, Literal, Protocol

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass

ChildState = Literal["stopped", "starting", "ready", "restarting"]


class ChildRefused(KnownError):
    """A child answered a call with an error: ``code`` is the child's, ``data`` what it says about it."""

    def __init__(self, code: str, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, code=code)
        self.data: Mapping[str, Any] = data or {}


@dataclass(frozen=True, slots=True)
class ChildHealth:
    """A child's condition. ``generation`` counts its starts; ``detail`` is the redacted end of what it wrote to
    stderr; ``last_end`` says how it ended the last time, or is empty."""

    state: ChildState
    pid: int | None
    generation: int
    restarts: int
    last_end: str = ""
    detail: str = ""


class ChildStream(Protocol):
    """The items of one streaming call, in order, then ``value`` is what the call returned.

    Iterating raises ChildDied, ProtocolViolation, ChildRefused, or TimeoutError (silent for ``idle_s``, or not
    finished within ``deadline_s``). It hands the loop to others at least every 4 ms, however much is buffered.
    """

    @property
    def value(self) -> Any:
        """The call's result once iteration has ended by itself, else None."""
        ...

    def __aiter__(self) -> AsyncIterator[Any]: ...

    def __anext__(self) -> Awaitable[Any]: ...

    def cancel(self) -> None:
        """Stop at once: the child is told, what is buffered is dropped, iteration ends. Never waits; may be called
        twice."""
        ...


class Child(Protocol):
    """A child process that is started when first needed and again whenever it dies."""

    @property
    def health(self) -> ChildHealth:
        """How the child is now."""
        ...

    def start(self) -> None:
        """Begin starting it (prewarm); returns at once. Needs a running loop."""
        ...

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float) -> Awaitable[Any]:
        """One question, one answer. Raises ChildDied, ProtocolViolation, ChildRefused, TimeoutError (seconds)."""
        ...

    def stream(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        parts: Iterable[Any] = (),
        deadline_s: float | None = None,
        idle_s: float | None = None,
    ) -> ChildStream:
        """A question with many answers. ``parts`` are JSON values sent ahead of ``params`` in slices, so that large
        ones never hold the loop; texts in them are at most 32 Ki characters long. Both limits are seconds."""
        ...

    def stop(self) -> Awaitable[None]:
        """End it and everything it started, within 3 s (R-UI-8). Calls under way fail with ChildDied."""
        ...

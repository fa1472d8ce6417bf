"""Messages of the open thread that wait for its run, as the composer shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from desktop.presenter.chat.state import QueuedMessage


class WaitingMessages:
    """The messages that wait in a thread; ``told`` gets all of them after each change."""

    def __init__(self, told: Callable[[tuple[QueuedMessage, ...]], None]) -> None:
        self._told = told
        self._all: tuple[QueuedMessage, ...] = ()

    def clear(self) -> None:
        """For another thread, whose own are read soon; nobody is told."""
        self._all = ()

    def show(self, waiting: Sequence[tuple[str, str]], held: frozenset[str] = frozenset()) -> None:
        """What the store has: (queue id, text), and which of them a Stop holds back."""
        self._now(tuple(QueuedMessage(queue_id, text, queue_id in held) for queue_id, text in waiting))

    def add(self, queue_id: str, text: str) -> None:
        """Put a message at the end of the queue."""
        self._now((*self._all, QueuedMessage(queue_id, text)))

    def drop(self, queue_id: str) -> None:
        """Remove a message that was sent or taken back."""
        self._now(tuple(one for one in self._all if one.queue_id != queue_id))

    def drop_text(self, text: str) -> None:
        """Remove the messages with this text, because one has begun a run."""
        self._now(tuple(one for one in self._all if one.text != text))

    def _now(self, waiting: tuple[QueuedMessage, ...]) -> None:
        self._all = waiting
        self._told(waiting)

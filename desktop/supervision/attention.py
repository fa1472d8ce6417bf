"""Which threads a person looks at: requests of their runs come before those of others (R-SUP-14)."""

from __future__ import annotations

from collections.abc import Collection


class Attention:
    """The open threads, one for each place that shows one."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def move(self, thread_id: str, before: str = "") -> None:
        """A person looks at this thread now, and no longer at the one ``before`` in the same place; "": at none."""
        self._open = (self._open - {before}) | ({thread_id} - {""})

    def holds(self, threads: Collection[str]) -> bool:
        """Whether a person has one of these threads open."""
        return not self._open.isdisjoint(threads)

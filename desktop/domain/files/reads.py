"""What a thread has read of a file, as it is kept over a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReadFileVersion:
    """The version of a file that a thread knows."""

    path: str
    """Absolute, without links."""
    read: bool
    """Whether it was shown to the thread; False: the thread has only written it."""
    digest: str = ""
    """SHA-256 of its bytes; "": only some of its lines were seen."""
    size: int = 0
    """Its bytes."""
    at: float = 0.0
    """When it was first seen so, in seconds since the epoch."""
    packed: bytes = b""
    """Its bytes compressed, or none where they are not kept."""


class KeptReads(Protocol):
    """Keeps them."""

    async def load(self, thread_id: str) -> Sequence[ReadFileVersion]:
        """What is kept of a thread."""
        ...

    def changed(self, thread_id: str, path: str) -> None:
        """The thread knows another version now. From any thread; returns at once."""
        ...


class NoKeptReads:
    """Where nothing is kept. Implements ``KeptReads``."""

    async def load(self, thread_id: str) -> Sequence[ReadFileVersion]:
        return ()

    def changed(self, thread_id: str, path: str) -> None:
        return None

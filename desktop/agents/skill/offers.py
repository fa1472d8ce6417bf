"""How much is offered to a model beside what its list names; ``discovery`` chooses what."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """What fits into a request: so many ``tools``, and so many ``tokens`` of schemas (None: any number)."""

    tools: int = 40
    tokens: float | None = None


@dataclass(frozen=True, slots=True)
class Offers:
    """How much is offered to a model beside what its list names: at most ``tools`` in all, and schemas of at most a
    ``share`` of its window."""

    tools: int = 40
    share: float = 0.1

    def room(self, window: int | None) -> Room:
        """For a model whose window has so many tokens (None: nobody knows)."""
        return Room(self.tools, None if window is None else window * self.share)

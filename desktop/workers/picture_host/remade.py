"""What a picture became."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Remade:
    """A picture as it was made anew."""

    data: bytes
    """PNG or JPEG."""
    media_type: str
    """Which of the two."""
    width: int
    """Points across."""
    height: int
    """Points down."""
    notes: tuple[str, ...] = ()
    """What was done to it, each in half a sentence."""

"""How updates stand, as one value."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.updates.rights import RightChange
from desktop.services.updates.memory import OfferedVersion

Phase = Literal["resting", "looking", "fetching", "unpacking", "waiting"]


@dataclass(frozen=True, slots=True)
class UpdateState:
    """How updates stand."""

    phase: Phase = "resting"
    """What is being done; waiting: all is laid down, and runs are at work."""
    offer: OfferedVersion | None = None
    """The new version; None: this one is the newest that is known."""
    differences: tuple[RightChange, ...] = ()
    """What it may do otherwise than this one."""
    skipped: bool = False
    """Whether the person does not want it."""
    later: bool = False
    """Whether the person does not want to hear of it until the next start."""
    done: int = 0
    """Bytes that are fetched or unpacked."""
    total: int = 0
    """Of so many."""
    problem: str = ""
    """Why it did not work the last time, in a sentence."""
    looked: float = 0.0
    """When was looked last, in seconds since the epoch; 0: never."""
    previous: str = ""
    """The version that can be gone back to, or ""."""
    previous_reads: bool = True
    """Whether that one reads the database as this one keeps it."""
    starts: str = ""
    """The version that starts the next time, where it is another one than this."""
    fell_back: str = ""
    """The version that did not start, so that this one was started again."""
    waits_for: tuple[str, ...] = ()
    """Threads whose runs are waited for."""

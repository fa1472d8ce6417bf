"""How often a minute agents of one definition may be started by models (S-DEF-1)."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from desktop.domain.errors import LimitReached
from desktop.domain.limits import Limit

MINUTE = 60.0
PER_MINUTE = 10


class StartRate:
    """A sliding minute for each name. ``most`` is asked anew each time; ``clock`` is monotonic seconds."""

    def __init__(
        self, most: Callable[[], int] = lambda: PER_MINUTE, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._clock = clock
        self._starts: dict[str, deque[float]] = {}

    def start(self, name: str) -> None:
        """Count one start more. Raises LimitReached, and then it is not counted."""
        now, most = self._clock(), self._most()
        starts = self._starts.setdefault(name, deque())
        while starts and now - starts[0] >= MINUTE:
            starts.popleft()
        if len(starts) >= most:
            wait = math.ceil(MINUTE - (now - starts[len(starts) - most]))
            limit = Limit("starts a minute", most, "the settings")
            raise LimitReached(
                f"{name} was started {len(starts)} times within a minute: {limit}.", limit=str(limit),
                next_step=f"Wait {wait} s, or do the work without it.",
            )  # fmt: skip
        starts.append(now)

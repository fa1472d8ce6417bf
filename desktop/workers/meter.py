"""How many messages whoever is at the other end of a pipe may send: so many at once, so many a second."""

from __future__ import annotations

import time

TOO_MANY = "It sent more messages than can be read."


class RateMeter:
    """``burst`` messages at once, ``per_second`` sustained."""

    def __init__(self, burst: int, per_second: int) -> None:
        self._burst, self._per_second = float(burst), per_second
        self._left = self._burst
        self._at = time.monotonic()

    def takes(self) -> bool:
        """Count one more; False: it is one too many."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second) - 1
        self._at = now
        return self._left >= 0

"""When a failed request is tried again, and after how long (R-LOOP-14)."""

from __future__ import annotations

import random
from collections.abc import Callable

from desktop.domain.errors import ModelError, ModelRateLimited
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` more attempts; ``base_s`` doubling to ``cap_s``, times a jitter of 0.5 to 1.0.

    A provider's retry-after is honoured up to ``max_wait_s``; when it asks for more, the failure is reported at once
    with its time, and the person decides. ``uniform`` is injected by tests.
    """

    retries: int = 3
    base_s: float = 1.0
    cap_s: float = 30.0
    max_wait_s: float = 60.0
    uniform: Callable[[float, float], float] = random.uniform

    def delay(self, error: ModelError, failures: int) -> float | None:
        """Seconds to wait after the ``failures``-th failure, or None: do not try again."""
        if not error.transient or failures > self.retries:
            return None
        wait: float = min(self.cap_s, self.base_s * 2.0 ** (failures - 1)) * self.uniform(0.5, 1.0)
        asked = error.retry_after if isinstance(error, ModelRateLimited) else None
        if asked is None:
            return wait
        return None if asked > self.max_wait_s else max(wait, asked)

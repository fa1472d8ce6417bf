"""What the library's middleware around agents does: the limit of their starts, and lines in the log (D-7, S-DEF-1)."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable

from desktop.domain.runs.middleware import AgentContext, Start
from desktop.domain.runs.scopes import Interrupt

MINUTE = 60.0
MAX_NAMES = 1_000
MAX_SAID = 300

_log = logging.getLogger(__name__)


class Starts:
    """A sliding minute for each agent and each skill that one works on, in which only so many starts have room. Every
    start counts; what a person starts is never held. ``clock`` is monotonic seconds, ``minute`` how many of them
    count."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: dict[tuple[str, str], deque[float]] = {}

    async def turn(self, maximum: int, context: AgentContext) -> None:
        """Wait until it may begin, and say so. Raises CancellationError as soon as the run is cancelled."""
        start, said = context.start, False
        if start is None:
            return
        try:
            while (wait := self._wait(start, maximum)) > 0:
                if not said:
                    said = True
                    context.waits(
                        f"{start.name or 'the agent'} was started {_times(maximum)} within a minute; it goes on in "
                        f"{math.ceil(wait)} s (Settings, Middleware)"
                    )
                async with Interrupt(context.meta.cancellation):
                    await asyncio.sleep(wait)
        finally:
            if said:
                context.waits("")

    def _wait(self, start: Start, maximum: int) -> float:
        """Seconds until the agent may start; 0: it starts now, and the start is counted."""
        now = self._clock()
        begun = self._begun.setdefault((start.kind, start.name), deque())
        while begun and now - begun[0] >= MINUTE:
            begun.popleft()
        if start.by != "person" and len(begun) >= maximum:
            return max(0.001, MINUTE - (now - begun[len(begun) - maximum]))
        begun.append(now)
        while len(self._begun) > MAX_NAMES:
            del self._begun[next(iter(self._begun))]
        return 0.0


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


class RunLog:
    """``mask`` takes secrets out of what a run says of itself."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask

    def begun(self, context: AgentContext) -> None:
        """Note that an agent begins its work."""
        meta = context.meta
        _log.info("run %s: %s begins in thread %s", meta.run_id, self._shown(context.agent), meta.thread_id)

    def ended(self, context: AgentContext, seconds: float) -> None:
        """Note that a run has ended, however it ended."""
        reason, detail = getattr(context.result, "reason", ""), str(getattr(context.result, "detail", ""))
        how = str(reason or ("done" if context.result is not None else "broken off"))
        said = f": {self._shown(detail)}" if detail else ""
        _log.info(
            "run %s: %s ended after %.1f s, %s%s", context.meta.run_id, self._shown(context.agent), seconds, how, said
        )

    def _shown(self, text: str) -> str:
        """Masked before it is cut: a half of a secret would not be known any more."""
        return " ".join(self._mask(text).split())[:MAX_SAID]

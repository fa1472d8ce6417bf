"""How often a minute agents of one definition, and skills that an agent works on, are started (S-DEF-1).

Every start counts, whoever makes it. What is beyond the limit depends on who that is: a model is refused, a job waits
for its turn, and a person, whom the limit protects, is neither.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable

from desktop.domain.errors import LimitReached
from desktop.domain.limits import Limit

MINUTE = 60.0
PER_MINUTE = 10
SKILLS_PER_MINUTE = 60
_LOOK_S = 1.0
"""The limit may be raised while somebody waits."""


class StartRate:
    """A sliding minute for each name. The limits ``most`` and ``most_skills`` are asked anew each time; ``clock`` is
    monotonic seconds, ``sleep`` waits some."""

    def __init__(
        self, most: Callable[[], int] = lambda: PER_MINUTE, most_skills: Callable[[], int] = lambda: SKILLS_PER_MINUTE,
        *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:  # fmt: skip
        self._most = most
        self._most_skills = most_skills
        self._clock = clock
        self._sleep = sleep
        self._starts: dict[tuple[str, str], deque[float]] = {}

    def start(self, name: str) -> None:
        """A model starts an agent. Raises LimitReached, and then it is not counted."""
        self._start("agent", name, self._most())

    def start_skill(self, name: str) -> None:
        """A skill begins that an agent works on. Raises LimitReached, and then it is not counted."""
        self._start("skill", name, self._most_skills())

    def count(self, name: str) -> None:
        """A person starts an agent: counted, and never refused."""
        self._recent("agent", name, self._most()).append(self._clock())

    def full(self, name: str) -> bool:
        """Whether one more start of this agent would be too many now."""
        most = self._most()
        return len(self._recent("agent", name, most)) >= most

    async def turn(self, name: str) -> None:
        """A job starts an agent: counted as soon as there is room."""
        while self.full(name):
            await self._sleep(min(_LOOK_S, max(0.01, self._wait("agent", name, self._most()))))
        self.count(name)

    def _start(self, kind: str, name: str, most: int) -> None:
        starts = self._recent(kind, name, most)
        if len(starts) >= most:
            limit = Limit("starts a minute", most, "the settings")
            raise LimitReached(
                f"{name} was started {len(starts)} times within a minute: {limit}.", limit=str(limit),
                next_step=f"Wait {math.ceil(self._wait(kind, name, most))} s, or do the work without it.",
            )  # fmt: skip
        starts.append(self._clock())

    def _recent(self, kind: str, name: str, most: int) -> deque[float]:
        """The starts of the last minute; of a person's many only as many as the limit can ask for."""
        now, starts = self._clock(), self._starts.setdefault((kind, name), deque())
        while starts and (now - starts[0] >= MINUTE or len(starts) > most + 1):
            starts.popleft()
        return starts

    def _wait(self, kind: str, name: str, most: int) -> float:
        """Seconds until one more may start."""
        starts = self._starts[kind, name]
        return MINUTE - (self._clock() - starts[len(starts) - most])

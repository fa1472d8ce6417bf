"""Timeouts of tests: how long one waits for what is sure to come, and how much work in one go holds a thread up."""

import asyncio
import time
from collections.abc import Callable, Iterator

WAIT_S = 120.0
"""Seconds until what a test waits for counts as never coming. No test waits so long unless it fails, so a slow machine
costs nothing; what must not be waited for lasts ``FOREVER_S``, so the two are told apart on any machine."""

WAIT_MS = int(WAIT_S * 1000)
"""The same for what counts in milliseconds."""

FOREVER_S = 3600.0
"""Seconds that something lasts which a test must not wait for."""

HELD_S = 0.5
"""Seconds of its own work in one go after which a thread is held up. Far above what any of our pieces takes, far below
what it takes to do everything at once."""


async def until(
    true: Callable[[], object], what: str = "it", *, seen: Callable[[], object] = lambda: "", seconds: float = WAIT_S
) -> None:
    """Waits until something is so, looking every few milliseconds. What cannot be looked at yet (a row that is not
    there) is not so. What is ``seen`` instead is said when it never was."""
    end, missing = time.monotonic() + seconds, None
    while True:
        try:
            if true():
                return
            missing = None
        except (LookupError, StopIteration) as error:
            missing = error
        if time.monotonic() > end:
            raise AssertionError(f"never: {what}; {seen()}") from missing
        await asyncio.sleep(0.005)


def longer_limits(first_s: float) -> Iterator[float]:
    """Time limits for a command that has to get somewhere before it is ended: where a slow machine did not let it, the
    next one is four times as long."""
    limit_s = first_s
    while limit_s < WAIT_S:
        yield limit_s
        limit_s *= 4


class Beat:
    """The longest stretch of processor time that the loop's thread used in one go, in seconds. What other processes do
    meanwhile does not count. To be run as a task: ``beat.run()``."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        latest = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest, latest = max(self.longest, now - latest), now

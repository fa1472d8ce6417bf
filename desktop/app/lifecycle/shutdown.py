"""The orderly end (R-UI-8): cancel, deny, wait at most 3 seconds, end the children, write everything down."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from desktop.app.home.crash import CrashReporter
from desktop.app.lifecycle.composition import App
from desktop.presenter.events.bridge import Bridge

CANCEL_LIMIT = 3.0
CHILDREN_LIMIT = 3.0
FLUSH_LIMIT = 5.0
"""Seconds."""

DENIAL = 0.02
"""Seconds for whoever asked to take note of the denial before it is cancelled."""

WATCHDOG = 20.0
"""Seconds after which even a hanging end is over: longer than all limits together."""

logger = logging.getLogger(__name__)


async def end(app: App, bridge: Bridge, crashes: CrashReporter) -> tuple[str, ...]:
    """All parts of the end in their order; returns what did not end in its time, by name."""
    crashes.end_without_fail(WATCHDOG)
    late: list[str] = []

    async def part(name: str, work: Callable[[], Awaitable[object]], limit: float) -> None:
        try:
            async with asyncio.timeout(max(0.1, limit)):
                await work()
        except TimeoutError:
            late.append(name)
        except Exception as error:  # noqa: BLE001 - one part that fails must not keep the store from being written
            crashes.take(error, f"ending: {name}")

    until = time.monotonic() + CANCEL_LIMIT
    app.quitting()
    # Runs first: a denied run would ask its model for another round, only to be cut off in the middle of it.
    await part("runs", app.cancel_runs, CANCEL_LIMIT)
    if bridge.deny_all():
        await asyncio.sleep(DENIAL)
    late += await bridge.shutdown(max(0.1, until - time.monotonic()))
    await part("children", app.end_children, CHILDREN_LIMIT)
    await part("store", app.flush, FLUSH_LIMIT)
    if late:
        logger.warning("did not end in time: %s", ", ".join(late))
    return tuple(late)

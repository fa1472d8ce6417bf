"""A loop that waits by ``poll``: of all ways of waiting the one that a filter of system calls lets through."""

from __future__ import annotations

import asyncio
import selectors
import sys


def polling_loop() -> asyncio.AbstractEventLoop:
    """A new one; on Windows, which has no such filters, the usual one."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(selectors.PollSelector())

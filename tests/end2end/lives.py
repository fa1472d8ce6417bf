"""Lives of a process that is killed, each forked from one that has lived a whole one: what a process loads and compiles
the first time is there already, and what it holds open is not."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any

Life = Callable[[], Coroutine[Any, Any, None]]


def rehearse(life: Life) -> None:
    """A life in this process, from its beginning to its end. Nothing of it goes on: a fork would lose the threads."""
    asyncio.run(life())
    assert threading.enumerate() == [threading.main_thread()]
    gc.collect()
    gc.freeze()  # what is never collected is never copied, either


def live(life: Life) -> bool:
    """A life in a process of its own; whether it was killed."""
    child = os.fork()
    if not child:
        code = 1
        try:
            asyncio.run(life())
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a life failed")
    return os.WIFSIGNALED(status)

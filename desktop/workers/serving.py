"""How a child serves its methods that reads what strangers made: shut in, once it has all that it needs, and gone when
nobody asks any more."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from desktop.workers.hardening import shut_in
from desktop.workers.inside import ChildServer, pipes

_CODECS = (
    "ascii latin-1 cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp850 iso8859-2 iso8859-5 "
    "iso8859-7 iso8859-9 iso8859-15 koi8-r koi8-u mac-roman utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 gb2312 "
    "gbk gb18030 big5 big5hkscs shift_jis cp932 euc-jp iso2022_jp euc-kr cp949 tis-620 cp874"
).split()


def read_whole(handle: int, most: int) -> bytes:
    """All that a handle gives, which is closed then. Raises OSError for more than ``most`` bytes."""
    with os.fdopen(handle, "rb") as file:
        file.seek(0)
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError("the file is too large")
    return data


def load_codecs() -> None:
    """What would be read from files later, when there are none any more."""
    for name in _CODECS:
        codecs.lookup(name)
    warnings.simplefilter("ignore")


class Idle:
    """When a process that nobody asks ends. ``working`` is told True when a call begins and False when none is
    left."""

    def __init__(self) -> None:
        self.working: Callable[[bool], None] = lambda _: None


async def serve_shut_in(
    service: tuple[str, str], methods: Mapping[str, Any], idle: Idle, confined: tuple[str, str], seconds: float
) -> None:
    """Serve the methods of a ``service`` (its name and version) until the app is gone, or nobody has asked for
    ``seconds``. ``confined``: the file that shuts in, and the filter of system calls."""
    reader, writer = await pipes()
    shut_in(*confined)
    loop = asyncio.get_running_loop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds) as limit:
            idle.working = lambda working: limit.reschedule(None if working else loop.time() + seconds)
            await ChildServer(*service, dict(methods)).serve(reader, writer)

"""A fresh corner of the fake provider, and one real model host for all tests of a module."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest_asyncio

from desktop.workers.child import ChildProcess
from tests.servers.fixtures import provider, provider_process
from tests.servers.hosts import running_host

__all__ = ["host", "provider", "provider_process"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host() -> AsyncIterator[ChildProcess]:
    """For tests marked ``asyncio(loop_scope="module")``: starting it takes seconds. The loop has its threads ready."""
    with ThreadPoolExecutor(4, "module") as pool:
        started = threading.Barrier(5)
        for _ in range(4):
            pool.submit(started.wait)
        started.wait()
        asyncio.get_running_loop().set_default_executor(pool)
        async with running_host() as running:
            yield running

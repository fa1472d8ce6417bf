"""A fresh corner of the fake provider, and one real model host for all tests of this folder."""

from collections.abc import AsyncIterator

import pytest_asyncio

from desktop.workers.child import ChildProcess
from tests.harness.loops import threads_ready
from tests.servers.fixtures import provider, provider_process
from tests.servers.hosts import running_host

__all__ = ["host", "provider", "provider_process"]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def host() -> AsyncIterator[ChildProcess]:
    """For tests marked ``asyncio(loop_scope="session")``: starting it takes seconds."""
    with threads_ready():
        async with running_host() as running:
            yield running

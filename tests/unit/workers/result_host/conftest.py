"""Results as the app opens them: by a process of its own, shut in as it is there."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from desktop.domain.files.results import OpenResult, ResultKind
from desktop.safety.confinement.linux.code_profile import drawing_profile
from desktop.services.results.reading import ResultReader
from desktop.workers.document_child import result_host

Show = Callable[..., AbstractAsyncContextManager[OpenResult]]


@pytest.fixture
def show() -> Show:
    """Opens bytes as a result."""
    reader = ResultReader(lambda handle: result_host(handle, confined=drawing_profile()))

    @asynccontextmanager
    async def show(data: bytes | str, kind: ResultKind, name: str = "it") -> AsyncIterator[OpenResult]:
        with tempfile.TemporaryFile() as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            async with reader.open(file.fileno(), name, kind) as result:
                yield result

    return show

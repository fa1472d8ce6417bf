"""Something that is held open beside a page, such as a document in a process of its own."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

from desktop.domain.errors import KnownError

T = TypeVar("T")


class HeldOpen(Generic[T]):
    """What a task of its own opens and closes."""

    def __init__(self) -> None:
        self.value: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.task: asyncio.Future[None] | None = None

    async def hold(self, opened: AbstractAsyncContextManager[T]) -> None:
        """Until it is over. Why it could not be opened is told to who waits for it."""
        try:
            async with opened as value:
                self.value.set_result(value)
                await self.over.wait()
        except KnownError as error:
            if self.value.done():
                raise
            self.value.set_exception(error)
        finally:
            self.value.cancel()

"""Documents read by the methods of the document host, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from desktop.domain.files.documents import DocumentAbout, about_from
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.workers.document_host.host import DocumentHost
from desktop.workers.inside import WorkerCall


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as it was read."""

    about: DocumentAbout
    """What it is."""
    parts: tuple[str, ...]
    """The text of its parts."""
    said: dict[str, Any]
    """How the reading ended."""

    @property
    def all(self) -> str:
        """All of its text."""
        return "\n".join(self.parts)


Read = Callable[..., Awaitable[ReadDocument]]


class HeardCall(WorkerCall):
    """A call whose frames are taken at once, as by an app that is never behind: a child waits for one that is."""

    def __init__(self, number: int, method: str, params: dict[str, Any]) -> None:
        self.frames: list[Any] = []
        super().__init__(number, method, params, [], self._take)

    def _take(self, frame: Any) -> None:
        self.frames.append(frame)
        asyncio.get_running_loop().call_soon(self.acknowledged)


@pytest.fixture
def read() -> Read:
    """Reads bytes as a document."""

    async def read(data: bytes, name: str = "it", *, room: int = 100_000, line: int = 1) -> ReadDocument:
        host = DocumentHost(data)
        about = about_from(await host.about(HeardCall(1, "about", {"name": name})))
        call = HeardCall(2, "text", {"first": 1, "last": about.count, "line": line, "room": room})
        said = await host.text(call)
        await call.finish()
        parts: dict[int, str] = {}
        for item in (item for frame in call.frames for item in frame["items"]):
            parts[item["part"]] = parts.get(item["part"], "") + item["text"]
        return ReadDocument(about, tuple(text.strip("\n") for text in parts.values()), dict(said))

    return read

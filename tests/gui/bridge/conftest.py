"""A bridge on the app's loop, and what came out of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.runs.events import Event
from desktop.presenter.events.bridge import Bridge

AT: dict[str, Any] = {"thread_id": "t", "run_id": "r"}


def request(number: int, *, run: str = "r", category: Category = Category.WRITE) -> PermissionRequest:
    return PermissionRequest(
        request_id=f"q{number}",
        run_id=run,
        thread_id="t",
        call_id=f"c{number}",
        tool="write-file",
        description="",
        category=category,
        raised_because="",
        chain=("assistant",),
        arguments={"path": "a"},
        paths=("/a",),
        judgements=(),
        preview={},
        digest=f"d{number}",
        asked_at=0.0,
    )


@dataclass
class Heard:
    """Everything that the bridge's signals said."""

    batches: list[tuple[Event, ...]] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    closed: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        return [event for batch in self.batches for event in batch]

    def listen(self, bridge: Bridge, *, window: bool = True) -> None:
        bridge.events.connect(self.batches.append)
        bridge.failed.connect(self.failed.append)
        bridge.closed.connect(lambda name, decision: self.closed.append((name, decision.choice, decision.by)))
        if window:
            self.attach(bridge)

    def attach(self, bridge: Bridge) -> None:
        bridge.asked.connect(lambda asked: self.asked.append(asked.request_id))


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    made = Bridge()
    yield made
    assert await made.shutdown(2.0) == ()


@pytest.fixture
async def heard(bridge: Bridge) -> Heard:
    made = Heard()
    made.listen(bridge)
    return made

"""One start of the whole app in this process, and a person in front of it."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import Home
from desktop.app.lifecycle import shutdown
from desktop.app.lifecycle.composition import App
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.items import CallsPart, NoticePart, ToolPart
from tests.harness.timeouts import WAIT_S, until

HELLO = [{"text": "Hello "}, {"text": "there."}]


def call(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"call": {"tool": tool, "arguments": arguments}}]


def unoffered(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """A call as small local models make it, of what they were not offered."""
    return [{"call": {"tool": tool, "arguments": arguments, "unoffered": True}}]


class Running:
    """One start of the app, and a person in front of it."""

    def __init__(
        self, home: Home, bridge: Bridge, window: Any, app: App, crashes: CrashReporter, quits: list[bool]
    ) -> None:
        self.home, self.bridge, self.window, self.app, self.crashes = home, bridge, window, app, crashes
        self.quits = quits
        self.startup: Any = app.start.__self__  # type: ignore[attr-defined]

    async def start(self, *, joined: bool) -> None:
        await self.app.start()
        if joined:
            await self.app.join_world()

    async def opened(self) -> None:
        """Until the thread that was open is shown again."""

        def done() -> bool:
            pages = self.startup._pages
            return pages is not None and pages._opened and "open thread" not in self.bridge.task_names

        await self.until_true(done, "the pages")
        await self.until(lambda: type(self.page).__name__ == "ChatPage", "the chat page")

    @property
    def models(self) -> Any:
        return self.startup._models

    @property
    def page(self) -> Any:
        return self.window.page("chats")

    @property
    def items(self) -> dict[str, Any]:
        return self.page.pane._items

    @property
    def text(self) -> str:
        """All that is written in the open thread, as the transcript has it."""
        return "\n".join(message.source() for message in self.page.pane.transcript.page.messages)

    @property
    def calls(self) -> list[ToolPart]:
        """All calls of the open thread, also those of a long run that are folded into a line."""
        parts = [p for item in self.items.values() for p in item.parts]
        rows = [part.calls if isinstance(part, CallsPart) else (part,) for part in parts]
        return [call for row in rows for call in row if isinstance(call, ToolPart)]

    @property
    def notices(self) -> str:
        """Failures, limits and interruptions, as the thread shows them."""
        parts = [p for item in self.items.values() for p in item.parts]
        return "\n".join(p.text for p in parts if isinstance(p, NoticePart))

    @property
    def banner(self) -> str:
        """What stands over the page, or nothing."""
        banner = self.window._banner
        return str(banner.words) if banner is not None and banner.isVisible() else ""

    @property
    def running(self) -> bool:
        """Whether the open thread's run is under way."""
        return bool(self.models.chat.run_state.running)

    @property
    def composer(self) -> Any:
        return self.page.pane.foot.composer

    def say(self, text: str) -> None:
        composer = self.page.pane.foot.composer
        composer.text.setPlainText(text)
        composer.submit()

    async def until(self, true: Callable[[], Any], what: str, seconds: float = WAIT_S) -> None:
        await until(true, what, seconds=seconds, seen=self._shown)

    def _shown(self) -> str:
        return f"shown: {self.text[:2000]!r}, {self.notices!r}, {self.banner!r}, {self.calls[:20]}"

    async def until_true(self, true: Callable[[], Any], what: str, seconds: float = WAIT_S) -> None:
        """Also before there is a chat page."""
        await until(true, what, seconds=seconds)

    async def answered(self, text: str) -> None:
        await self.until(lambda: text in self.text and not self.models.chat.run_state.running, text)

    async def asked(self) -> Any:
        await self.until(lambda: self.models.approvals.requests, "a request")
        return self.models.approvals.requests[0]

    async def end(self) -> None:
        services = self.startup._services
        if services is not None:  # a child that is only just starting may take longer than its three seconds to end
            await self.until_true(lambda: services.child.health.state != "starting", "the model host")
        assert await shutdown.end(self.app, self.bridge, self.crashes) == ()
        self.window.close_for_good()
        self.window.deleteLater()
        self.home.release()
        await asyncio.sleep(0.05)


class Heartbeat(QObject):
    """How long the Qt thread was ever away, while it is entered: between two ticks of a 5 ms timer.

    ``longest`` is by the clock, so it grows when the machine does something else; ``longest_work`` is the processor
    time the Qt thread itself used in one go. Both are seconds. ``ticks`` counts its turns.
    """

    def __init__(self) -> None:
        super().__init__()
        self.longest = self.longest_work = 0.0
        self.ticks = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def __enter__(self) -> "Heartbeat":
        self._at, self._work = time.monotonic(), time.thread_time()
        self._timer.start(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._tick()
        self._timer.stop()

    def _tick(self) -> None:
        self.ticks += 1
        at, work = time.monotonic(), time.thread_time()
        self.longest = max(self.longest, at - self._at)
        self.longest_work = max(self.longest_work, work - self._work)
        self._at, self._work = at, work

    def says(self, what: str) -> str:
        """A line with the figures; printed, so that ``-s`` or a failure shows them."""
        line = f"{what}: longest block {self.longest * 1000:.0f} ms, {self.longest_work * 1000:.0f} ms of work"
        print(line)
        return line

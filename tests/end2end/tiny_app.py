"""A wiring with next to nothing in it, for tests of the start and the end. `HOME/scenario` names what goes on in it;
`HOME/trace` gets a line for everything that happens."""

import asyncio
import ctypes
import gc
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QTimer, qWarning
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QLabel, QMainWindow, QWidget

from desktop.app.home.folder import Home
from desktop.app.lifecycle.composition import App, Hooks
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.errors import StoreCorrupt
from desktop.files.own_files import OwnFiles
from desktop.presenter.events.bridge import Bridge
from desktop.ui.shell.first_paint import FirstPaint

SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


class Window(QMainWindow):
    """Closes as the real one does: it asks to quit."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("tiny")
        self.setCentralWidget(QLabel("tiny"))
        self.on_close: Callable[[], None] | None = None

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.on_close is not None:
            event.ignore()
            self.on_close()


class Tiny:
    """The services, all of them lies."""

    def __init__(self, home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> None:
        self.home, self.window, self.bridge, self.hooks = home, window, bridge, hooks
        self.child: asyncio.subprocess.Process | None = None
        self.scenario = scenario(home)
        self.ending = asyncio.Event()

    def trace(self, line: str) -> None:
        with open(self.home.path / "trace", "a") as file:
            file.write(line + "\n")

    async def start(self) -> None:
        assert not gc.isenabled(), "the thread of the window alone looks for garbage"
        self.hooks.crashes.reported.connect(lambda report: self.trace(f"reported {report.title}"))
        self.hooks.crashes.known.connect(lambda error: self.trace(f"known {error}"))
        self.bridge.failed.connect(lambda error: self.trace(f"failed {type(error).__name__}"))
        act = getattr(self, self.scenario.replace("-", "_"), None)
        if act is not None:
            await act()
        self.trace("started")

    async def join_world(self) -> None:
        if self.scenario == "joins-world":
            self.trace("joined")
        if self.scenario == "joins-at-the-end":
            self.trace("joining")
            await self.ending.wait()
            raise RuntimeError("what it wants to join is closed")

    # -- scenarios

    async def joins_world(self) -> None: ...

    async def joins_at_the_end(self) -> None: ...

    async def slot_bug(self) -> None:
        password = "hunter2-the-local-variable"
        QTimer.singleShot(0, lambda: int(f"not a number {SECRET}") and password)

    async def task_bug(self) -> None:
        async def work() -> None:
            raise KeyError(f"bearer {SECRET}")

        self.bridge.spawn(work(), name="work")

    async def thread_bug(self) -> None:
        threading.Thread(target=lambda: 1 // 0, name="adder").start()

    async def callback_bug(self) -> None:
        asyncio.get_running_loop().call_soon(int, "not a number")

    async def known_in_slot(self) -> None:
        def slot() -> None:
            raise StoreCorrupt("The database is damaged.")

        QTimer.singleShot(0, slot)

    async def many_bugs(self) -> None:
        def slot() -> None:
            raise ValueError("again and again")

        timer = QTimer(self.window)
        timer.timeout.connect(slot)
        timer.start(1)

    async def logs(self) -> None:
        qWarning("a warning of Qt")
        log = logging.getLogger("tiny")
        log.info("the key is api_key=%s", SECRET)
        log.info("first line\n2026-01-01 ERROR faked: second line")
        log.info("long %s end", "x" * 100_000)
        log.info("odd \ud800 surrogate")

    async def segfault(self) -> None:
        self.trace("started")
        ctypes.string_at(0)

    async def asking(self) -> None:
        async def ask() -> None:
            request = PermissionRequest(
                request_id="q",
                run_id="r",
                thread_id="t",
                call_id="c",
                tool="bash",
                description="",
                category=Category.WRITE,
                raised_because="",
                chain=(),
                arguments={},
                paths=(),
                judgements=(),
                preview={},
                digest="d",
                asked_at=0.0,
            )
            decision = await self.bridge.ask(request)
            self.trace(f"decided {decision.choice} {decision.by}")

        self.bridge.spawn(ask(), name="ask")

    async def slow_task(self) -> None:
        async def work() -> None:
            try:
                await asyncio.sleep(600)
            finally:
                self.trace("task cancelled")

        self.bridge.spawn(work(), name="work")

    async def hanging_thread(self) -> None:
        self.bridge.spawn(self.bridge.in_thread(time.sleep, 600), name="hang")

    async def children(self) -> None:
        self.child = await asyncio.create_subprocess_exec("sleep", "600")
        self.trace(f"child {self.child.pid}")

    async def quits_from_qt(self) -> None:
        self.window.window().windowHandle()
        QTimer.singleShot(0, lambda: QTimer.singleShot(0, _exit_qt))

    async def closes(self) -> None:
        QTimer.singleShot(0, self.window.close)

    async def closes_early(self) -> None: ...

    async def blocks_the_end(self) -> None: ...

    async def loses_its_files(self) -> None:
        file = self.home.path / "a file of the app"
        file.touch()
        self.hooks.crashes.excuse = OwnFiles(file).exchanged
        file.unlink()
        raise ModuleNotFoundError("No module named 'desktop.app.wiring.pages'")

    async def slow_start(self) -> None:
        self.trace("starting")
        await asyncio.sleep(600)

    # -- the end

    async def cancel_runs(self) -> None:
        self.trace("runs cancelled")
        self.ending.set()
        for _ in range(10):  # turns for whatever still goes on
            await asyncio.sleep(0)
        if self.scenario == "stubborn-runs":
            await asyncio.sleep(600)
        if self.scenario == "failing-end":
            raise ValueError("the end fails")

    async def end_children(self) -> None:
        if self.child is not None:
            self.child.kill()
            await self.child.wait()
        self.trace("children ended")

    async def flush(self) -> None:
        self.trace("flushed")


def _exit_qt() -> None:
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    QApplication.exit(0)


def scenario(home: Home) -> str:
    file = Path(home.path / "scenario")
    return file.read_text() if file.exists() else ""


def make_window(home: Home) -> QWidget:
    if scenario(home) == "window-fails":
        raise ValueError(f"no window {SECRET}")
    if scenario(home) == "window-refused":
        raise StoreCorrupt("The database is damaged.", next_step="Make a copy.")
    window = Window()
    if scenario(home) == "closes-early":
        FirstPaint.of(window).painted.connect(window.close)
    return window


def furnish(_window: QWidget) -> Iterator[None]:
    return iter(())


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    if scenario(home) == "build-fails":
        raise ValueError("no services")
    assert isinstance(window, Window)
    window.on_close = hooks.quit
    assert os.path.samefile(home.logs, home.path / "logs")
    tiny = Tiny(home, window, bridge, hooks)
    return App(
        start=tiny.start,
        join_world=tiny.join_world,
        quitting=lambda: tiny.trace("quitting"),
        cancel_runs=tiny.cancel_runs,
        end_children=tiny.end_children,
        flush=tiny.flush,
    )

"""The app's life after its first paint: the loop, the services, signals, and the orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from desktop import __version__
from desktop.app.door.host import Door, Rooms
from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import Home
from desktop.app.home.instance import InstanceServer
from desktop.app.home.logs import Logs
from desktop.app.lifecycle import shutdown
from desktop.app.lifecycle.application import Application
from desktop.app.lifecycle.composition import App, Hooks
from desktop.app.lifecycle.garbage import GarbageCollection, settle
from desktop.app.lifecycle.sent_events import sent_events_refused
from desktop.app.loop.event_loop import AssentEventLoop
from desktop.domain.errors import AssentError, BugError, KnownError
from desktop.presenter.events.bridge import Bridge
from desktop.systems import ending_signals
from desktop.ui.shell.tray import bring_to_front

AGAIN = 75
"""What ``run`` returns when the app is to be started again at once."""
ASKED_S = 60.0
"""Seconds for the end to come that a new start follows."""

ALONE_S = 0.3
"""Seconds after the pages stand before processes and servers are started: first things first."""

THREADS_LIMIT = 1.0
"""Seconds at the very end for threads of blocking calls (a keyring that hangs) before the process ends without them."""

logger = logging.getLogger(__name__)


class Measure:
    """Measures the app's memory once it is idle, for `--settle`."""

    def __init__(self, seconds: float, report: Callable[[], None]) -> None:
        self._seconds = seconds
        self._report = report

    async def take(self, starting: asyncio.Future[None], done: Callable[[], None]) -> None:
        """Wait for the start to be over and then ``seconds`` more; report; quit."""
        await asyncio.wait([starting])
        await asyncio.sleep(self._seconds)
        self._report()
        done()


class Session:
    """One run of the app. ``life`` is a task that the bridge owns; ``quit`` ends it."""

    def __init__(
        self,
        application: Application,
        loop: AssentEventLoop,
        home: Home,
        window: QWidget,
        crashes: CrashReporter,
        wiring: Any,
    ) -> None:
        self._application = application
        self._loop = loop
        self._home = home
        self._window = window
        self._crashes = crashes
        self._wiring = wiring
        self._wish = asyncio.Event()
        self._again, self._again_by = False, 0.0
        self.refused: KnownError | None = None
        """Why the start came to no end; to be said once all is let go of."""
        self.bridge = Bridge(loop=loop)
        self.bridge.failed.connect(self._failed)

    def quit(self) -> None:
        """Begin the orderly end. Once is enough; more is harmless."""
        self._again = self._again or time.monotonic() < self._again_by
        self._wish.set()

    def start_again(self) -> None:
        """The end, if it comes soon (the person may be asked about what is not saved), is followed by a new start."""
        self._again_by = time.monotonic() + ASKED_S

    def show(self) -> None:
        """Bring the window to the front."""
        bring_to_front(self._window)
        self._window.raise_()

    def _failed(self, error: AssentError) -> None:
        """Only what is our fault; what the world did is the window's to tell."""
        if isinstance(error, BugError):
            self._crashes.take(error.__cause__ or error, "a task")

    async def life(self, measure: Measure | None, link: str = "") -> int:
        """From the wiring to the end; returns the exit code."""
        ending_signals.hear(self._loop, self.quit)
        if not self._window.isVisible():  # closed while only its frame was there; from ``build`` on it asks first
            return 0
        app = App()

        async def post(to: str, text: str) -> None:
            await app.post(to, text)

        def rooms() -> Rooms | None:
            return app.rooms()

        def follow(wanted: str) -> None:
            if not wanted or not app.follow(wanted):
                self.show()

        door = Door(rooms, window=True)
        server = InstanceServer(self._home.socket, self.show, post, receive=door.receive, follow=follow)
        hooks = Hooks(self._crashes, self.quit, self.show, door, self.start_again)
        starting: asyncio.Future[None] | None = None
        try:
            app = self._wiring.build(self._home, self._window, self.bridge, hooks)
            if link:
                app.follow(link)
            self._application.follow_links(lambda opened: self._loop.call_soon(follow, opened))
            logger.info("Assent %s, process %d", __version__, os.getpid())
            starting = self.bridge.spawn(self._start(app), name="start")
            starting.add_done_callback(lambda _: settle())
            await server.start()
            if measure is not None:
                self.bridge.spawn(measure.take(starting, self.quit), name="measure")
            await self._wish.wait()
        finally:
            if starting is not None:
                starting.cancel()  # first: what it would join is closed next
            self._application.follow_links(None)
            await server.stop()
            await door.close("Assent was closed.")
            await shutdown.end(app, self.bridge, self._crashes)
        return AGAIN if self._again else 0

    async def _start(self, app: App) -> None:
        try:
            await app.start()
        except Exception:  # whatever fails in it: raised again, unless its files are gone
            self.refused = self._crashes.excuse()
            if self.refused is None:
                raise
            logger.exception("the start ends: its files are no longer those that it was begun from")
            self.quit()
            return
        await asyncio.sleep(ALONE_S)
        await app.join_world()


def run(
    application: Application,
    home: Home,
    window: QWidget,
    crashes: CrashReporter,
    wiring: Any,
    measure: Measure | None = None,
    link: str = "",
) -> int:
    """Live until someone quits; the exit code. Everything is written down and let go of when it returns. Raises
    KnownError where the start came to no end."""
    GarbageCollection(application)
    logs = Logs(home.logs, crashes.redacted, early=crashes.early.hand_over())
    loop = AssentEventLoop(application)
    loop.set_exception_handler(crashes.loop_handler)
    session = Session(application, loop, home, window, crashes, wiring)
    life = session.bridge.spawn(session.life(measure, link), name="life")
    try:
        with sent_events_refused(application):
            code = _until_over(loop, life, session)
        if session.refused is not None:
            raise session.refused
        return code
    finally:
        window.hide()
        ending_signals.ignore(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        logs.stop()


def _until_over(loop: AssentEventLoop, life: asyncio.Future[int], session: Session) -> int:
    """Qt can be told to quit by the system; then the orderly end still comes first."""
    while True:
        try:
            return loop.run_until_complete(life)
        except RuntimeError:
            if life.done():
                raise
            session.quit()


def end_threads(code: int) -> None:
    """Leave without threads that still hang in a blocking call; the interpreter would wait for them for good. With a
    screen reader, too: what Qt told it of widgets is taken down after Python is, and ends in a crash."""
    until = time.monotonic() + THREADS_LIMIT
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
    if QAccessible.isActive() or any(thread.is_alive() and not thread.daemon for thread in others):
        os._exit(code)

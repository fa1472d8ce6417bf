"""The one QApplication of a bench process, and the app's own loop on it."""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from PySide6.QtWidgets import QApplication

from desktop.app.lifecycle.garbage import settle
from desktop.app.loop.event_loop import AssentEventLoop
from desktop.ui.theme import Theme


@cache
def app() -> QApplication:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication(["bench"])
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)
    Theme.install(application, "light")
    return application


def settled() -> None:
    """As the app does at the end of its start: what is there by now is never looked through for garbage again."""
    gc.collect()
    settle()


def in_app_loop(work: Callable[[], Awaitable[Any]]) -> Any:
    """What ``work`` returns, run on a new loop of the app."""
    loop = AssentEventLoop(app())
    settled()
    try:
        return loop.run_until_complete(work())
    finally:
        loop.close()
        asyncio.set_event_loop(None)

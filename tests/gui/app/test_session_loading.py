"""The session is loaded while Qt goes on, before there is a loop of asyncio."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from desktop.app.lifecycle.start import Loading

ROOT = Path(__file__).resolve().parents[3]


def test_the_session_comes_while_timers_of_the_window_run(qapp: QApplication) -> None:
    go_on, ticks = threading.Event(), []
    timer = QTimer(interval=1)
    timer.timeout.connect(lambda: (ticks.append(1), len(ticks) == 3 and go_on.set()))
    timer.start()

    loaded = []

    def load() -> None:
        assert threading.current_thread() is not threading.main_thread()
        assert go_on.wait(30), "Qt stood still"
        loaded.append(threading.current_thread())

    Loading(load).wait()
    assert len(loaded) == 1
    timer.stop()


def test_what_goes_wrong_in_loading_is_raised_where_it_is_waited_for(qapp: QApplication) -> None:
    def load() -> None:
        raise ImportError("no such part")

    with pytest.raises(ImportError, match="no such part"):
        Loading(load).wait()


def test_a_thread_that_has_just_loaded_does_not_end_the_app() -> None:
    """It may still be telling so when who waited goes on: 1,500 times in a process of its own, for it would crash."""
    code = (
        "from desktop.app.main import load_qt; load_qt()\n"
        "from PySide6.QtWidgets import QApplication; from desktop.app.lifecycle.start import Loading\n"
        "application = QApplication(['loading'])\n"
        "for _ in range(1500):\n"
        "    Loading(lambda: None).wait()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0

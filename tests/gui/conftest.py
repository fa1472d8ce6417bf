"""The theme, for every Qt test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtWidgets import QApplication

from desktop.ui.theme import Theme
from tests.harness.timeouts import WAIT_MS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen plugin warns about each window with a smallest size; that is no fault of ours."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.qt_log_ignore("propagateSizeHints"))


def pytest_sessionfinish() -> None:
    """Formulas are drawn in threads of Qt: one that is at work while the interpreter ends may crash the process."""
    pool = QThreadPool.globalInstance()
    pool.clear()
    pool.waitForDone(WAIT_MS)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The app's theme: light, 100 %, full motion; as it was afterwards."""
    made = Theme.install(qapp, "light", 1.0)
    made.set_motion("full")
    yield made
    made.set_choice("light")
    made.set_scale(1.0)
    made.set_motion("system")

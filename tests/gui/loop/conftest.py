"""A loop of its own for tests that start, stop and close it."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from desktop.app.loop.event_loop import AssentEventLoop


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[AssentEventLoop]:
    made = AssentEventLoop(qapp)
    yield made
    made.run_until_complete(made.shutdown_default_executor())
    made.close()

"""A change of text size: 1,200 widgets twelve deep, and a thread of 10,000 messages. CPU time of the Qt thread."""

import statistics
import time

from PySide6.QtWidgets import QFrame, QWidget

from desktop.ui.theme import Theme
from desktop.ui.widgets.text import Text
from tests.bench.application import app
from tests.bench.bench_transcript import thread, view
from tests.bench.registry import Figure, bench

SCALES = (1.1, 1.2, 1.3, 1.4, 1.0)


def _redressed() -> Figure:
    theme, took = Theme.install(app(), "light"), []
    for scale in SCALES:
        started = time.thread_time()
        theme.set_scale(scale)
        app().processEvents()
        took.append((time.thread_time() - started) * 1000)
    return Figure(statistics.median(took), None, f"the worst of {len(took)}: {max(took):.0f} ms")


@bench("another text size: 1,200 widgets twelve deep", target="<= 150", unit="ms")
def widgets() -> Figure:
    app()
    top = QWidget()
    for _ in range(100):
        inner: QWidget = top
        for _ in range(11):
            inner = QFrame(inner)
            inner.setProperty("pane", "card")
        Text("words", parent=inner)
    top.show()
    app().processEvents()
    try:
        return _redressed()
    finally:
        top.close()
        top.deleteLater()


@bench("another text size: a thread of 10,000 messages", target="<= 40", unit="ms")
def messages() -> Figure:
    shown = view()
    shown.set_items(thread())
    app().processEvents()
    try:
        return _redressed()
    finally:
        shown.close()
        shown.deleteLater()

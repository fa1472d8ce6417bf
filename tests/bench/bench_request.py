"""From a model's call to its request on screen, in the whole app: judged, asked, told over the bridge, painted."""

import asyncio
import json
import os
import statistics
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from desktop.app.door.host import Door
from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import open_home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import Hooks
from desktop.app.loop.event_loop import AssentEventLoop
from desktop.domain.runs.events import ToolCallStarted
from desktop.presenter.events.bridge import Bridge
from tests.bench.registry import Figure, bench
from tests.gui.app.kit import Running, call

CALLS = 18
"""Fewer than the rounds of an answer."""
COMMAND = "cd src && git status && python -m build --out dist/ && cp dist/*.whl /tmp/agent/ && echo done; " * 5


class Paints(QObject):
    """When a widget was painted last."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.at = time.perf_counter()
        return False


async def _started(folder: Path, rounds: list[Any]) -> Running:
    script = folder / "script.json"
    script.write_text(json.dumps({"rounds": rounds}))
    os.environ["ASSENT_SCRIPT"] = str(script)
    held = open_home(folder / "home")
    (held.path / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    window = wiring.make_window(held)
    window.resize(1280, 800)
    window.show()
    for _ in wiring.furnish(window):
        pass
    bridge, crashes, quits = Bridge(), CrashReporter(held.logs), list[bool]()
    hooks = Hooks(crashes, lambda: quits.append(True), window.show, Door(lambda: None, window=True))
    made = wiring.build(held, window, bridge, hooks)
    running = Running(held, bridge, window, made, crashes, quits)
    bridge.spawn(running.start(joined=True), name="start")
    await running.opened()
    return running


async def _times(kind: str) -> list[float]:
    """Milliseconds from each call to the first picture of its request."""
    steps = {
        "write": [call("write_file", path=f"notes/{n}.md", content=f"# Note {n}\n" * 200) for n in range(CALLS)],
        "bash": [call("bash", command=COMMAND) for _ in range(CALLS)],
    }[kind]
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as name:
        app = await _started(Path(name), [*steps, [{"text": "Done."}]])
        began: list[float] = []

        def note(event: object) -> None:
            if isinstance(event, ToolCallStarted):
                began.append(time.perf_counter())

        app.startup._services.bus.listen(note)
        box = app.startup._pages._dialog.made()
        paints, found, last = Paints(box.view), list[float](), ""
        app.say("go")
        while len(found) < CALLS:
            request = box.view.request
            if request is None or request.request_id == last or paints.at < began[-1]:
                await asyncio.sleep(0.001)
                continue
            last = request.request_id
            found.append((paints.at - began[-1]) * 1000)
            await asyncio.sleep(0.02)
            app.models.approvals.answer(last, "deny", digest=request.digest)
        await app.answered("Done.")
        await app.end()
    return found[1:]


@cache
def _loop() -> AssentEventLoop:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)
    return AssentEventLoop(application)


def _figure(kind: str) -> Figure:
    times = sorted(_loop().run_until_complete(_times(kind)))
    worst = times[round(0.95 * (len(times) - 1))]
    return Figure(statistics.median(times), note=f"median of {len(times)}; 95 % within {worst:.0f} ms")


@bench("the request of a write is on screen after its call", target="<= 50", unit="ms")
def request_of_a_write() -> Figure:
    """With the difference to the file as it is."""
    return _figure("write")


@bench("the request of a shell command is on screen after its call", target="<= 50", unit="ms")
def request_of_a_command() -> Figure:
    """Twenty-five commands, each judged."""
    return _figure("bash")

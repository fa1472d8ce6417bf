"""The loop against stock qasync, each in a process of its own and in turns, on the offscreen platform."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from tests.bench.registry import Figure, bench

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5

CHILD = """
import asyncio, json, sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
what, kind = sys.argv[1:]
application = QApplication(["bench"])
application.setQuitOnLastWindowClosed(False)
if kind == "ours":
    from desktop.app.loop.event_loop import AssentEventLoop as Loop
elif kind == "qasync":
    from qasync import QEventLoop as Loop
else:
    Loop = lambda _: asyncio.new_event_loop()

async def zeros(count):
    started = time.perf_counter()
    for _ in range(count):
        await asyncio.sleep(0)
    return (time.perf_counter() - started) / count * 1e6

async def sleep_zero():
    await zeros(2000)
    return await zeros(20000)

class Painted(QWidget):
    def __init__(self):
        super().__init__()
        self.times = []
    def paintEvent(self, event):
        self.times.append(time.perf_counter())
        QTimer.singleShot(0, self.update)

async def paint_gap():
    window = Painted()
    window.show()
    await asyncio.sleep(0.2)
    done, left = asyncio.Event(), 10000
    def work():
        nonlocal left
        left -= 1
        if not left:
            done.set()
    loop = asyncio.get_running_loop()
    window.times = [time.perf_counter()]
    for _ in range(left):
        loop.call_soon(work)
    await done.wait()
    await asyncio.sleep(0.05)
    times = window.times
    return max(b - a for a, b in zip(times, times[1:])) * 1000

async def cancelled():
    handles = [asyncio.get_running_loop().call_later(100 + n, print) for n in range(50000)]
    for handle in handles:
        handle.cancel()
    return await zeros(2000)

async def half():
    late = []
    for _ in range(4):
        started = time.perf_counter()
        await asyncio.sleep(0.5)
        late.append(time.perf_counter() - started)
    return max((abs(took - 0.5) for took in late)) * 1000

async def main():
    return await {"zero": sleep_zero, "gap": paint_gap, "cancelled": cancelled, "half": half}[what]()

loop = Loop(application)
asyncio.set_event_loop(loop)
print(json.dumps(loop.run_until_complete(main())), flush=True)
import os
os._exit(0)
"""


def _measure(what: str, kind: str) -> float:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, what, kind],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return float(json.loads(done.stdout))


def _against_qasync(what: str, rounds: int = ROUNDS) -> tuple[float, float]:
    pairs = [(_measure(what, "ours"), _measure(what, "qasync")) for _ in range(rounds)]
    return statistics.median(ours for ours, _ in pairs), statistics.median(stock for _, stock in pairs)


@bench("loop: sleep(0)", target="<= 10 and <= 0.5x", unit="us")
def sleep_zero() -> Figure:
    ours, stock = _against_qasync("zero")
    plain = _measure("zero", "asyncio")
    return Figure(ours, stock, f"reference: stock qasync; plain asyncio {plain:.1f} us")


@bench("loop: longest gap between paints while 10,000 callbacks run", target="<= 16", unit="ms", by="gap")
def paint_gap() -> Figure:
    ours, stock = _against_qasync("gap")
    return Figure(ours, stock, "reference: stock qasync; a window that repaints without pause")


@bench("loop: sleep(0) after 50,000 cancelled timers", target="<= 10 and <= 0.5x", unit="us")
def after_cancelled_timers() -> Figure:
    ours, stock = _against_qasync("cancelled")
    return Figure(ours, stock, "reference: stock qasync")


@bench("loop: worst error of sleep(0.5)", target="<= 5", unit="ms", by="gap")
def half_a_second() -> Figure:
    ours, stock = _against_qasync("half", 3)
    return Figure(ours, stock, "reference: stock qasync; of four sleeps")

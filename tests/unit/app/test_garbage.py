"""When garbage is looked for after the first paint, and by whom. In a process of its own: it is about all of one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
HEAD = """
import gc, json, threading
from PySide6.QtCore import QCoreApplication, QTimer
from desktop.app.lifecycle.garbage import GarbageCollection, settle
class Ring:
    def __init__(self): self.me = self
    def __del__(self): seen.append(threading.current_thread() is threading.main_thread())
seen = []
application = QCoreApplication([])
GarbageCollection(application)
def full(): return gc.get_stats()[2]["collections"]
"""


def _told(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", HEAD + code], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_what_a_thread_leaves_is_collected_by_the_thread_of_the_window_alone() -> None:
    code = """
def work():
    for _ in range(20_000): Ring()
    made.append(len(seen))
made = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
QTimer.singleShot(0, lambda: QTimer.singleShot(0, application.quit))
application.exec()
print(json.dumps([made, len(seen), all(seen)]))
"""
    in_thread, collected, by_window = _told(code)
    assert (in_thread, by_window) == ([0], True)
    assert collected >= 19_000


def test_what_a_long_thread_makes_is_not_looked_through_again_and_again() -> None:
    code = """
kept, before, young = [], full(), gc.get_stats()[0]["collections"]
def more():
    kept.extend([number] for number in range(1_000))
    if len(kept) >= 300_000: application.quit()
timer = QTimer()
timer.timeout.connect(more)
timer.start(0)
application.exec()
print(json.dumps([full() - before, gc.get_stats()[0]["collections"] - young]))
"""
    looked_through, looked_at_the_new = _told(code)
    assert looked_through == 0
    assert looked_at_the_new > 20


def test_what_the_start_made_is_set_aside() -> None:
    assert _told("settle(); print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 1000]))") == [False, True]

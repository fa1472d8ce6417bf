"""Rings of objects that another thread left are taken apart by the window's thread, and soon."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RINGS = """
import gc, json, threading
from PySide6.QtCore import QCoreApplication, QTimer
from desktop.app.lifecycle.garbage import GarbageCollection
class Ring:
    def __init__(self): self.me = self
    def __del__(self): seen.append(threading.current_thread() is threading.main_thread())
def work():
    for _ in range(20_000): Ring()
    made.append(len(seen))
application, seen, made = QCoreApplication([]), [], []
GarbageCollection(application)
thread = threading.Thread(target=work)
thread.start()
thread.join()
QTimer.singleShot(0, lambda: QTimer.singleShot(0, application.quit))
application.exec()
print(json.dumps([made, len(seen), all(seen)]))
"""


def test_what_a_thread_leaves_is_collected_by_the_thread_of_the_window_alone() -> None:
    done = subprocess.run([sys.executable, "-c", RINGS], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (in_thread,), collected, by_window = json.loads(done.stdout)
    assert (in_thread, by_window) == (0, True)
    assert collected >= 19_000

"""The reference for starts and memory: a QMainWindow with nothing in it, reporting its first paint as the app does."""

import json
import os
import sys
import time
from pathlib import Path

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow


def since_process_start_ms() -> float:
    """Milliseconds this process has lived, as the kernel counts (10 ms steps). Linux only; 0 elsewhere."""
    if not sys.platform.startswith("linux"):
        return 0.0
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return (time.clock_gettime(time.CLOCK_BOOTTIME) - started) * 1000


class Window(QMainWindow):
    """Prints one line at its first paint, and stays."""

    reported = False

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.reported:
            self.reported = True
            print(json.dumps({"first_paint_ms": since_process_start_ms()}), flush=True)


if __name__ == "__main__":
    application = QApplication(sys.argv)
    window = Window()
    window.resize(1280, 800)
    window.show()
    sys.exit(application.exec())

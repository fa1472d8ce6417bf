"""The reference for starts and memory: a QMainWindow with nothing in it, reporting its first paint as the app does."""

import json
import sys
import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow


class Window(QMainWindow):
    """Prints one line after its first paint, and stays."""

    reported = False

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.reported:
            self.reported = True
            QTimer.singleShot(0, self.report)  # the paint itself is over then, and on the screen

    def report(self) -> None:
        print(json.dumps({"painted_ns": time.monotonic_ns()}), flush=True)


if __name__ == "__main__":
    application = QApplication(sys.argv)
    window = Window()
    window.resize(1280, 800)
    window.show()
    sys.exit(application.exec())

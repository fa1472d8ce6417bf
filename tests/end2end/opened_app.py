"""The app as macOS starts it: what is opened comes as an event of Qt. Each line of the standard input is opened so, the
first as early as can be, before there is a window."""

import sys
import threading
import time

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent

from desktop.app.main import main


def opens() -> None:
    while QCoreApplication.instance() is None:
        time.sleep(0.001)
    for line in sys.stdin:
        QCoreApplication.postEvent(QCoreApplication.instance(), QFileOpenEvent(QUrl(line.rstrip("\n"))))


if __name__ == "__main__":
    threading.Thread(target=opens, daemon=True).start()
    sys.exit(main(sys.argv[1:]))

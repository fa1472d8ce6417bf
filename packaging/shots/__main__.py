"""``dev.py shots DIR [NAME…]`` starts this once for light and once for dark: ``python -m shots light DIR [NAME…]``."""

from __future__ import annotations

import importlib
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

MOMENT = datetime(2026, 11, 20, 14, 2, 30).timestamp()
"""At which all pictures are taken."""


def main(mode: str, folder: str, *parts: str) -> int:
    """Takes the pictures and says how many they are. A picture of the same page is the same in each run: there is no
    motion, no blinking and no clock. The clock stands before the pages are loaded, for some keep it."""
    time.time = lambda: MOMENT
    widgets: Any = importlib.import_module("PySide6.QtWidgets")
    pages: Any = importlib.import_module("shots.pages")
    application = widgets.QApplication(["assent-shots"])
    application.setQuitOnLastWindowClosed(False)
    application.setCursorFlashTime(0)
    theme = pages.Theme.install(application, mode)
    theme.set_motion("less")
    print(pages.take(theme, Path(folder), parts))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

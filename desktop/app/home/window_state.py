"""What the window needs before its first paint, kept in one small file so that nothing else has to be opened for it.

Theme, text size, geometry, page, and whether a model was ever chosen: all of it can be lost without loss.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from desktop.files.private import write_whole

LIMIT = 100_000


class WindowState:
    """The window's state in ``data/window.json``. Reading and writing take well under a millisecond; unreadable
    contents count as none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.values: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            if path.stat().st_size <= LIMIT:
                found = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(found, dict):
                    self.values = found

    def text(self, key: str, default: str) -> str:
        """A text, or the default."""
        value = self.values.get(key)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: float) -> float:
        """A number, or the default."""
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default

    def put(self, key: str, value: Any) -> None:
        """Store a value; written at once, whole or not at all. When the disk refuses, only the stored value is lost."""
        if self.values.get(key) == value:
            return
        self.values[key] = value
        with contextlib.suppress(OSError):
            write_whole(self._path, json.dumps(self.values).encode(), lasting=False)

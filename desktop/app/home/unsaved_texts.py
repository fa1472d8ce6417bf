"""What was typed into an editor and not saved, kept for the next start: a file each in ``data/unsaved``."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from desktop.domain.text.json_text import read_json
from desktop.files.private import make_folder, write_whole
from desktop.presenter.common.unsaved import UnsavedText

FOLDER = "unsaved"
MAXIMUM = 2_000_000
"""Characters of a text that are kept; no skill and no agent is so long."""
MOST = 100
"""Texts that are kept; of more the oldest go."""


class UnsavedTextFiles:
    """``mask`` takes known secrets out of a text: the file that it was typed for would hold them, this one does not."""

    def __init__(self, data: Path, mask: Callable[[str], str]) -> None:
        self._folder, self._mask = data / FOLDER, mask

    def read(self, path: str) -> UnsavedText | None:
        """What is kept of a file; None for what cannot be such a text."""
        place = self._place(path)
        try:
            if place.stat().st_size > MAXIMUM * 8:
                return None
            found = read_json(place.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(found, dict) or found.get("path") != path:
            return None
        text, stamp = found.get("text"), found.get("stamp")
        return UnsavedText(path, text, stamp) if isinstance(text, str) and isinstance(stamp, str) else None

    def keep(self, one: UnsavedText) -> None:
        """Keep it; one that is too long is not kept."""
        place, text = self._place(one.path), self._mask(one.text)
        if len(text) > MAXIMUM:
            self.drop(one.path)
            return
        plain = json.dumps({"path": one.path, "text": text, "stamp": one.stamp})
        with contextlib.suppress(OSError):
            if not place.exists():
                make_folder(self._folder)
                self._make_room()
            write_whole(place, plain.encode(), lasting=False)

    def drop(self, path: str) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):
            self._place(path).unlink(missing_ok=True)

    def _place(self, path: str) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"

    def _make_room(self) -> None:
        found = sorted(self._folder.glob("*.json"), key=lambda place: place.stat().st_mtime)
        for place in found[: max(0, len(found) - MOST + 1)]:
            place.unlink(missing_ok=True)

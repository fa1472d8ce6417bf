"""Server-sent events, out of an answer's lines."""

from __future__ import annotations

import codecs


class EventReader:
    """Puts the data of events together. Whole lines go in, however they are cut into pieces."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._after_return = False
        self._begun = False

    def feed(self, lines: bytes) -> list[bytes]:
        """The data of those events that are complete now."""
        if self._after_return and lines.startswith(b"\n"):
            lines = lines[1:]  # the other half of a line's end
        if not lines:
            return []
        if not self._begun:
            self._begun, lines = True, lines.removeprefix(codecs.BOM_UTF8)
        self._after_return = lines.endswith(b"\r")
        found: list[bytes] = []
        for line in lines.splitlines():
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        return found

    def rest(self) -> list[bytes]:
        """The event after which the answer ended without a blank line."""
        found, self._data = self._data, []
        return [b"\n".join(found)] if found else []

"""A file while it is edited: its line ends, of which an editor knows one kind (R-SK-11), and its changes. No Qt."""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.sequences import in_common

_ENDS = re.compile("\r\n|\r|\n|\u2029")


@dataclass(frozen=True, slots=True)
class Conflict:
    """The file is not what it was when it was opened. ``theirs`` None: it is gone."""

    path: str
    mine: str
    theirs: str | None


class LineEnds:
    """A text as it is in the file. ``shown`` is what an editor gets; ``restore`` takes back what came of it: lines
    that did not change keep their ends byte for byte, new ones get the file's usual end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = _ENDS.findall(text)
        self._plain = set(self._ends) <= {"\n"}
        self.shown = text if self._plain else _ENDS.sub("\n", text)
        self._usual = max(("\n", "\r\n", "\r", "\u2029"), key=self._ends.count)

    def restore(self, edited: str) -> str:
        """The edited text with line ends as in the file."""
        if self._plain:
            return edited
        if edited == self.shown:
            return self.text
        old, new = self.shown.split("\n"), edited.split("\n")
        head = in_common(old, new)
        tail = min(in_common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
        out = []
        for at, line in enumerate(new[:-1]):
            if at < min(head, len(self._ends)):
                end = self._ends[at]
            elif at >= len(new) - tail:
                end = self._ends[at - len(new) + len(old)]
            else:
                end = self._usual
            out.append(line + end)
        return "".join(out) + new[-1]

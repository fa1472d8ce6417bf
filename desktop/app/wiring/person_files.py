"""Single files that a person edits with any program, such as tools.yaml: what is changed in them counts at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from desktop.skills.catalogue.watch import FolderWatch

Look = Callable[[], object]
"""Looks at the file, and takes over what is different; called in the watching thread."""


class PersonFiles:
    """Watches them from ``start`` until ``close``."""

    def __init__(self, looks: Mapping[Path, Look]) -> None:
        self._looks = {str(path): look for path, look in looks.items()}
        self._watch = FolderWatch((), self._changed, files=self._looks)

    def start(self) -> None:
        """Returns at once."""
        self._watch.start()

    @property
    def live(self) -> bool:
        """Whether changes are reported by now."""
        return self._watch.live

    def close(self) -> None:
        """Blocks for a moment."""
        self._watch.stop()

    def _changed(self, paths: frozenset[str] | None) -> None:
        for path, look in self._looks.items():
            if paths is None or path in paths:
                look()

"""Folders opened for this session only: gone when Assent ends, never written down.

What they open is admin for every call: it asks each time and is never remembered (R-TOOL-4). A denied entry still wins.
"""

from __future__ import annotations

import os
import threading

from desktop.domain.errors import ConfigurationError

MAXIMUM = 20


class SessionGrants:
    """``folders`` in the order in which they were opened. Safe to read from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """What is open now; the next call sees it (R-FS-12)."""
        return self._folders

    def open(self, folder: str) -> str:
        """Open a folder that is there; as it is kept. Blocks. Raises ConfigurationError for anything else."""
        path = os.path.normpath(os.path.expanduser(folder.strip()))
        if not os.path.isabs(path):
            raise ConfigurationError("Write the folder's full path, beginning with / or ~.")
        if "\0" in path or not os.path.isdir(path):
            raise ConfigurationError(f"There is no folder {path[:200]!r}.")
        if os.path.realpath(path) == os.path.realpath(os.sep):
            raise ConfigurationError(
                "The whole computer cannot be opened.", next_step="Open the folder that is needed."
            )
        with self._lock:
            if path not in self._folders:
                if len(self._folders) >= MAXIMUM:
                    raise ConfigurationError(
                        f"At most {MAXIMUM} folders are open at once.", next_step="Close one first."
                    )
                self._folders = (*self._folders, path)
        return path

    def close(self, folder: str) -> None:
        """Close a folder that was opened, from the next call on."""
        with self._lock:
            self._folders = tuple(one for one in self._folders if one != folder)

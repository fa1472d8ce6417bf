"""A YAML file of the app's home that only the person changes: read with a stamp, written all or nothing (Q-17).

Every method blocks: use a thread.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.files.private import make_folder, mode_of, write_whole
from desktop.systems import open_flags

ABSENT = "absent"
"""The stamp of a file that does not exist."""


class CannotSaveTools(KnownError):
    """The file cannot be read or written as asked."""

    code = "tools_file"


class ToolsFileConflict(CannotSaveTools):
    """Somebody else changed the file; ``theirs`` is its text now, None when it is gone."""

    code = "tools_file.conflict"

    def __init__(self, theirs: str | None, name: str = "tools.yaml") -> None:
        super().__init__(
            f"{name} was changed by another program meanwhile.", next_step="Compare both, then save over it or reload."
        )
        self.theirs = theirs


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """The text on the disk and its stamp, which a save has to know."""

    text: str
    stamp: str


class PersonFile:
    """A text file that a person edits, too. ``max_bytes``: a longer one is not read."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path = path
        self._max_bytes = max_bytes

    def read(self) -> ToolsFile:
        """The file's text; an absent one is empty. Raises CannotSaveTools when it cannot be read."""
        raw = self._bytes()
        if raw is None:
            return ToolsFile("", ABSENT)
        try:
            return ToolsFile(raw.decode("utf-8-sig"), _stamp(raw))
        except UnicodeDecodeError as error:
            raise CannotSaveTools(f"{self.path.name} is not UTF-8 text.", next_step="Convert the file.") from error

    def _bytes(self) -> bytes | None:
        name = self.path.name
        try:
            handle = os.open(self.path, os.O_RDONLY | open_flags.NONBLOCK)  # a pipe must not hold us
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise CannotSaveTools(f"{name} is no file.", next_step="Move what is there to another place.")
                raw = file.read(self._max_bytes + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotSaveTools(f"{name} cannot be read: {error.strerror or error}.") from error
        if len(raw) > self._max_bytes:
            raise CannotSaveTools(f"{name} is larger than {self._max_bytes // 1000} KB.")
        return raw

    def write(self, text: str, stamp: str, *, over: bool) -> ToolsFile:
        """Write the whole file; ``stamp`` is what was read, ``over`` writes over other changes. Raises
        ToolsFileConflict, or CannotSaveTools for a disk that says no."""
        raw = text.encode("utf-8")
        theirs = self._bytes()
        now = ABSENT if theirs is None else _stamp(theirs)
        if now != stamp and not over:
            raise ToolsFileConflict(None if theirs is None else theirs.decode("utf-8", "replace"), self.path.name)
        try:
            make_folder(os.path.dirname(os.path.realpath(self.path)))
            write_whole(self.path, raw, mode=mode_of(self.path))
        except OSError as error:
            raise CannotSaveTools(f"{self.path.name} cannot be written: {error.strerror or error}.") from error
        return ToolsFile(text, _stamp(raw))

    def looks(self) -> str:
        """What a change of the file changes, without reading it; ctime, for programs set the other times back."""
        try:
            found = self.path.stat()
        except OSError as error:
            return type(error).__name__
        return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def _stamp(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()

"""What an import may bring, and what its files may be called. The whole import is refused where a name is hostile."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Protocol

from desktop.domain.errors import KnownError
from desktop.domain.text.hidden_characters import HIDDEN
from desktop.domain.text.words import size_words
from desktop.files.private import FILE, FOLDER, make_folder
from desktop.systems.windows_names import is_device

ENDINGS = (".zip", ".skill", ".tar", ".tar.gz", ".tgz")
"""Archives that are offered to choose. What an archive is, its bytes say."""
MAX_ARCHIVE = 50_000_000
MAX_FILES = 5_000
MAX_ENTRIES = 20_000
"""Entries looked at, with what is left out."""
MAX_FILE = 20_000_000
MAX_TOTAL = 200_000_000
MAX_DEPTH = 16
MAX_NAME = 255
MAX_PATH = 1_000
FREE_SPACE = 500_000_000
"""Bytes that stay free on the disk."""

LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", "__MACOSX", ".venv", ".DS_Store", "Thumbs.db"}
)
"""What programs put beside a skill. It is not part of any."""
_NOT_IN_NAMES = frozenset('\\:*?"<>|\t\n')


class ImportRefused(KnownError):
    """An import was refused; nothing of it was kept."""

    code = "skill.import_refused"


class Chunks(Protocol):
    """An open file of an archive or of a folder."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at its end."""
        ...


def relative_parts(name: str) -> tuple[str, ...]:
    """The parts of a path inside an import, "./" left out. Raises ImportRefused for one that leads elsewhere, or that a
    person could not read as it is."""
    said = ascii(name[:120])
    if name.startswith("/") or any(mark in name for mark in _NOT_IN_NAMES) or HIDDEN.search(name):
        raise ImportRefused(f"It holds a file that is called {said}, which is no plain name inside it.")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise ImportRefused(f"It holds a file that would lie outside of it: {said}.")
    for part in parts:
        if part != part.strip() or part.endswith(".") or is_device(part):
            raise ImportRefused(f"It holds a file that is called {said}, which not every system can keep.")
    if len(name.encode("utf-8", "surrogatepass")) > MAX_PATH or any(len(os.fsencode(p)) > MAX_NAME for p in parts):
        raise ImportRefused(f"It holds a name that is too long: {said}.")
    if len(parts) > MAX_DEPTH:
        raise ImportRefused(f"Its folders are deeper than {MAX_DEPTH}: {said}.")
    return parts


class Stop(Protocol):
    """What says that a person has cancelled, such as a ``threading.Event``."""

    def is_set(self) -> bool: ...


class StagedFiles:
    """Writes what comes out of an import below ``folder``, ``most`` files, and stops at the limits. Blocks; ``stop``
    ends it."""

    def __init__(self, folder: Path, stop: Stop, most: int = MAX_FILES) -> None:
        self.folder = folder
        self.links = 0
        self._stop = stop
        self._most = most
        self._entries = 0
        self._files = 0
        self._bytes = 0
        self._taken: dict[str, str] = {}
        self._room = shutil.disk_usage(folder).free - FREE_SPACE

    def go_on(self) -> None:
        """Raises ImportRefused when the person has cancelled."""
        if self._stop.is_set():
            raise ImportRefused("The import was cancelled.")

    def wanted(self, name: str) -> tuple[str, ...]:
        """The parts of an entry's name; none for one that is left out. Counts it."""
        self._entries += 1
        self.go_on()
        if self._entries > MAX_ENTRIES:
            raise ImportRefused(
                f"It holds more than {MAX_ENTRIES:,} files.", next_step="Choose the folder of one skill."
            )
        parts = relative_parts(name)
        return () if LEFT_OUT.intersection(parts) or (parts and parts[-1].startswith("._")) else parts

    def write(self, parts: tuple[str, ...], source: Chunks, *, runnable: bool = False) -> None:
        """Write one file. Raises ImportRefused at a limit, or where a file of this name came before."""
        self._files += 1
        if self._files > self._most:
            raise ImportRefused(
                f"It holds more than {self._most:,} files.", next_step="Choose the folder of one skill."
            )
        self._once(parts)
        path = self.folder.joinpath(*parts)
        make_folder(path.parent)
        with open(path, "xb") as file:
            size = 0
            while chunk := source.read(65_536):
                size += len(chunk)
                self._count(len(chunk), size, "/".join(parts))
                file.write(chunk)
        path.chmod(FOLDER if runnable else FILE)

    def _once(self, parts: tuple[str, ...]) -> None:
        """Two names that a person, or another system, takes for one would show one file and keep another."""
        name = "/".join(parts)
        folders = {"/".join(parts[:at]).casefold() for at in range(1, len(parts))}
        if name.casefold() in self._taken or any(self._taken.get(folder) == "file" for folder in folders):
            raise ImportRefused(f"It holds two files that are called {name!a}.")
        self._taken |= dict.fromkeys(folders, "folder")
        self._taken[name.casefold()] = "file"

    def _count(self, fresh: int, size: int, name: str) -> None:
        self._bytes += fresh
        self.go_on()
        if size > MAX_FILE:
            raise ImportRefused(f"{name} is larger than {size_words(MAX_FILE)}.")
        if self._bytes > MAX_TOTAL:
            raise ImportRefused(f"It unpacks to more than {size_words(MAX_TOTAL)}.")
        if self._bytes > self._room:
            raise ImportRefused("There is not enough room on the disk for it.")

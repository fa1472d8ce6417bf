"""Writing an export to the place that a person chose in a file dialog."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop.domain.errors import ExportFailed
from desktop.files import private
from desktop.systems.windows_names import harmless


def write_whole(path: str, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; a file that is there keeps its rights. Runs in a thread. Raises
    ExportFailed when the place refuses."""
    target = Path(path)
    try:
        private.write_whole(target, data, mode=_rights(target))
    except OSError as error:
        raise ExportFailed(target.name, error) from error


def _rights(target: Path) -> int:
    """Of a file that is there; a new one is for the person alone."""
    try:
        return stat.S_IMODE(target.stat().st_mode) & 0o777
    except OSError:
        return private.FILE


def write_bytes(path: str, make: Callable[[], bytes]) -> None:
    """Write the bytes that ``make`` returns, as ``write_whole`` does."""
    write_whole(path, make())


def file_name(title: str) -> str:
    """A title as a file name: letters, digits, dashes; never a path, nor a device of Windows."""
    kept = "".join(c if c.isalnum() or c in " -_" else " " for c in title)
    return harmless("-".join(kept.split())[:80] or "thread")


def zip_of(texts: Sequence[tuple[str, bytes]]) -> bytes:
    """An archive of Markdown files, each called by its title, numbered where two have the same; runs in a thread."""
    made, taken = io.BytesIO(), set[str]()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for title, data in texts:
            name = base = file_name(title)
            number = 1
            while name.casefold() in taken:
                number += 1
                name = f"{base} {number}"
            taken.add(name.casefold())
            archive.writestr(f"{name}.md", data)
    return made.getvalue()

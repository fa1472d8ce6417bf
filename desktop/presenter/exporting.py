"""Writing an export to the place that a person chose in a file dialog."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from desktop.domain.errors import KnownError


def write_whole(path: str, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; runs in a thread. Raises KnownError when the place refuses."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".assent-")
    except OSError as error:
        raise _refused(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise _refused(target, error) from error


def _refused(target: Path, error: OSError) -> KnownError:
    return KnownError(
        f"“{target.name}” could not be written: {error.strerror}.",
        next_step="Choose another place.",
        code="export.failed",
    )

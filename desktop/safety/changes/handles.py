"""Folders held open, so that what is done to a name in one is done in the very folder that was looked at (R-FS-9)."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from types import TracebackType

from desktop.safety.boundary import paths
from desktop.safety.boundary.opening import HAS_DIR_FD, PathWalker
from desktop.systems import open_flags, places

_FOLDER = os.O_RDONLY | open_flags.DIRECTORY | open_flags.CLOEXEC
MAX_OPEN = 64


class OpenFolders:
    """The folders that a change goes through, each opened without following a link; the last 64 stay open. Blocks."""

    def __init__(self, walker: PathWalker) -> None:
        self._walker = walker
        self._open: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> OpenFolders:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.forget(os.sep)

    def at(self, path: str) -> tuple[str, int | None]:
        """The name and the ``dir_fd`` by which the system's calls reach a path. Raises OSError: ENOENT, ENOTDIR, ELOOP
        where a folder on the way is missing, a file or a link."""
        folder, name = os.path.split(path)
        if not HAS_DIR_FD:
            return path, None
        return name, self.folder(folder)

    def folder(self, path: str) -> int:
        """The descriptor of a folder; it belongs to this object. Raises OSError."""
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        descriptor = self._walker.open(os.sep, path, _FOLDER)
        real = places.kernel_path(descriptor)
        if real is not None and real != path:
            os.close(descriptor)
            raise FileNotFoundError(2, "moved while it was opened", path)
        self._open[path] = descriptor
        if len(self._open) > MAX_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return descriptor

    def forget(self, path: str) -> None:
        """Close what is at or below a path: something else may be there from now on."""
        for one in [one for one in self._open if paths.is_within(one, path)]:
            os.close(self._open.pop(one))

    def sync(self, folder: str) -> None:
        """Have the names in a folder on the disk, where its file system can do that."""
        with contextlib.suppress(OSError):
            if HAS_DIR_FD:
                os.fsync(self.folder(folder))

"""What the tests of changes share: contents in memory, trees written and read, and a change set between two trees."""

import hashlib
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.safety.changes.states import state_of

Tree = dict[str, str | bytes | tuple[str] | None]
"""By relative path: a file's content, None for a folder, a tuple for where a link leads."""


class KeptContents:
    """Contents by their digest."""

    def __init__(self, *found: bytes) -> None:
        self._found = {digest(one): one for one in found}

    def open(self, digest: str) -> BinaryIO:
        if digest not in self._found:
            raise ToolFailure("It is not kept.")
        return io.BytesIO(self._found[digest])


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_state(content: bytes, mode: int = 0o644) -> FileState:
    return FileState("file", mode, len(content), digest(content))


def state(value: str | bytes | tuple[str] | None) -> FileState:
    if value is None:
        return FileState("folder", 0o755)
    if isinstance(value, tuple):
        return FileState("link", target=value[0])
    return file_state(value.encode() if isinstance(value, str) else value)


def build(root: Path, tree: Tree) -> None:
    for name, value in sorted(tree.items()):
        path = root / name
        if value is None:
            path.mkdir()
            path.chmod(0o755)
        elif isinstance(value, tuple):
            path.symlink_to(value[0])
        else:
            path.write_bytes(value.encode() if isinstance(value, str) else value)
            path.chmod(0o644)


def tree_of(root: Path) -> dict[str, FileState]:
    """All that lies below a folder, however it is called."""
    found = {}
    for here, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(here, name)
            seen = state_of(path)
            assert seen is not None
            found[os.path.relpath(path, root)] = seen
    return found


def between(root: Path, old: Tree, new: Tree) -> list[FileChange]:
    """The changes that make one tree of another."""
    return [
        FileChange(
            str(root / name), state(old[name]) if name in old else ABSENT, state(new[name]) if name in new else ABSENT
        )
        for name in {**old, **new}
        if name not in old or name not in new or state(old[name]) != state(new[name])
    ]


def contents_of(*trees: Tree) -> KeptContents:
    found = [value for tree in trees for value in tree.values() if isinstance(value, str | bytes)]
    return KeptContents(*(one.encode() if isinstance(one, str) else one for one in found))


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)

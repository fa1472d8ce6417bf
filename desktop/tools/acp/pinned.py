"""What of an agent is pinned: its program, the script of an interpreter, and the files of the package they belong to.

The program and the script are pinned by their content. A package has thousands of files, which are pinned by name, size
and the times that the system keeps of them: whoever changes one of them, or puts an old one back, changes such a time
(ctime), which no program can set.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator

from desktop.domain.loading.lazy_dataclass import dataclass

MAX_FILES = 40_000
"""Files of a package that are looked at; of a larger one only the folder of the program itself."""
_NPM, _PYTHON = "node_modules", "site-packages"
_MADE_WHILE_RUNNING = ("__pycache__", ".cache")


@dataclass(frozen=True, slots=True)
class Pinned:
    """The files of a package: how many, and what stands for them."""

    files: int = 0
    digest: str = ""


def package_of(programs: Iterable[str]) -> Pinned:
    """The packages that these programs are part of, as they are now. Blocks. Raises OSError."""
    roots = dict.fromkeys(root for real in programs for root in _roots(real))
    found, count = hashlib.sha256(), 0
    for root in roots:
        rows = list(_bounded(root)) or list(_bounded(root, nested=False))
        count += len(rows)
        found.update(json.dumps([root, rows]).encode("utf-8", "surrogatepass"))
    return Pinned(count, found.hexdigest() if count else "")


def state_of(path: str) -> tuple[int, ...]:
    """What is another number once a file or folder was changed, replaced or moved; () where there is none."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _roots(real: str) -> Iterator[str]:
    """The folders of what was installed with a program: of npm the packages beside it, or its own package where that
    has its own below it; of Python the packages of its environment."""
    folder = os.path.dirname(real)
    parts = folder.split(os.sep)
    if _NPM in parts:
        yield _of_npm(parts)
    elif _PYTHON in parts:
        yield os.sep.join(parts[: parts.index(_PYTHON) + 1])
    elif os.path.isfile(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
        lib = os.path.join(os.path.dirname(folder), "lib")
        found = (os.path.join(lib, version, _PYTHON) for version in sorted(os.listdir(lib)))
        yield from (place for place in found if os.path.isdir(place))


def _of_npm(parts: list[str]) -> str:
    at = parts.index(_NPM)
    size = 2 if parts[at + 1 : at + 2] and parts[at + 1].startswith("@") else 1
    package = os.sep.join(parts[: at + 1 + size])
    installed_for_all = parts[at - 1 : at] == ["lib"]
    alone = installed_for_all or os.path.isdir(os.path.join(package, _NPM))
    return package if alone and len(parts) > at + size else os.sep.join(parts[: at + 1])


def _bounded(root: str, *, nested: bool = True) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each file below a folder, in order; none where there are more than are looked at. Not ``nested``: those of the
    folder itself alone."""
    rows: list[tuple[str, tuple[int, ...]]] = []
    waiting = [root]
    start = len(os.path.join(root, ""))
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.is_dir(follow_symlinks=False):
                    if nested and entry.name not in _MADE_WHILE_RUNNING:
                        waiting.append(entry.path)
                    continue
                rows.append((entry.path[start:], state_of(entry.path)))
        if len(rows) > MAX_FILES:
            return
    yield from rows

"""What a change is about to do, on the disk before it does it, so that a later process can take it back.

One file a change, line by line: where things are laid ready; the steps; ``go``, after which real files change;
``done``, after which nothing is taken back. A last line that is not whole was never written.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from desktop.domain.files.changes import FileState, StateKind
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.files import private
from desktop.safety.changes.plan import Act

FORMAT = 1
ENDING = ".changes"


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """One thing that is done to a name, with all that taking it back needs."""

    act: Act
    """What is done."""
    path: str
    """The name."""
    place: int
    """Which of the journal's folders holds what is laid ready, and what was taken away."""
    before: FileState
    """What was there."""
    after: FileState
    """What is there then."""
    old: tuple[int, int]
    """Device and inode of what was there; zeros where nothing was."""
    ours: tuple[int, int]
    """Of what is laid ready; zeros where nothing is."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a journal says."""

    places: tuple[str, ...]
    """The folders in which things are laid ready."""
    steps: tuple[ChangeStep, ...]
    """The steps, in their order."""
    went: bool
    """Whether real files may have been changed."""
    done: bool
    """Whether all of them were."""


class JournalFile:
    """The journal of one change. Every method blocks, and raises OSError."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, f"{os.urandom(8).hex()}{ENDING}")

    def begin(self, places: Sequence[str]) -> None:
        """Write where things will be laid ready."""
        private.make_folder(os.path.dirname(self.path))
        private.write_new(self.path, _line({"format": FORMAT, "places": list(places)}))
        _sync_folder(os.path.dirname(self.path))

    def go(self, steps: Iterable[ChangeStep]) -> None:
        """Write the steps; from here on real files change."""
        self._add([*(_line(_plain(step)) for step in steps), _line("go")])

    def done(self) -> None:
        """Write that all is as it shall be."""
        self._add([_line("done")])

    def remove(self) -> None:
        """Nothing has to be looked after any more. One that cannot be removed does no harm."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def _add(self, lines: Sequence[bytes]) -> None:
        with open(self.path, "ab") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())


def journals_in(folder: str) -> list[str]:
    """The journals that were left behind. Blocks."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(os.path.join(folder, name) for name in names if name.endswith(ENDING))


def read_journal(path: str) -> Written:
    """What a journal says. Blocks. Raises OSError, and ValueError for a file that is none."""
    with open(path, "rb") as file:
        lines = [_parsed(line) for line in file if line.endswith(b"\n")]
    if not lines or not isinstance(lines[0], dict) or lines[0].get("format") != FORMAT:
        raise ValueError(f"{path} is no journal of changes that this version knows")
    steps = tuple(_step(line) for line in lines[1:] if isinstance(line, list))
    return Written(tuple(lines[0]["places"]), steps, "go" in lines, "done" in lines)


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    return json.loads(line)


def _plain(step: ChangeStep) -> list[Any]:
    return [step.act, step.path, step.place, _state(step.before), _state(step.after), *step.old, *step.ours]


def _state(state: FileState) -> list[Any]:
    return [state.kind, state.mode, state.size, state.digest, state.target]


def _step(line: list[Any]) -> ChangeStep:
    act, path, place, before, after, old_device, old_inode, device, inode = line
    return ChangeStep(act, path, place, _state_of(before), _state_of(after), (old_device, old_inode), (device, inode))


def _state_of(found: list[Any]) -> FileState:
    kind: StateKind = found[0]
    return FileState(kind, found[1], found[2], found[3], found[4])


def _sync_folder(path: str) -> None:
    with contextlib.suppress(OSError):  # Windows opens no folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""What a start does with changes that an earlier process was in the middle of.

======================  =======================================================================================
the journal says        the start
======================  =======================================================================================
where things are laid   removes what was laid ready: no real file was changed
steps and ``go``        takes each step back that was done, from the last
``done``                removes what was taken away: all was changed
======================  =======================================================================================

What somebody changed between the end of that process and this start stays as they made it.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.journal import Written, journals_in, read_journal
from desktop.safety.changes.laying import clear_place
from desktop.safety.changes.steps import Steps

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a start found and did."""

    taken_back: int = 0
    """How many changes were in the middle and are not made now."""
    kept: tuple[str, ...] = ()
    """Where something is now whose place somebody else has taken meanwhile."""
    waiting: tuple[str, ...] = ()
    """Places that cannot be reached or written now; the next start tries again."""


def take_back_all(folder: str, walker: PathWalker) -> Recovered:
    """Deal with all journals of a folder. Blocks."""
    taken_back, kept, waiting = 0, list[str](), list[str]()
    for path in journals_in(folder):
        try:
            written = read_journal(path)
        except (OSError, ValueError, TypeError, KeyError) as error:
            _log.warning("a journal of changes cannot be read and is left where it is: %s", error)
            continue
        with OpenFolders(walker) as folders:
            left, found = _settle(folders, written)
        kept += found
        waiting += left
        taken_back += written.went and not written.done
        if not left:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    if kept or waiting:
        _log.warning("changes were taken back; kept beside their places: %s; still to do: %s", kept, waiting)
    return Recovered(taken_back, tuple(kept), tuple(waiting))


def _settle(folders: OpenFolders, written: Written) -> tuple[list[str], list[str]]:
    """(what is still to be done, what was kept beside its place)."""
    left, kept = list[str](), list[str]()
    if written.went and not written.done:
        steps = Steps(folders, written.places)
        left, kept = steps.take_back(written.steps), steps.kept
    if not left:
        left = tidy(folders, written.places)
    return left, kept


def tidy(folders: OpenFolders, places: Sequence[str]) -> list[str]:
    """Remove the folders of what was laid ready; those that the disk did not let go."""
    left = []
    for place in places:
        try:
            clear_place(folders, place)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                left.append(place)
    return left

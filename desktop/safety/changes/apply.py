"""All the changes of a set or none, also when the process ends in the middle.

Everything new is laid ready in folders beside the places, the journal says what will be done, and then each thing gets
its place by a rename. What had the place comes out by the same step and is looked at: is it not what was expected,
everything is taken back, and nothing that somebody wrote meanwhile is lost. Until ``done`` stands in the journal, the
next start takes everything back; from then on it only tidies up. So a call of which nobody has a result has changed
nothing.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import ChangeConflict, Contents, FileChange
from desktop.domain.files.work_place import WorkPlace
from desktop.safety.boundary.opening import PathWalker, failure_of
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.changes.checking import Checking
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.journal import ChangeStep, JournalFile
from desktop.safety.changes.laying import Laying
from desktop.safety.changes.plan import apart, planned
from desktop.safety.changes.renames import Renames
from desktop.safety.changes.steps import Mismatch, Steps
from desktop.safety.changes.taking_back import Recovered, take_back_all, tidy

MANY = 64
"""Of more files than that the disk is told once to write them all, instead of one by one."""


class JournaledApplier:
    """Implements ``domain.file_changes.ChangeApplier``. ``folder`` holds the journals; one process a folder."""

    def __init__(
        self, policy: BoundaryPolicy, folder: str, walker: PathWalker | None = None, renames: Renames | None = None
    ) -> None:
        self._policy = policy
        self._folder = folder
        self._walker = walker or PathWalker()
        self._renames = renames or Renames()
        self._one = threading.Lock()

    def within(self, place: WorkPlace) -> JournaledApplier:
        """The same with the boundary of a place; one change at a time all the same."""
        made = JournaledApplier(self._policy.within(place), self._folder, self._walker, self._renames)
        made._one = self._one
        return made

    def recover(self) -> Recovered:
        """Take back what an earlier process had not finished, and tidy up what it had; before anything is applied.
        Blocks; never raises for what the disk says."""
        return take_back_all(self._folder, self._walker)

    def apply(self, changes: Sequence[FileChange], contents: Contents) -> tuple[ChangeConflict, ...]:
        """Make the changes, or say why none was made. Blocks."""
        with self._one, OpenFolders(self._walker) as folders:
            plan = planned(changes)
            checking = Checking(self._policy, folders, changes)
            if conflicts := checking.conflicts():
                return tuple(conflicts)
            if not plan:
                return ()
            plan = apart(plan, {path for path, seen in checking.seen.items() if seen.has_more_names})
            journal = JournalFile(self._folder)
            laying = Laying(folders, checking, contents, many=len(plan) > MANY)
            try:
                places = laying.places_for(plan)
                with _journaling():
                    journal.begin(places)
                steps = laying.lay(plan)
                with _journaling():
                    journal.go(steps)
            except BaseException:
                laying.clear()
                journal.remove()
                raise
            return self._made(folders, journal, laying.places, steps)

    def _made(
        self, folders: OpenFolders, journal: JournalFile, places: Sequence[str], steps: Sequence[ChangeStep]
    ) -> tuple[ChangeConflict, ...]:
        """The steps are in the journal: do them all, or take all back."""
        work = Steps(folders, places, self._renames)
        try:
            for number, step in enumerate(steps):
                work.do(number, step)
            work.sync(steps)
            with _journaling():
                journal.done()
        except Mismatch as error:
            self._take_back(folders, work, journal, steps)
            return (error.conflict,)
        except OSError as error:
            self._take_back(folders, work, journal, steps)
            raise failure_of(os.fsdecode(error.filename or "A file"), error) from error
        except BaseException:
            self._take_back(folders, work, journal, steps)
            raise
        if not tidy(folders, places):
            journal.remove()
        return ()

    @staticmethod
    def _take_back(folders: OpenFolders, work: Steps, journal: JournalFile, steps: Sequence[ChangeStep]) -> None:
        """Undo what was done. Raises ToolFailure where the disk does not allow that now: the journal stays."""
        if left := work.take_back(steps):
            raise ToolFailure(
                f"A change could be made only in part, and not be taken back: {', '.join(left[:5])}.",
                code="changes.half",
                next_step="Assent tries again at its next start.",
            )
        if not tidy(folders, work.places):
            journal.remove()


@contextlib.contextmanager
def _journaling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise ToolFailure(
            f"Nothing was changed: what is about to be done could not be written down first ({why}).",
            code="changes.no_journal",
        ) from error

"""The changes of the open thread, and what a person does with them: the view-model of the Changes panel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.files.changes import KeptChange
from desktop.domain.files.undo import ThreadChanges, UndoPreview, of_agent, of_run, since
from desktop.presenter.changes.rows import ChangeRow, FileRow, call_rows, file_rows
from desktop.presenter.changes.words import kept_words, path_in, preview_words, undone_words, when, who

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.changes.service import ChangesService, UndoPlan

LOOKED_AT = 200
TELL_AFTER = 150
"""Milliseconds in which several changes are read once."""


class ChangesViewModel(QObject):
    """``changed``: other rows; ``previewed``: an undo is to be shown; ``told`` a sentence, and what takes it back;
    ``conflict_found`` what would stay if a change were undone, once that is known."""

    changed = Signal()
    previewed = Signal(object)
    told = Signal(str, str)
    conflict_found = Signal(str, str)

    def __init__(self, service: ChangesService, bridge: Bridge, titles: Mapping[str, str]) -> None:
        super().__init__()
        self._service, self._bridge, self._titles = service, bridge, titles
        self._watching = False
        self._stale = True
        self._plan: UndoPlan | None = None
        self._last_told = ""
        self.thread_id = ""
        self.changes: ThreadChanges | None = None
        self.files: list[FileRow] = []
        self._calls: list[ChangeRow] = []
        self._unfolded: set[str] = set()
        self._later = QTimer(self, singleShot=True, interval=TELL_AFTER)
        self._later.timeout.connect(self._read)
        service.on_done(self._made)

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of agents by their names."""
        return self._titles

    # -- what is shown ------------------------------------------------------------------------------------------------

    def open_thread(self, thread_id: str) -> None:
        """Show the changes of another thread."""
        if thread_id != self.thread_id:
            self.thread_id = thread_id
            self.changes, self.files, self._calls = None, [], []
            self._unfolded.clear()
            self._stale = True
            self.changed.emit()
            self._read_if_watched()

    def watch(self, watching: bool) -> None:
        """Whether somebody looks."""
        self._watching = watching
        self._stale = True  # files may have changed by hand meanwhile
        self._read_if_watched()

    def _made(self, record: KeptChange) -> None:
        top = record.origin.above[0] if record.origin.above else record.origin.thread_id
        if top != self.thread_id:
            return
        self._stale = True
        self._read_if_watched()
        if record.origin.asked and not record.undoes:
            self._tell_written(record)

    def _tell_written(self, record: KeptChange) -> None:
        """After a person allowed a write: what was written, and the way back."""
        files = [one.change.path for one in record.files if one.change.after.kind == "file"]
        if not files or all(one.not_kept for one in record.files):
            return
        name = os.path.basename(files[0])
        words = f"{name} written." if len(files) == 1 else f"{len(files)} files written."
        self.told.emit(words, record.change_id)

    def _read_if_watched(self) -> None:
        if self._watching and self._stale and not self._later.isActive():
            self._later.start()

    def _read(self) -> None:
        thread_id = self.thread_id
        self._stale = False
        if not thread_id:
            return

        async def work() -> None:
            found = await self._service.overview(thread_id)
            titles = dict(self._titles)
            files, calls = await self._bridge.in_thread(lambda: (file_rows(found, titles), call_rows(found, titles)))
            if thread_id == self.thread_id:
                self.changes, self.files, self._calls = found, files, calls
                self.changed.emit()

        self._bridge.spawn(work(), name="read the changes of a thread", on_error=self._failed)

    @property
    def calls(self) -> list[ChangeRow]:
        """The calls, and below a row that stands for several and is unfolded each of them."""
        return [one for row in self._calls for one in (row, *(row.inner if self.is_unfolded(row) else ()))]

    def is_unfolded(self, row: ChangeRow) -> bool:
        """Whether each of its calls has a row."""
        return row.key in self._unfolded

    def unfold(self, row: ChangeRow, unfolded: bool) -> None:
        """Show or hide each of the calls that a row stands for."""
        if row.inner and unfolded != self.is_unfolded(row):
            (self._unfolded.add if unfolded else self._unfolded.discard)(row.key)
            self.changed.emit()

    @property
    def count(self) -> int:
        """How many files were changed."""
        return sum(len(row.paths) for row in self.files)

    @property
    def head(self) -> str:
        """Against what the files are shown."""
        if self.changes is None or not self.changes.records:
            return ""
        return f"Against the beginning of the thread, {when(self.changes.records[0].at)}"

    @property
    def sums(self) -> tuple[int, int]:
        """Lines that came and went in all."""
        return sum(row.added for row in self.files), sum(row.removed for row in self.files)

    @property
    def foot(self) -> str:
        """How long and how much is kept."""
        found = self.changes
        return kept_words(found.days, found.size, found.most) if found is not None else ""

    @property
    def _records(self) -> Sequence[KeptChange]:
        return self.changes.records if self.changes is not None else ()

    def record(self, change_id: str) -> KeptChange | None:
        """A change of this thread."""
        return next((one for one in self._records if one.change_id == change_id), None)

    def agent_of(self, change_id: str) -> str:
        """The title of the agent that was called in this thread and changed something; "" for the thread's own."""
        record = self.record(change_id)
        if record is None or record.undoes or record.origin.thread_id == self.thread_id or not record.origin.chain:
            return ""
        return self._titles.get(record.origin.chain[0], record.origin.chain[0])

    # -- undoing ------------------------------------------------------------------------------------------------------

    def look_at(self, row: ChangeRow) -> None:
        """Find out what would stay if this were undone now; of very many files when it is asked for."""
        records = [record for one in row.change_ids if (record := self.record(one)) is not None]
        if not records or sum(len(record.files) for record in records) > LOOKED_AT:
            return

        async def work() -> None:
            plan = await self._service.plan(row.change_ids)
            self.conflict_found.emit(row.key, preview_words(plan.preview, self._titles))

        self._bridge.spawn(work(), name="look at an undo", on_error=_not_shown)

    def undo_calls(self, change_ids: Sequence[str]) -> None:
        """Show what undoing calls, or one undo, would do."""
        self._preview(change_ids)

    def undo_card(self, call: str) -> None:
        """Show what undoing the call of this card would do; ``call`` is its name in the run's log."""
        thread_id = self.thread_id

        async def work() -> None:
            records = await self._service.of_thread(thread_id)
            found = [one.change_id for one in records if one.origin.call == call and not one.undoes]
            if not found:
                self.told.emit("That call changed no files that are still kept.", "")
                return
            if self.changes is None:  # its words and names come from the records of the thread
                self.changes = await self._service.overview(thread_id)
            self._preview(found)

        self._bridge.spawn(work(), name="find what a call changed", on_error=self._failed)

    def undo_agent(self, change_id: str) -> None:
        """The same for all that the agent of this change did, with those that worked for it."""
        record = self.record(change_id)
        if record is not None:
            self._preview(of_agent(self._records, record.origin.thread_id))

    def undo_run(self, change_id: str) -> None:
        """For all that the run of this change did."""
        record = self.record(change_id)
        if record is not None:
            self._preview(of_run(self._records, record.origin.run_id))

    def undo_since(self, change_id: str) -> None:
        """For all that calls did in this thread from this change on."""
        record = self.record(change_id)
        if record is not None:
            self._preview(since(self._records, record.number))

    def undo_with(self, change_ids: Sequence[str]) -> None:
        """Show an undo anew, together with the later changes that stand on it."""
        shown = self._plan.preview.change_ids if self._plan is not None else ()
        self._preview(list(dict.fromkeys([*shown, *change_ids])))

    def _preview(self, change_ids: Sequence[str]) -> None:
        if not change_ids:
            self.told.emit("There is nothing left to undo there.", "")
            return

        async def work() -> None:
            self._plan = await self._service.plan(change_ids)
            self.previewed.emit(self._plan.preview)

        self._bridge.spawn(work(), name="show an undo", on_error=self._failed)

    def confirm(self) -> None:
        """Do what is shown."""
        plan, self._plan = self._plan, None
        if plan is None:
            return

        async def work() -> None:
            conflicts, change_id = await self._service.undo(plan)
            if conflicts:
                self.told.emit("Something changed while you looked, so nothing was undone. Look again.", "")
                self._preview(plan.preview.change_ids)
                return
            self.told.emit(undone_words(plan.preview, plan.origin.project), change_id)

        self._bridge.spawn(work(), name="undo", on_error=self._failed)

    def words_of(self, preview: UndoPreview) -> str:
        """What stays, as a sentence."""
        return preview_words(preview, self._titles)

    def title_of(self, preview: UndoPreview) -> str:
        """What is undone."""
        record = self.record(preview.change_ids[0]) if len(preview.change_ids) == 1 else None
        if len(preview.change_ids) > 1:
            return f"Undo {len(preview.change_ids)} changes?"
        if record is None:
            return "Undo this change?"
        return "Undo the undo?" if record.undoes else f"Undo {who(record.origin.chain, self._titles)}?"

    def name_of(self, path: str) -> str:
        """A path as it is shown."""
        return path_in(path, self._records[-1].origin.project if self._records else "")

    def _failed(self, error: AssentError) -> None:
        self.told.emit(error.advice if isinstance(error, KnownError) else str(error), "")


def _not_shown(_error: AssentError) -> None:
    """What could not be found out beforehand is said when it is asked for."""

"""Commands in copies of the folders that they may write: what they did is shown, and becomes real by an answer.

Both kinds of command come here, those of ``bash`` and those of tools.yaml. A command that a person or a rule allowed
beforehand runs in a copy, too, and is taken over at once: so it is all or nothing, and can be undone.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import RealFilesChanged, ToolAborted, ToolFailure
from desktop.domain.files.changes import MOST_KEPT, TOO_MANY, ChangeRecorder, FileChange
from desktop.domain.files.outcomes import CommandCopies, CommandCopy, CommandTraces, NoCopy, OutcomeReading
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Confinement, ProcessOutcome, ProcessRunner, ProcessSpec, SettingsProvider
from desktop.domain.tools import GraverThanAllowed, PreCheck, ToolCallContext
from desktop.tools.builtin.process_result import ended_early
from desktop.tools.builtin.tried_hosts import tried_hosts

BEYOND = "It changed more files than can be looked at one by one, so none of it was taken over."
GRAVER = "It did more than was allowed beforehand, so none of it was taken over"
NAMED = 5
_PATHS = 200
_ASKED = 200
"""Real files that changed meanwhile of which it is looked up whose call that was."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One command as it would run."""

    plain: ProcessSpec
    """The process, not confined yet."""
    cache: str
    """Whose cache it gets."""
    summary: str
    """What it is, for the list of what was changed."""
    network: bool = False
    """Whether it has the network."""
    opened: tuple[str, ...] = ()
    """Denied paths that it reads."""
    hosts: tuple[str, ...] = ()
    """The computers that it names."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended in its copy."""

    copy: CommandCopy
    """The copy, which whoever has this drops."""
    outcome: ProcessOutcome
    """How it ended."""
    reading: OutcomeReading
    """What it did."""
    fleeting: tuple[str, ...]
    """Folders of its own that are gone with it."""
    traces: CommandTraces = CommandTraces()
    """What it left running, and which hosts it asked for."""


class CommandsInCopies:
    """What runs commands in copies; one for all tools."""

    def __init__(
        self,
        copies: CommandCopies,
        confinement: Confinement,
        runner: ProcessRunner,
        recorder: ChangeRecorder,
        settings: SettingsProvider,
    ) -> None:
        self._copies = copies
        self._confinement = confinement
        self._runner = runner
        self._recorder = recorder
        self._settings = settings

    def offered(self, check: PreCheck, place: WorkPlace) -> PreCheck:
        """Whether the call can be made in a copy first; else its request says why it comes before. Blocks."""
        if check.category is not Category.WRITE or self._settings().commands_first != "show":
            return check
        if check.preview.get("network") is True:
            why = "It has the network, and what it does there is real."
        else:
            why = self._copies.refusal(place)
        if why:
            return replace(check, preview={**check.preview, "no_copy": why})
        return replace(check, rehearsable=True)

    async def rehearsed(self, run: CommandRun, check: PreCheck, context: ToolCallContext) -> CommandRehearsal | None:
        """Run it in a copy; None where that is not possible after all."""
        ran = await self._run(run, context, shown=True)
        if ran is None:
            return None
        rehearsal = await asyncio.to_thread(CommandRehearsal, run, check, ran, self._recorder)
        await rehearsal.ask_whose()
        return rehearsal

    async def run(self, run: CommandRun, context: ToolCallContext) -> Ran | None:
        """Run one that was allowed beforehand, and take over what it did; None where that is not possible, and nothing
        ran. Its copy is gone. Raises ToolFailure where nothing was taken over, and GraverThanAllowed with the copy
        where that is admin, which nobody allowed."""
        ran = await self._run(run, context, shown=False)
        if ran is None:
            return None
        if ran.reading.raised and not context.as_admin:
            raise GraverThanAllowed(f"{GRAVER} ({ran.reading.raised}).", partial(_shown, run, ran, self._recorder))
        try:
            await self._take_over(run, ran.copy, ran.reading, ran.reading.changes, context)
        finally:
            await asyncio.shield(asyncio.to_thread(ran.copy.drop))
        return ran

    async def take_over(
        self, rehearsal: CommandRehearsal, taken: Sequence[str] | None, context: ToolCallContext
    ) -> tuple[int, int]:
        """Make real what a person chose of it: how many changes, of how many. Raises RealFilesChanged."""
        reading = rehearsal.reading
        chosen = chosen_of(reading, taken)
        await self._take_over(rehearsal.run, rehearsal.copy, replace(reading, meanwhile=frozenset()), chosen, context)
        return len(chosen), len(reading.changes)

    async def _run(self, run: CommandRun, context: ToolCallContext, *, shown: bool) -> Ran | None:
        place, grants = context.meta.work_place, context.meta.unattended is None
        cache = run.cache if shown else ""  # what is not agreed to yet puts nothing into a cache that lasts
        try:
            copy = await asyncio.to_thread(self._copies.make, place, grants=grants, cache=cache)
        except NoCopy:
            return None
        try:
            wrapped = await asyncio.to_thread(
                self._confinement.within(place).wrap,
                run.plain,
                network=run.network,
                grants=grants,
                cache=run.cache,
                opened=run.opened,
                copy=copy,
            )
            outcome = await run_to_its_end(self._runner, wrapped, context)
            if outcome.ended == "aborted" and context.meta.cancellation.cancelled:
                raise ToolAborted("Operation aborted")
            if outcome.ended == "aborted" and shown:  # whoever wanted it does not want it any more: nobody is asked
                raise ToolFailure(ended_early(outcome).text, code="tool.ended")
            began = await asyncio.to_thread(copy.began)
            look = partial(copy.read, shown=shown)
            reading = await asyncio.to_thread(look) if began else OutcomeReading()
            traces = await asyncio.to_thread(copy.traces)
            if outcome.ended != "exited":  # what was still there was ended with it, and not left by it
                traces = replace(traces, left=None)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(copy.drop))
            raise
        if began:
            return Ran(copy, outcome, reading, wrapped.fleeting, traces)
        await asyncio.to_thread(copy.drop)
        return None

    async def _take_over(
        self,
        run: CommandRun,
        copy: CommandCopy,
        reading: OutcomeReading,
        chosen: Sequence[FileChange],
        context: ToolCallContext,
    ) -> None:
        if reading.beyond:
            raise ToolFailure(BEYOND, code="tool.too_much")
        if reading.meanwhile:
            raise RealFilesChanged(_changed(sorted(reading.meanwhile)))
        if not chosen:
            return
        resume = context.pause()  # what was begun is made to its end, however long that takes
        try:
            conflicts = await self._recorder.commit(chosen, copy, context, run.summary)
        finally:
            resume()
        if conflicts:
            raise RealFilesChanged(_changed([conflict.path for conflict in conflicts]))


class CommandRehearsal:
    """Implements ``domain.tools.Rehearsal``."""

    def __init__(self, run: CommandRun, before: PreCheck, ran: Ran, recorder: ChangeRecorder) -> None:
        self.run = run
        self.copy = ran.copy
        self.outcome = ran.outcome
        self.reading = ran.reading
        self.fleeting = ran.fleeting
        self.traces = ran.traces
        self._before = before
        self._recorder = recorder
        self._left_by: dict[str, str] = {}
        self._check = self._judged()

    @property
    def check(self) -> PreCheck:
        """The call, judged by what it did."""
        return self._check

    async def look_again(self) -> PreCheck:
        """The same check, if the real files are as they were."""
        again = await asyncio.to_thread(self.copy.look_again, self.reading)
        if again is not self.reading:
            self.reading = again
            self._check = await asyncio.to_thread(self._judged)
            await self.ask_whose()
        return self._check

    async def ask_whose(self) -> None:
        """Find out whose calls changed real files meanwhile; nobody's, where a person or another program did."""
        meanwhile = [change for change in self.reading.changes if change.path in self.reading.meanwhile]
        if meanwhile:
            left = await self._recorder.who_left({change.path: change.before for change in meanwhile[:_ASKED]})
            self._left_by = {path: chain[0] if chain else "" for path, chain in left.items()}
            self._check = replace(self._check, preview={**self._check.preview, "left_by": self._left_by})

    async def drop(self) -> None:
        """Remove the copy."""
        await asyncio.shield(asyncio.to_thread(self.copy.drop))

    def _judged(self) -> PreCheck:
        before, reading = self._before, self.reading
        raised = reading.raised or before.raised_because
        return replace(
            before,
            category=Category.ADMIN if reading.raised else before.category,
            raised_because=raised,
            paths=tuple(change.path for change in reading.changes[:_PATHS]),
            preview={**before.preview, **self._preview()},
            identity={},
            rehearsable=False,
            undoable=True,
            not_undoable=TOO_MANY if len(reading.changes) > MOST_KEPT else "",
        )

    def _preview(self) -> Mapping[str, Any]:
        outcome, reading, traces = self.outcome, self.reading, self.traces
        tried: Sequence[str] = () if self.run.network else traces.hosts or ()
        if traces.hosts is None and not self.run.network:
            tried = tried_hosts(outcome.output, self.run.hosts)
        return {
            "kind": "outcome",
            "outcome": _digest(outcome, reading, traces),
            "network": self.run.network,
            "network_offered": False,
            "copy": self.copy,
            "reading": reading,
            "copied": self.copy.kind,
            "made_at": self.copy.made_at,
            "exit_code": outcome.exit_code,
            "ended": outcome.ended,
            "elapsed_s": outcome.elapsed_s,
            "output": outcome.output,
            "tried": list(tried),
            "tried_more": traces.more,
            "heard": traces.hosts is not None,
            "left": traces.left,
            "left_by": self._left_by,
        }


async def _shown(run: CommandRun, ran: Ran, recorder: ChangeRecorder, check: PreCheck) -> CommandRehearsal:
    """What a command that was allowed beforehand did, as a person is shown it."""
    try:
        reading = await asyncio.to_thread(ran.copy.read)
        return await asyncio.to_thread(CommandRehearsal, run, check, replace(ran, reading=reading), recorder)
    except BaseException:
        await asyncio.shield(asyncio.to_thread(ran.copy.drop))
        raise


async def run_to_its_end(runner: ProcessRunner, spec: ProcessSpec, context: ToolCallContext) -> ProcessOutcome:
    """Run a process until it ends, or its run is cancelled, or whoever asked for it ends it."""
    token, ends = context.meta.cancellation, context.ends
    if ends is None:
        return await runner.run(spec, token, context.progress)
    inner = token.child()
    detach = ends.on_cancel(inner.cancel)
    try:
        return await runner.run(spec, inner, context.progress)
    finally:
        detach()
        inner.detach()


def chosen_of(reading: OutcomeReading, taken: Collection[str] | None) -> tuple[FileChange, ...]:
    """The changes that a person chose, with the folders that have to be made for them, and without the folders that
    cannot go because something in them stays. None: all but those that somebody else changed meanwhile."""
    wanted = {change.path for change in reading.changes} - reading.meanwhile if taken is None else set(taken)
    folders = {
        change.path: change
        for change in reading.changes
        if change.after.kind == "folder" and change.before.kind != "folder"
    }
    for path in list(wanted):
        above = path.rpartition("/")[0]
        while above in folders and above not in wanted:
            wanted.add(above)
            above = above.rpartition("/")[0]
    kept: set[str] = set()
    for change in reading.changes:
        if change.after.kind == "absent" and change.path not in wanted:
            above = change.path.rpartition("/")[0]
            while above and above not in kept:
                kept.add(above)
                above = above.rpartition("/")[0]
    return tuple(
        change
        for change in reading.changes
        if change.path in wanted
        and not (change.path in kept and change.before.kind == "folder" and change.after.kind != "folder")
    )


def _digest(outcome: ProcessOutcome, reading: OutcomeReading, traces: CommandTraces) -> str:
    """Stands for all that a request shows of it."""
    ended = (outcome.exit_code, outcome.ended, outcome.output, traces.left, traces.hosts, traces.more)
    found = hashlib.sha256(repr(ended).encode("utf-8", "replace"))
    for change in reading.changes:
        found.update(repr(change).encode("utf-8", "surrogatepass"))
    found.update(repr((sorted(reading.meanwhile), reading.left_out, reading.beyond)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _changed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return (
        f"Changed meanwhile, not by this command: {', '.join(paths[:NAMED])}{more}. It ran in a copy, of which nothing "
        "was taken over: nothing has changed."
    )

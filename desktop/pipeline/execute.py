"""Steps 12 and 13: run a tool inside its time limit, then cut, and keep what the card and the journal need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import CannotBeUndone, Denied, RealFilesChanged, ToolAborted, ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.tools import GraverThanAllowed, PreCheck, Tool, ToolCallContext, ToolResult
from desktop.pipeline.context import CallContext
from desktop.pipeline.gates import TrustGate, prechecked, refused
from desktop.pipeline.limited import ABORTED, LimitedWork, Work

MAX_LOOKS = 3

Current = Callable[[CallContext], Awaitable[Tool | None]]
"""What the call's own name stands for at this moment."""


class Executor:
    """Runs a call that passed every gate."""

    def __init__(self, trust: TrustGate, work: LimitedWork, current: Current | None = None) -> None:
        self._current = current
        self._trust = trust
        self._work = work

    async def run(self, call: CallContext) -> None:
        """Set ``call.result``; raises ToolFailure, CancellationError or what the tool raised. What a call did in a copy
        becomes real only on files that are as they were shown; else the person is asked anew."""
        for look in range(MAX_LOOKS):
            if call.category is not Category.READ:
                await self._still_as_approved(call)
            if call.settled:
                return  # asked anew, a person said that it was done, or shall not be
            call.ran = True
            try:
                call.result = await self._work.run(call, _body(call), network=_has_network(call))
                call.gave = call.result.outside
            except RealFilesChanged:
                if call.rehearsal is None or look == MAX_LOOKS - 1:
                    raise
            except (GraverThanAllowed, CannotBeUndone) as why:
                if call.check is None or look == MAX_LOOKS - 1:
                    raise
                await self._ask_after_all(call, call.check, why)
            else:
                return

    async def _ask_after_all(self, call: CallContext, check: PreCheck, why: GraverThanAllowed | CannotBeUndone) -> None:
        """Nobody was asked, and only making the call has shown that somebody has to be."""
        if isinstance(why, GraverThanAllowed):
            call.rehearsal = await why.shown(check)
            call.check = call.rehearsal.check
        else:
            call.check = replace(check, undoable=False, not_undoable=str(why))
        await self._trust.approve(call)

    async def _still_as_approved(self, call: CallContext) -> None:
        """Look at the tool, its paths and files again; a change voids the approval and asks anew (R-PRM-5)."""
        for _ in range(MAX_LOOKS):
            before = call.check
            fresh = await prechecked(call)
            refused(fresh)
            await self._still_declared(call)
            if call.rehearsal is not None:
                fresh = await call.rehearsal.look_again()
            if before is None or same_as_approved(fresh, before, call.category):
                return
            call.check, call.stale = fresh, True
            await self._trust.approve(call)
        raise ToolFailure("The files kept changing while the call was asked about.", code="denied.permission")

    async def _still_declared(self, call: CallContext) -> None:
        """Raise Denied where the name stands for another tool by now, or for none: neither the old one, which is not
        wanted any more, nor the new one, which nobody has seen, may run."""
        if self._current is None:
            return
        now = await self._current(call)
        if now is not None and same_tool(now, call.target):
            return
        what = "was changed" if now is not None else "was removed"
        raise Denied(
            f"{call.target.spec.provider_name} {what} before this call could run; nothing was run.",
            code="denied.permission",
        )


def same_tool(one: Tool, other: Tool) -> bool:
    """Whether a call of both does the same."""
    return one is other or (
        one.spec.version != ""
        and (one.spec.version, one.spec.name, one.spec.source)
        == (other.spec.version, other.spec.name, other.spec.source)
    )


def same_as_approved(fresh: PreCheck, before: PreCheck, category: Category) -> bool:
    """Whether what would happen now is what a person was shown: the same files in the same state, the same folder,
    network and program, the same text before and after."""
    return (
        dict(fresh.identity) == dict(before.identity)
        and fresh.paths == before.paths
        and fresh.category.rank <= category.rank
        and dict(fresh.preview) == dict(before.preview)
    )


def _body(call: CallContext) -> Work[ToolResult]:
    async def execute(context: ToolCallContext) -> ToolResult:
        return await call.target.execute(call.frozen, context)

    return execute


def _has_network(call: CallContext) -> bool:
    """Whether the call was allowed with the network."""
    return call.check is not None and call.decision is not None and call.decision.gives_network(call.check.preview)


def cut(text: str, limit: int) -> str:
    """``text`` within ``limit`` bytes at a UTF-8 boundary, with a notice of both sizes (R-TMO-5)."""
    if len(text) * 4 <= limit:
        return text
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    kept = raw[:limit].decode("utf-8", "ignore")
    return f"{kept}\n[Output cut: {len(raw)} bytes, the first {len(kept.encode())} are shown]"


def live(token: CancellationToken) -> None:
    """Raise ToolAborted when the run is over already."""
    if token.cancelled:
        raise ToolAborted(ABORTED)

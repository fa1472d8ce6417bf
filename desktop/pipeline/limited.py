"""One piece of a tool's work inside the limits of its call: its time, its cancellation, what it tells meanwhile."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import CancellationError, KnownError, ToolAborted, ToolFailure, ToolTimeout
from desktop.domain.runs.events import ToolCallAdvanced, ToolCallOutput
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.safety import Redactor
from desktop.domain.tools import ToolCallContext, ToolResult
from desktop.files.own_files import OwnFiles
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_context import Advance, ServedContext

ABORTED = "Operation aborted"
ABORT_GRACE_S = 0.06

Spawn = Callable[[Coroutine[Any, Any, Any], str], "asyncio.Task[Any]"]
"""Starts an owned task with a name; the owner outlives the call and gathers what a cancelled tool leaves behind."""

T = TypeVar("T")
Work = Callable[[ToolCallContext], Coroutine[Any, Any, T]]


class LimitedWork:
    """Runs what a tool does for a call.

    Tools that start processes end those at the same limit themselves; so the caller waits ``margin_s`` longer before
    it steps in. A tool then gets 60 ms after an abort, and ``margin_s`` after its time limit, to hand over what it
    has; after that the caller goes on, the owner of ``spawn`` keeps the task, and a late result is discarded
    (R-TMO-4). Nothing is begun once ``own_files``, those of the app, were exchanged: a person may have taken an hour to
    answer, also to a second question, or to one about a copy.
    """

    def __init__(
        self,
        spawn: Spawn,
        timeout_of: Callable[[str], float],
        margin_s: float,
        redactor: Redactor | None = None,
        own_files: OwnFiles | None = None,
    ) -> None:
        self._own_files = own_files or OwnFiles()
        self._spawn = spawn
        self._timeout_of = timeout_of
        self._margin_s = margin_s
        self._redactor = redactor

    def _progress(self, call: CallContext) -> Callable[[str], None]:
        request, meta = call.request, call.meta
        masker = self._redactor.masker() if self._redactor is not None else None

        def report(text: str) -> None:
            text = masker.feed(text) if masker is not None else text
            if not text:
                return
            request.sink(
                ToolCallOutput(
                    thread_id=meta.thread_id,
                    run_id=meta.run_id,
                    message_id=request.message_id,
                    call_id=request.block.call_id,
                    text=text,
                )
            )

        return report

    def _advance(self, call: CallContext) -> Callable[[float, float | None, str], None]:
        request, meta, redactor = call.request, call.meta, self._redactor

        def report(done: float, total: float | None, text: str) -> None:
            request.sink(
                ToolCallAdvanced(
                    thread_id=meta.thread_id,
                    run_id=meta.run_id,
                    message_id=request.message_id,
                    call_id=request.block.call_id,
                    done=done,
                    total=total,
                    text=redactor.redact_text(text) if redactor is not None else text,
                )
            )

        return report

    def _time_of(self, call: CallContext) -> tuple[float, str]:
        """Seconds, and who set them (R-LIM-5)."""
        spec, within, served = call.target.spec, call.request.default_timeout_s, call.request.serves
        if spec.timeout_s:
            return spec.timeout_s, spec.name
        if served is not None and _is_endless(served):
            return math.inf, served.context.run.tool.name
        return (within, "the code that calls it") if within else (self._timeout_of(spec.name), "the settings")

    async def run(self, call: CallContext, work: Work[T], *, network: bool) -> T:
        """What ``work`` returns; raises KnownError, CancellationError or what the tool raised."""
        self._own_files.check()
        spec = call.target.spec
        limit, where = self._time_of(call)
        seconds = None if spec.waits_for_person or limit == math.inf else limit + self._margin_s
        context = ToolCallContext(
            call.meta,
            call.request.block.call_id,
            (*call.request.caller.chain, spec.name),
            self._progress(call),
            identity=call.check.identity if call.check is not None else {},
            scope=call,
            unasked=_by_setting(call),
            at_edge=call.decision is not None and call.decision.by == "edge",
            network=network,
            as_admin=call.category is Category.ADMIN,
            advance=self._advance(call),
            ends=call.request.ends,
            pause=lambda: _paused(call),
            rehearsal=call.rehearsal,
            taken=call.decision.taken if call.decision is not None else None,
        )
        task: asyncio.Task[T] = self._spawn(work(context), f"tool {spec.name}")
        scope = Interrupt(call.meta.cancellation, seconds=seconds)
        served = call.request.serves
        around = served.context.call.invocation.more_clocks if served is not None else []
        around.append(scope)  # a person who is asked inside costs middleware around it no time either
        if served is not None and _is_endless(served):
            served.advance = _uncounted(served.advance, scope)
        try:
            async with scope:
                call.invocation.clock = scope
                return await asyncio.shield(task)
        except CancellationError as error:
            call.meta.cancellation.cancel(error.reason)
            failure = call.failure
            if failure is not None:  # the code itself ended the call
                await _wind_up(task, ABORT_GRACE_S)
                raise failure from error
            kept = await _wind_up(task, ABORT_GRACE_S)
            raise ToolAborted(ABORTED + _partial(kept)) from error
        except asyncio.CancelledError:
            if task.cancelled() and not _being_cancelled():
                raise ToolFailure(f"{spec.name} ended without a result.") from None
            raise
        except TimeoutError as error:
            if task.done() and not task.cancelled():
                raise  # the tool's own
            why = f"the time limit of {limit:g} s (set by {where})"
            call.meta.cancellation.cancel(f"{spec.name} reached {why}")
            kept = await _wind_up(task, self._margin_s)
            raise ToolTimeout(f"Stopped after {why}." + _partial(kept)) from error
        finally:
            call.invocation.clock = None
            around.remove(scope)
            if not task.done():
                task.cancel()


def _paused(call: CallContext) -> Callable[[], None]:
    """Stop the clocks of the call and of all around it; returns what lets them run on."""
    clocks = call.invocation.clocks()
    for clock in clocks:
        clock.pause()

    def resume() -> None:
        for clock in clocks:
            clock.resume()

    return resume


def _is_endless(served: ServedContext) -> bool:
    """Whether middleware stands around what may work for days (R-PER-1)."""
    return served.context.run.tool.timeout_s == math.inf


def _uncounted(advance: Advance, clock: Interrupt) -> Advance:
    """The way onward, in which the middleware's own time stands still."""

    async def onward() -> Any:
        clock.pause()
        try:
            return await advance()
        finally:
            clock.resume()

    return onward


def _being_cancelled() -> bool:
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def _by_setting(call: CallContext) -> bool:
    """Whether a setting alone let a call pass that does more than read."""
    decision = call.decision
    return decision is not None and decision.by == "setting" and call.category is not Category.READ


async def _wind_up(task: asyncio.Task[Any], grace_s: float) -> str:
    """Cancel, wait a moment, and return what text the tool still handed over."""
    task.cancel()
    await asyncio.wait([task], timeout=grace_s)
    if not task.done() or task.cancelled():
        return ""
    error = task.exception()
    if error is not None:
        return str(error) if isinstance(error, KnownError) else ""
    result = task.result()
    return result.text if isinstance(result, ToolResult) else ""


def _partial(text: str) -> str:
    return f"\n{text}" if text and text != ABORTED else ""

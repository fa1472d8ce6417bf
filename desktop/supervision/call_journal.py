"""Write-ahead for the tool calls of a chat's run: a layer of function middleware behind the gates (R-MW-7), so what is
written as begun was allowed and is being done.

A chat is gone on with from its thread, not by running an agent again: its answers are in the thread as they come. What
the thread cannot tell after a crash is which calls of the last answer were done; ``fates`` does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from desktop.domain.effects import EffectRecord
from desktop.domain.errors import KnownError, ToolAborted
from desktop.domain.middleware import CallNext, FunctionContext
from desktop.domain.tools import Category, ToolResult, ToolSpec
from desktop.supervision.effect_journal import Asked, EffectJournal, Place
from desktop.supervision.effect_values import digest_of, error_from_plain, result_from_plain, result_to_plain

MAX_INSIDE = 20
"""Names of what an unfinished call did that a person is told."""


def only_reads(context: FunctionContext) -> bool:
    """What the tool declares; a pipeline knows whether the gates raised it."""
    return isinstance(context.definition, ToolSpec) and context.definition.category is Category.READ


def described(context: FunctionContext) -> str:
    """A call in a line, for a person."""
    return f"{context.tool} {context.arguments}"[:600]


class CallJournal:
    """The layer, one for all runs of a process. A run that was not ``open``ed is not journaled.

    ``call_id`` names a call as its thread does: its records have that in the place of an agent's path. ``repeatable``
    says whether it only reads; only what does not waits until its line is written.
    """

    name = "journal"

    def __init__(
        self,
        call_id: Callable[[FunctionContext], str],
        *,
        repeatable: Callable[[FunctionContext], bool] = only_reads,
        describe: Callable[[FunctionContext], str] = described,
    ) -> None:
        self._call_id = call_id
        self._repeatable = repeatable
        self._describe = describe
        self._runs: dict[str, EffectJournal] = {}

    def open(self, journal: EffectJournal) -> None:
        """Calls of this run are journaled from now on."""
        self._runs[journal.run_id] = journal

    def close(self, run_id: str) -> EffectJournal | None:
        """They are not any more; the journal is to be ended by its owner."""
        return self._runs.pop(run_id, None)

    async def process(self, context: FunctionContext, call_next: CallNext) -> None:
        """Write, do, write. What the store cannot write is not done. What is cut off has no outcome."""
        journal = self._runs.get(context.meta.run_id)
        if journal is None:
            await call_next()
            return
        repeatable = self._repeatable(context)
        summary = "" if repeatable else self._describe(context)
        digest = digest_of(context.tool, context.arguments)
        asked, place = Asked("tool", context.tool, digest, summary, repeatable), self._place(context)
        await journal.begin(place, asked)
        try:
            await call_next()
        except ToolAborted:
            raise  # cut off: nobody knows how far it came
        except KnownError as error:
            journal.fail(place, asked, error)
            raise
        if context.result is not None:
            journal.complete(place, asked, result_to_plain(context.result))

    def _place(self, context: FunctionContext) -> Place:
        return (self._call_id(context), 1)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a call before the process died. ``result`` None: it had begun, and nobody knows whether it was
    done. ``repeatable`` calls only read, and so did all that began inside them; ``inside`` names what did more."""

    call_id: str
    tool: str
    summary: str
    repeatable: bool
    result: ToolResult | None
    inside: tuple[str, ...] = ()


def fates(records: Iterable[EffectRecord]) -> dict[str, Fate]:
    """By call, from a run's journal. A call that is not in it had not been begun: it may still be made."""
    found: dict[str, Fate] = {}
    for record in records:
        if record.kind != "tool":
            continue
        if record.phase == "begun":
            if record.summary:
                _did_more(found, record)
            before = found.get(record.agent)
            inside = before.inside if before is not None and before.result is None else ()
            repeatable = not record.summary and not inside
            found[record.agent] = Fate(record.agent, record.name, record.summary, repeatable, None, inside)
        elif (begun := found.get(record.agent)) is not None:
            found[record.agent] = replace(begun, result=_result(record))
    return found


def _did_more(found: dict[str, Fate], record: EffectRecord) -> None:
    """What begins before a call has an outcome was made by it, or by an agent below it."""
    for key, fate in found.items():
        if fate.result is None and key != record.agent:
            found[key] = replace(fate, repeatable=False, inside=(*fate.inside, record.name)[:MAX_INSIDE])


def _result(record: EffectRecord) -> ToolResult | None:
    if record.phase == "begun" or not record.value:
        return None
    plain = json.loads(record.value)
    if record.phase == "failed":
        error = error_from_plain(plain)
        return ToolResult(str(error), is_error=True, code=error.code)
    return result_from_plain(plain)

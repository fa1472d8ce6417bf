"""The log of a chat's run (R-JRN-2). Tool calls: a layer of function middleware behind the gates (R-MW-7), so what is
written as begun was allowed and is being done. Model requests: what the chat-level gate asks this to see to.

A chat is gone on with from its thread, not by running an agent again: its answers are in the thread as they come. What
the thread cannot tell after a crash is which calls of the last answer were done; ``history.py`` does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import CancellationError, KnownError, ToolAborted
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import ModelAnswer
from desktop.domain.runs.effects import EffectPhase
from desktop.domain.runs.middleware import CallNext, ChatContext, FunctionContext
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.recovery.effect_journal import EffectJournal, EffectRequest, Place
from desktop.recovery.effect_values import RequestDigests, digest_of, message_to_plain, result_to_plain

_log = logging.getLogger(__name__)
JOURNALED = "journaled"
"""In the metadata of a call that was written as begun."""
_PHASES: Mapping[str, EffectPhase] = {"done": "completed", "aborted": "cancelled"}


def only_reads(context: FunctionContext) -> bool:
    """What the tool declares; a pipeline knows whether the gates raised it."""
    return isinstance(context.definition, ToolSpec) and context.definition.category is Category.READ


def described(context: FunctionContext) -> str:
    """A call in a line, for a person."""
    return f"{context.tool} {context.arguments}"[:600]


@dataclass(slots=True)
class _LiveRun:
    """A run that is at work: its journal, and how many models each of its agents has asked."""

    journal: EffectJournal
    digests: RequestDigests = field(default_factory=lambda: RequestDigests(stored=True))
    steps: dict[str, int] = field(default_factory=dict)

    def next(self, agent: str) -> Place:
        step = self.steps[agent] = self.steps.get(agent, 0) + 1
        return (agent, step)


class CallJournal:
    """The layer, one for all runs of a process. A run that was not ``open``ed is not journaled.

    ``call_id`` names a call as its thread does: its records have that in the place of an agent's path. ``repeatable``
    says whether it only reads; only what does not waits until its line is written. ``edited`` gives what a person made
    of it, or None: that is kept with its beginning, for the thread has what was asked for.
    ``tool`` gives what stands for the tool as it was allowed (``tool_digest``), where it can be gone on with.
    """

    name = "journal"

    def __init__(
        self,
        call_id: Callable[[FunctionContext], str],
        *,
        repeatable: Callable[[FunctionContext], bool] = only_reads,
        describe: Callable[[FunctionContext], str] = described,
        edited: Callable[[FunctionContext], Mapping[str, Any] | None] = lambda _context: None,
        tool: Callable[[FunctionContext], str] = lambda _context: "",
    ) -> None:
        self._call_id = call_id
        self._edited = edited
        self._tool = tool
        self._repeatable = repeatable
        self._describe = describe
        self._runs: dict[str, _LiveRun] = {}
        self._then: dict[tuple[str, str], Callable[[], None]] = {}

    def after_outcome(self, run_id: str, key: str, then: Callable[[], None]) -> None:
        """Do this when the outcome of a call under way is on its way to the log; never, if it gets none."""
        if run_id in self._runs:
            self._then[(run_id, key)] = then

    def _outcome_told(self, run_id: str, place: Place) -> None:
        then = self._then.pop((run_id, place[0]), None)
        if then is not None:
            then()

    def open(self, journal: EffectJournal) -> None:
        """Calls of this run are journaled from now on."""
        self._runs[journal.run_id] = _LiveRun(journal)

    def close(self, run_id: str) -> EffectJournal | None:
        """Forget a run that is no longer at work and return its journal, which its owner ends."""
        found = self._runs.pop(run_id, None)
        for one in [one for one in self._then if one[0] == run_id]:
            del self._then[one]
        return found.journal if found is not None else None

    def journal(self, run_id: str) -> EffectJournal | None:
        """The journal of a run that is at work and has no terminal entry yet; else None."""
        found = self._runs.get(run_id)
        return found.journal if found is not None and found.journal.ended is None else None

    async def process(self, context: FunctionContext, call_next: CallNext) -> None:
        """Write the call's beginning, make it, write its outcome. A call that the store cannot record is not made; one
        that is cut off has no outcome."""
        journal = self.journal(context.meta.run_id)
        if journal is None:
            await call_next()
            return
        context.metadata[JOURNALED] = True
        repeatable = self._repeatable(context)
        summary = "" if repeatable else self._describe(context)
        digest = digest_of(context.tool, context.arguments)
        asked = EffectRequest(
            "tool", context.tool, digest, summary, repeatable, changed=self._edited(context), tool=self._tool(context)
        )
        place = self._place(context)
        await journal.begin(place, asked)
        try:
            await call_next()
        except ToolAborted:
            if journal.ended is None:
                journal.cut_off(place, asked)
            raise
        except KnownError as error:
            journal.fail(place, asked, error)
            self._outcome_told(journal.run_id, place)
            raise
        if context.result is not None:
            journal.complete(place, asked, result_to_plain(context.result))
            self._outcome_told(journal.run_id, place)

    def _place(self, context: FunctionContext) -> Place:
        return (self._call_id(context), 1)

    def settled(
        self, run_id: str, key: str, tool: str, arguments: Any, state: str, code: str, result: ToolResult | None = None
    ) -> None:
        """A call that was never made has its line too: ``state`` and ``code`` are those of its result. With ``result``
        a person said what became of it, and a later run has that from here."""
        journal = self.journal(run_id)
        if journal is not None and result is not None:
            journal.keep(
                (key, 1), EffectRequest("tool", tool[:64], digest_of(tool, arguments)), result_to_plain(result)
            )
        elif journal is not None:
            asked = EffectRequest("tool", tool[:64], digest_of(tool, arguments))
            journal.told((key, 1), asked, _PHASES.get(state, "failed"), code)

    def summarised(self, run_id: str, agent: str, thread_id: str, value: Any) -> None:
        """What was made of older messages of a thread, for the agent at this place of the tree."""
        run = self._runs.get(run_id)
        if run is not None and run.journal.ended is None:
            run.journal.keep(run.next(agent), EffectRequest("summary", thread_id, digest_of(value)), value)

    async def ask(self, agent: str, context: ChatContext, call_next: CallNext) -> None:
        """One model request of the agent at this place of the tree. The answer itself is in the thread; that of an
        agent inside a call is nowhere else, and stands under the call's name."""
        run, request = self._runs.get(context.meta.run_id), context.request
        if run is None or request is None or run.journal.ended is not None:
            await call_next()
            return
        inside = context.meta.call
        place, asked = run.next(inside or agent), EffectRequest("llm", str(request.model), run.digests.of(request))
        await run.journal.begin(place, asked)
        try:
            await call_next()
        except KnownError as error:
            run.journal.fail(place, asked, error)
            raise
        if run.journal.ended is None:
            _answered(run, place, asked, context.response, kept=bool(inside))


def _answered(run: _LiveRun, place: Place, asked: EffectRequest, response: Any, *, kept: bool) -> None:
    answer = response if isinstance(response, ModelAnswer) else ModelAnswer(response)
    if answer.error is None and kept:
        run.journal.complete(place, asked, message_to_plain(answer.message))
    elif answer.error is None:
        run.journal.answered(place, asked, run.digests.part(answer.message))
    elif isinstance(answer.error, CancellationError):
        run.journal.cut_off(place, asked)
    elif isinstance(answer.error, KnownError):
        run.journal.fail(place, asked, answer.error)
    else:
        run.journal.told(place, asked, "failed", "bug")

"""The journal of one run: each effect is written before it is done, and its outcome before the next one (R-JRN-2).

``history.py`` reads it after a restart. What is written in one moment goes into one transaction. The beginning of what
may be done again unasked (a read, a model request) says nothing to whoever goes on, so it waits up to ``LATER_S`` for
company, usually its own outcome: one transaction instead of two.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.errors import BugError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.agent import AgentOutcome, AgentStatus
from desktop.domain.runs.effects import EffectKind, EffectLog, EffectPhase, EffectRecord, digest_value, tool_value
from desktop.recovery.effect_values import error_to_plain, outcome_to_plain, to_text

MAX_SUMMARY = 400
LATER_S = 0.5
_MASKED = '{"masked":true,'

Place = tuple[str, int]
"""The agent's path, or the name of one of its branches, and the number of its step there."""


@dataclass(frozen=True, slots=True)
class EffectRequest:
    """An effect that an agent asks for."""

    kind: EffectKind
    """What kind of effect."""
    name: str
    """The tool, model or agent."""
    digest: str
    """Stands for its arguments."""
    summary: str = ""
    """The arguments in brief."""
    repeatable: bool = True
    """If nobody knows whether it was done, it may be done again unasked, as a read may."""
    changed: Mapping[str, Any] | None = None
    """Its arguments where a person changed them: nothing else has these."""
    tool: str = ""
    """Stands for what the tool was that a person, or a rule, allowed; "" where nobody needs to know."""


class EffectJournal:
    """``load`` it first, ``end`` it last. ``redact`` cleans a text for a person's eyes, ``mask`` takes known secrets
    out of the texts in a value. What could not be written is not done: every later effect raises the store's error.
    """

    def __init__(
        self,
        run_id: str,
        log: EffectLog,
        *,
        redact: Callable[[str], str] = lambda text: text,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        self.run_id = run_id
        self._log = log
        self._redact = redact
        self._mask = mask
        self._sequence = 0
        self._ended: EffectRecord | None = None
        self._waiting: list[EffectRecord] = []
        self._flush_soon: asyncio.Handle | None = None
        self._flush_later: asyncio.TimerHandle | None = None
        self._last: asyncio.Future[None] | None = None
        self._broken: BaseException | None = None

    # -- what was before ----------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Find where an earlier process came to in this run, to write on behind it."""
        for record in await self._log.load(self.run_id):
            self._sequence = record.sequence
            if record.kind == "end":
                self._ended = record

    @property
    def ended(self) -> AgentStatus | None:
        """How the run ended, if it has."""
        return self._ended.phase if self._ended is not None else None  # type: ignore[return-value]

    # -- what happens -------------------------------------------------------------------------------------------------

    async def begin(self, place: Place, asked: EffectRequest) -> None:
        """What may not be done twice waits until its line, and every line before it, is written. What may be repeated
        goes ahead while its line is on the way: if the process dies just then, it is done again all the same.
        """
        summary = self._redact(asked.summary)[:MAX_SUMMARY] if asked.summary else ""
        self._put(place, asked, "begun", self._beginning(asked), summary, soon=not asked.repeatable)
        if not asked.repeatable:
            self._flush()
            if self._last is not None:
                await self._last  # nobody else waits for this very batch
        if self._broken is not None:
            raise self._broken

    def _beginning(self, asked: EffectRequest) -> str:
        if asked.changed is None:
            return tool_value(asked.tool) if asked.tool else ""
        plain = {"arguments": asked.changed, "tool": asked.tool} if asked.tool else {"arguments": asked.changed}
        text, masked = to_text(plain, self._mask)
        return _MASKED + text[1:] if masked else text

    def complete(self, place: Place, asked: EffectRequest, value: Any) -> None:
        """Write down that an effect is done and gave ``value``."""
        self._put(place, asked, "completed", to_text(value, self._mask)[0])

    def fail(self, place: Place, asked: EffectRequest, error: KnownError) -> None:
        """The effect ended in an error, which is its outcome."""
        plain = error_to_plain(error)
        text, _ = to_text({**plain, "text": self._redact(plain["text"])}, self._mask)
        self._put(place, asked, "failed", text)

    def answered(self, place: Place, asked: EffectRequest, digest: str) -> None:
        """The effect is done, and what it gave is kept elsewhere: ``digest`` stands for it."""
        self._put(place, asked, "completed", digest_value(digest))

    def keep(self, place: Place, asked: EffectRequest, value: Any) -> None:
        """What a later run goes on with; written before whatever is stored next."""
        self._put(place, asked, "completed", to_text(value, self._mask)[0])
        self._flush()

    def cut_off(self, place: Place, asked: EffectRequest) -> None:
        """Record that an effect was ended from outside, with its outcome unknown."""
        self._put(place, asked, "cancelled", "")

    def told(self, place: Place, asked: EffectRequest, phase: EffectPhase, code: str = "") -> None:
        """One line for a call that never began: the gates refused it, or a person settled it. ``code`` says how."""
        self._put(place, asked, phase, "", code)

    def end_agent(self, agent: str, outcome: AgentOutcome) -> None:
        """Write the last entry of an agent: how it ended."""
        outcome = replace(outcome, detail=self._redact(outcome.detail)) if outcome.detail else outcome
        text, _ = to_text(outcome_to_plain(outcome), self._mask)
        self._put((agent, 0), EffectRequest("return", "", ""), outcome.status, text)

    async def end(self, status: AgentStatus, detail: str = "") -> None:
        """The terminal entry of the run, exactly once (R-JRN-5). BugError for a second one."""
        summary = self._redact(detail)[:MAX_SUMMARY]
        self._ended = self._put(("", 0), EffectRequest("end", "", ""), status, "", summary)
        self.hurry()
        await self.settle()

    # -- writing ------------------------------------------------------------------------------------------------------

    def _put(
        self,
        place: Place,
        asked: EffectRequest,
        phase: EffectPhase,
        value: str,
        summary: str = "",
        *,
        soon: bool = True,
    ) -> EffectRecord:
        if self._ended is not None:
            raise BugError(f"run {self.run_id} is over, its journal is closed")
        self._sequence += 1
        record = EffectRecord(
            self.run_id,
            self._sequence,
            place[0],
            place[1],
            asked.kind,
            asked.name,
            asked.digest,
            phase,
            time.time(),
            value,
            summary,
        )
        self._waiting.append(record)
        if soon and self._flush_soon is None:
            self._flush_soon = asyncio.get_running_loop().call_soon(self._flush)
        elif not soon and self._flush_later is None:
            self._flush_later = asyncio.get_running_loop().call_later(LATER_S, self._late)
        return record

    def _late(self) -> None:
        """What waits is no older than the timer, which goes on while others flush what waited for it."""
        self._flush_later = None
        self._flush()

    def _flush(self) -> None:
        if self._flush_soon is not None:
            self._flush_soon.cancel()
            self._flush_soon = None
        if self._waiting:
            batch, self._waiting = self._waiting, []
            self._last = self._log.append(batch)
            self._last.add_done_callback(self._written)

    def _written(self, done: asyncio.Future[None]) -> None:
        problem = None if done.cancelled() else done.exception()
        self._broken = self._broken or problem
        if self._last is done:
            self._last = None

    def hurry(self) -> None:
        """Nothing waits any more; whoever lets go of a journal that has not ended says so."""
        if self._flush_later is not None:
            self._flush_later.cancel()
            self._flush_later = None
        self._flush()

    async def settle(self) -> None:
        """Done when everything so far is written. Raises what the store raised."""
        self._flush()
        if self._last is not None:
            await asyncio.shield(self._last)
        if self._broken is not None:
            raise self._broken

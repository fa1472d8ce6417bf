"""A call in, its past out: what the journals of earlier runs say of calls, and of those made inside them.

What is done is not done again, what may have been done is asked about. An agent whose messages nobody stores is told
again what its model had said, so that it goes the same way.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage
from desktop.domain.runs.call_keys import Names, group_of, is_inside, outermost
from desktop.domain.runs.cancellation import STOPPED
from desktop.domain.runs.effects import EffectRecord, is_digest, tool_of
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.recovery.effect_values import digest_of, error_from_plain, message_from_plain, result_from_plain
from desktop.recovery.past import NEVER_BEGUN, VALUE_UNKNOWN, Done, Edited, InProgress, Past, Unknown
from desktop.recovery.words import ANOTHER_WAY, DONE_BEFORE, FAILED_BEFORE, NOBODY_KNOWS, SECRET_NOT_KEPT

MAX_TOLD = 20
MAX_LINE = 160
MAX_INSIDE = 20
"""Names of what an unfinished call did that a person is told."""
MAX_WITHIN = 1000
_FORGOTTEN: Mapping[str, ToolResult] = {
    "completed": ToolResult(DONE_BEFORE, code=VALUE_UNKNOWN),
    "failed": ToolResult(FAILED_BEFORE, is_error=True, code="tool.failed"),
}

_log = logging.getLogger(__name__)


def tool_digest(spec: ToolSpec, category: Category) -> str:
    """The digest of a tool. It differs between versions of the tool, and where its category changed."""
    return digest_of(spec.name, spec.source, spec.version, category.value)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What became of a call before the process died, as the journal has it."""

    call_id: str
    """What names the call in the journal."""
    tool: str
    """The tool's name."""
    summary: str
    """What it does, in a line for a person; "" for one that only reads."""
    repeatable: bool
    """It only reads, and so did all that began inside it."""
    result: ToolResult | None
    """None: it had begun, and nobody knows whether it was done."""
    inside: tuple[str, ...] = ()
    """Names of tools that were called inside it and did more than read."""
    arguments: Mapping[str, Any] | None = None
    """Those that it had after a person changed them."""
    masked: bool = False
    """Of these, a secret is not kept."""
    within: tuple[str, ...] = ()
    """The keys of the calls that ``inside`` names."""
    allowed: str = ""
    """Stands for the tool as it was allowed last (``tool_digest``)."""


def call_outcomes(
    records: Iterable[EffectRecord], callers: Mapping[str, str] = MappingProxyType({})
) -> dict[str, CallOutcome]:
    """By call, from the journals of runs, the oldest first. A call that is not in them had not been begun: it may still
    be made. ``callers`` are those of agents (``call_keys.Names``)."""
    found: dict[str, CallOutcome] = {}
    names = Names(callers)
    under_way: dict[str, str] = {}
    for record in records:
        if record.kind != "tool":
            continue
        if record.phase == "begun":
            names.add(record.agent)
            if record.summary:
                above, all_known = names.above(record.agent)
                open_then = () if all_known else (key for key, run_id in under_way.items() if run_id == record.run_id)
                _did_more(found, [*above, *_of_others(open_then, record.agent)], record)
            under_way[record.agent] = record.run_id
            before = found.get(record.agent)
            open_before = before is not None and before.result is None
            inside, within = (before.inside, before.within) if before is not None and open_before else ((), ())
            repeatable = not record.summary and not inside
            outcome = CallOutcome(record.agent, record.name, record.summary, repeatable, None, inside, within=within)
            found[record.agent] = _with_arguments(outcome, record, before)
        elif (begun := found.get(record.agent)) is not None:
            under_way.pop(record.agent, None)
            found[record.agent] = replace(begun, result=_result(record))
    return found


def _of_others(keys: Iterable[str], key: str) -> list[str]:
    """Without those whose name tells that this call was not made inside of them."""
    root = outermost(key)
    return [one for one in keys if outermost(one) != root]


def _did_more(found: dict[str, CallOutcome], above: Iterable[str], record: EffectRecord) -> None:
    """Count a recorded effect for all calls above it; where its caller is unknown, for all calls that had not ended by
    then."""
    for key in above:
        outcome = found.get(key)
        if outcome is not None and key != record.agent:
            inside, within = (*outcome.inside, record.name)[:MAX_INSIDE], (*outcome.within, record.agent)[:MAX_WITHIN]
            found[key] = replace(outcome, repeatable=False, inside=inside, within=within)


def _with_arguments(outcome: CallOutcome, record: EffectRecord, before: CallOutcome | None) -> CallOutcome:
    """What a person made of the arguments holds for each later beginning that says nothing else."""
    plain, only_tool = _plain(record.value), tool_of(record.value)
    outcome = replace(outcome, allowed=only_tool or str((plain or {}).get("tool", "")))
    if plain is not None and isinstance(plain.get("arguments"), dict):
        return replace(outcome, arguments=plain["arguments"], masked=plain.get("masked") is True)
    if record.value and not only_tool:  # other arguments, and they cannot be read: it cannot be made as it was
        return replace(outcome, arguments={}, masked=True)
    return outcome if before is None else replace(outcome, arguments=before.arguments, masked=before.masked)


def _result(record: EffectRecord) -> ToolResult | None:
    """The result in a record; None where it is unknown, as for a record that cannot be read."""
    if is_digest(record.value):
        return _FORGOTTEN.get(record.phase)
    if record.phase not in _FORGOTTEN or not record.value:
        return None
    try:
        plain = json.loads(record.value)
        if record.phase == "completed":
            return _checked(result_from_plain(plain))
        error = error_from_plain(plain)
        return _checked(ToolResult(error.advice, is_error=True, code=error.code))
    except (TypeError, ValueError, AttributeError) as error:
        _log.warning("the outcome of %s in run %s cannot be read: %s", record.name, record.run_id, error)
    return None


def _checked(result: ToolResult) -> ToolResult:
    """Raises TypeError for what no result holds."""
    sound = isinstance(result.text, str) and isinstance(result.code, str) and isinstance(result.facts, Mapping)
    if not sound or not isinstance(result.is_error, bool):
        raise TypeError("it is no result")
    return result


def _plain(value: str) -> dict[str, Any] | None:
    try:
        plain = json.loads(value)
    except ValueError:
        return None
    return plain if isinstance(plain, dict) else None


@dataclass(slots=True)
class CallHistory:
    """All that the journals of the runs before this one say."""

    calls: dict[str, CallOutcome] = field(default_factory=dict)
    """By what names them in the journal."""
    awaited: set[str] = field(default_factory=set)
    """Calls inside those that are gone on with, until they come again."""
    answers: dict[str, list[ChatMessage]] = field(default_factory=lambda: defaultdict(list))
    """Of models, in order, by the key of the call that asked them."""
    threads: frozenset[str] = frozenset()
    """The calls of agents whose thread is there."""
    names: Names = field(default_factory=lambda: Names({}))
    """Which call made which, of those that were made before and of those that are made now."""

    @classmethod
    def of(cls, records: Sequence[EffectRecord], callers: Mapping[str, str] = MappingProxyType({})) -> CallHistory:
        """From the logs of earlier runs, the oldest first; ``callers`` as in ``call_outcomes``."""
        found = cls(call_outcomes(records, callers))
        for record in records:
            if record.kind == "llm" and record.phase == "completed" and (answer := _answer(record)) is not None:
                found.answers[record.agent].append(answer)
        return found

    def join(self, other: CallHistory, roots: Collection[str]) -> None:
        """Merge another history into this one; the calls ``roots`` are being gone on with now."""
        self.calls |= other.calls
        self.threads |= other.threads
        self.awaited |= {key for key in other.calls if is_inside(key) and outermost(key) in roots}
        for key in other.calls:
            self.names.add(key)
        for key, answers in other.answers.items():
            if outermost(key) in roots:
                self.answers[key] = list(answers)

    def past(self, key: str, asked: Mapping[str, Any] | None, spec: ToolSpec | None = None) -> Past:
        """A call in, its past out. ``asked`` are the arguments that the model asked for. ``spec`` is the tool as it is
        now; without one, as when there is none any more, whatever may have been done counts as unknown."""
        outcome = self.calls.get(key)
        if outcome is None:
            return NEVER_BEGUN
        edited = Edited(asked or {}, outcome.arguments) if outcome.arguments is not None else None
        if outcome.result is not None:
            return Done(outcome.result, edited)
        inside = tuple(self._lines(outcome.within))
        unrepeatable = SECRET_NOT_KEPT if outcome.masked else ""
        if spec is None:
            question = "" if outcome.repeatable else self._question(outcome)
        else:
            question = self._asks(key, outcome, spec)
        if question:
            return Unknown(question, edited, unrepeatable, inside)
        if spec is not None and spec.nests == "thread" and key in self.threads:
            unrepeatable = ""  # an agent has in its own thread what it was told
        allowed = spec is not None and spec.nests != "" and outcome.allowed == tool_digest(spec, spec.category)
        return InProgress(edited, unrepeatable, inside, allowed)

    def past_inside(self, key: str, asked: Mapping[str, Any] | None, spec: ToolSpec) -> Past:
        """The same of a call made inside one that is gone on with; once. What has not been asked for by the end was
        not made again. A read is made anew."""
        self.names.add(key)
        if key not in self.awaited:
            return NEVER_BEGUN
        self.awaited.remove(key)
        past = self.past(key, asked, spec)
        forgotten = isinstance(past, Done) and past.result.code == VALUE_UNKNOWN and self.calls[key].repeatable
        only_reads = isinstance(past, InProgress) and not spec.nests
        return NEVER_BEGUN if forgotten or only_reads else past

    def _asks(self, key: str, outcome: CallOutcome, spec: ToolSpec) -> str:
        """What a person is asked before this call, which had begun, is made again; "" where it may be, unasked: it does
        nothing itself but read, or all it does are calls of which each is known or asked about by itself."""
        if spec.nests == "thread":
            return self._question(outcome) if outcome.within and key not in self.threads else ""
        own = bool(outcome.summary) and spec.nests != "calls"
        return self._question(outcome) if own or _unnamed(key, outcome) else ""

    def _question(self, outcome: CallOutcome) -> str:
        """The question to a person: nobody knows whether the call was done, with what is known of the calls it made."""
        lines = list(self._lines(outcome.within))
        return f"{NOBODY_KNOWS} Inside it: {'; '.join(lines[:MAX_TOLD])}." if lines else NOBODY_KNOWS

    def _lines(self, keys: Iterable[str], *, failed: bool = True) -> Iterable[str]:
        """Lines about those of the calls that did more than call others, or may have."""
        for key in dict.fromkeys(keys):
            outcome = self.calls.get(key)
            wanted = outcome is not None and (failed or outcome.result is None or not outcome.result.is_error)
            if outcome is not None and wanted and outcome.summary and (outcome.result is None or not outcome.within):
                yield f"{outcome.summary[:MAX_LINE]} ({_state(outcome)})"

    def answered(self, key: str) -> ChatMessage | None:
        """What the model answered next inside this call before. What that used is counted already."""
        known = self.answers.get(key)
        return replace(known.pop(0), usage=None) if known else None

    def not_repeated(self, key: str, *, failed: bool = True) -> tuple[str, ...]:
        """What was done, or may have been, inside the same call of the chat, and has not been asked for again, a line
        each; of an agent that has not, all that it had done in its thread."""
        return self._told_of(self._left(key), outermost(key), failed)

    def _left(self, key: str) -> list[str]:
        """The calls inside the same call of the chat that have not come again."""
        return [one for one in self.calls if one in self.awaited and outermost(one) == outermost(key)]

    def _told_of(self, inside: Sequence[str], root: str, failed: bool) -> tuple[str, ...]:
        below = [one for above in inside for one in self.calls[above].within if outermost(one) != root]
        return tuple(self._lines((*inside, *below), failed=failed))

    def _outermost_left(self, key: str) -> str:
        """Of a call that has not come again, the outermost around it of which that is so, too."""
        caller = self.names.caller(key)
        while caller in self.awaited:
            key, caller = caller, self.names.caller(caller)
        return key

    def divergence(self, key: str) -> str:
        """What a person is asked before a call that is new, while others that were made in its place before have not
        been asked for again; "" for most."""
        if key in self.calls:
            return ""
        groups = {group_of(one) for one in (key, *self.names.above(key)[0])}
        inside = self._left(key)
        if any(branch for _, branch in groups):  # what other branches did is theirs to come to
            inside = [one for one in inside if group_of(self._outermost_left(one)) in groups]
        left = self._told_of(inside, outermost(key), failed=False)
        return f"{ANOTHER_WAY} {'; '.join(left[:MAX_TOLD])}." if left else ""


def _unnamed(key: str, outcome: CallOutcome) -> bool:
    """Whether calls were made inside it that could not be known again: earlier versions named them at random."""
    message, _, _ = outermost(key).partition(":")
    return any(not is_inside(one) and one.partition(":")[0] == message for one in outcome.within)


def _state(outcome: CallOutcome) -> str:
    if outcome.result is None:
        return "nobody knows whether it was done"
    return "failed" if outcome.result.is_error else "done"


def _answer(record: EffectRecord) -> ChatMessage | None:
    """None where its thread has it, or nobody goes on with it (then there is a digest, or nothing), and of one that
    cannot be read: the model is asked anew."""
    try:
        return message_from_plain(json.loads(record.value))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class CallHistories:
    """The call histories of the runs at work. ``stop`` ends a run for a given reason."""

    def __init__(self, stop: Callable[[str, str], None]) -> None:
        self._stop = stop
        self._runs: dict[str, CallHistory] = {}

    def remember(self, run_id: str, history: CallHistory, roots: Collection[str]) -> None:
        """What is known from before of the calls ``roots``, which this run goes on with, and of those inside."""
        self._runs.setdefault(run_id, CallHistory()).join(history, roots)

    def knows(self, run_id: str) -> bool:
        """Whether this run goes on with anything."""
        return run_id in self._runs

    def forget(self, run_id: str) -> None:
        """Drop the history of a run that has ended."""
        self._runs.pop(run_id, None)

    def past(self, run_id: str, key: str, asked: Mapping[str, Any] | None, spec: ToolSpec) -> Past:
        """A call in, its past out; of one that is made inside another once."""
        history = self._runs.get(run_id)
        if history is None:
            return NEVER_BEGUN
        return history.past_inside(key, asked, spec) if is_inside(key) else history.past(key, asked, spec)

    def divergence(self, run_id: str, key: str) -> str:
        """What is asked before a new call takes the place of others; "" for most."""
        history = self._runs.get(run_id)
        return history.divergence(key) if history is not None else ""

    def not_repeated(self, run_id: str, key: str) -> tuple[str, ...]:
        """What was done inside this call before, or may have been, and was not asked for again."""
        history = self._runs.get(run_id)
        return history.not_repeated(key) if history is not None else ()

    def answered(self, meta: RunMeta) -> ChatMessage | None:
        """What a model answered before to the request that the call of ``meta`` makes now."""
        history = self._runs.get(meta.run_id) if meta.call else None
        return history.answered(meta.call) if history is not None else None

    def stop(self, run_id: str) -> None:
        """The person ends the run instead of saying what became of a call; what is open stays so."""
        self._stop(run_id, STOPPED)

"""What earlier runs did inside the calls that they left open: what is done is not done again, what may have
been is asked about, and an agent whose messages nobody stores is told again what its model had said, so that it goes
the same way.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from desktop.domain.cancellation import STOPPED
from desktop.domain.effects import EffectRecord, is_digest
from desktop.domain.messages import ChatMessage
from desktop.domain.recall import VALUE_UNKNOWN, RecalledCall, is_inside, outermost
from desktop.domain.run_meta import RunMeta
from desktop.domain.tools import ToolSpec
from desktop.supervision.call_journal import CallOutcome, fates, tool_digest
from desktop.supervision.effect_values import message_from_plain

UNKNOWN = "This had begun when Assent ended, and nobody knows whether it was done."
OTHER_WAY = (
    "Assent ended in the middle of this, and it goes another way now than it did then. This call is new; what was made "
    "then may be the same in other words."
)
MAX_TOLD = 20
MAX_LINE = 160


@dataclass(slots=True)
class CallHistory:
    """``calls`` by key, ``answers`` of models by the key of the call that asked them, in order; ``threads``: the calls
    of agents whose thread is there. ``awaited`` are calls inside those that are gone on with, until they are made
    again."""

    calls: dict[str, CallOutcome] = field(default_factory=dict)
    awaited: set[str] = field(default_factory=set)
    answers: dict[str, list[ChatMessage]] = field(default_factory=lambda: defaultdict(list))
    threads: frozenset[str] = frozenset()

    @classmethod
    def of(cls, records: Sequence[EffectRecord], callers: Mapping[str, str] = MappingProxyType({})) -> CallHistory:
        """From the logs of earlier runs, the oldest first; ``callers`` as in ``fates``."""
        found = cls(fates(records, callers))
        for record in records:
            if record.kind == "llm" and record.phase == "completed" and (said := _said(record)) is not None:
                found.answers[record.agent].append(said)
        return found

    def join(self, other: CallHistory, roots: Collection[str]) -> None:
        """Both are known; the calls ``roots`` are gone on with now."""
        self.calls |= other.calls
        self.threads |= other.threads
        self.awaited |= {key for key in other.calls if is_inside(key) and outermost(key) in roots}
        for key, said in other.answers.items():
            if outermost(key) in roots:
                self.answers[key] = list(said)

    def question(self, key: str, spec: ToolSpec) -> str:
        """What a person is asked before this call, which had begun, is made again; "" where it may be, unasked: it does
        nothing itself but read, or all it does are calls of which each is known or asked about by itself."""
        fate = self.calls[key]
        if spec.nests == "thread":
            return self.words(fate) if fate.within and key not in self.threads else ""
        own = bool(fate.summary) and spec.nests != "calls"
        return self.words(fate) if own or _unnamed(key, fate) else ""

    def words(self, fate: CallOutcome) -> str:
        """That nobody knows whether a call was done, and what is known of those that it made."""
        told = list(self._told(fate.within))
        return f"{UNKNOWN} Inside it: {'; '.join(told[:MAX_TOLD])}." if told else UNKNOWN

    def _told(self, keys: Iterable[str], *, failed: bool = True) -> Iterable[str]:
        """Those that did more than call others, or may have."""
        for key in dict.fromkeys(keys):
            fate = self.calls.get(key)
            wanted = fate is not None and (failed or fate.result is None or not fate.result.is_error)
            if fate is not None and wanted and fate.summary and (fate.result is None or not fate.within):
                yield f"{fate.summary[:MAX_LINE]} ({_state(fate)})"

    def recall(self, key: str, spec: ToolSpec) -> RecalledCall | None:
        """Once. What is not known by then is asked for no more."""
        if key not in self.awaited:
            return None
        self.awaited.remove(key)
        fate = self.calls[key]
        again = self.question(key, spec) if fate.result is None else ""
        forgotten = fate.result is not None and fate.result.code == VALUE_UNKNOWN
        if forgotten and fate.repeatable:
            return None  # a read gives it again
        unasked = fate.result is None and not again
        if unasked and not spec.nests:
            return None
        return RecalledCall(fate.result, again, unasked and self.same_tool(key, spec), fate.arguments, fate.masked)

    def same_tool(self, key: str, spec: ToolSpec) -> bool:
        """Whether what was allowed before is what would be made now. Nothing is known of it in logs of old."""
        return self.calls[key].allowed == tool_digest(spec, spec.category)

    def said(self, key: str) -> ChatMessage | None:
        """What the model answered next inside this call before. What that used is counted already."""
        known = self.answers.get(key)
        return replace(known.pop(0), usage=None) if known else None

    def left(self, key: str, *, failed: bool = True) -> tuple[str, ...]:
        """What was done, or may have been, inside the same call of the chat, and has not been asked for again; of an
        agent that has not, all that it had done in its thread."""
        root = outermost(key)
        inside = [one for one in self.calls if one in self.awaited and outermost(one) == root]
        below = [one for above in inside for one in self.calls[above].within if outermost(one) != root]
        return tuple(self._told((*inside, *below), failed=failed))

    def refused(self, key: str) -> tuple[str, ...]:
        """What was done inside a call of the chat that is not gone on with."""
        fate = self.calls.get(key)
        return tuple(self._told(fate.within)) if fate is not None and fate.result is None else ()

    def other_way(self, key: str) -> str:
        """The question before a call that is new, while there is such."""
        left = () if key in self.calls else self.left(key, failed=False)
        return f"{OTHER_WAY} {'; '.join(left[:MAX_TOLD])}." if left else ""


def _unnamed(key: str, fate: CallOutcome) -> bool:
    """Whether calls were made inside it that could not be known again: earlier versions named them at random."""
    message, _, _ = outermost(key).partition(":")
    return any(not is_inside(one) and one.partition(":")[0] == message for one in fate.within)


def _state(fate: CallOutcome) -> str:
    if fate.result is None:
        return "nobody knows whether it was done"
    return "failed" if fate.result.is_error else "done"


def _said(record: EffectRecord) -> ChatMessage | None:
    if not record.value or is_digest(record.value):
        return None  # its thread has it, or nobody goes on with it
    try:
        return message_from_plain(json.loads(record.value))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # the model is asked anew


class Memories:
    """Of the runs at work (``recall.Memory``). ``stop`` ends a run for a reason."""

    def __init__(self, stop: Callable[[str, str], None]) -> None:
        self._stop = stop
        self._runs: dict[str, CallHistory] = {}

    def remember(self, run_id: str, before: CallHistory, roots: Collection[str]) -> None:
        """What is known from before of the calls ``roots``, which this run goes on with, and of those inside."""
        self._runs.setdefault(run_id, CallHistory()).join(before, roots)

    def knows(self, run_id: str) -> bool:
        """Whether this run goes on with anything."""
        return run_id in self._runs

    def forget(self, run_id: str) -> None:
        """It is over."""
        self._runs.pop(run_id, None)

    def recall(self, run_id: str, key: str, spec: ToolSpec) -> RecalledCall | None:
        """Once for each call; None: it is to be made as any other."""
        before = self._runs.get(run_id)
        return before.recall(key, spec) if before is not None else None

    def question(self, run_id: str, key: str, spec: ToolSpec) -> str | None:
        """Of a call of the chat itself, or of a called agent; None: nothing is known of it."""
        before = self._runs.get(run_id)
        return before.question(key, spec) if before is not None and key in before.calls else None

    def same_tool(self, run_id: str, key: str, spec: ToolSpec) -> bool:
        """Whether this call, if it had begun, was allowed with the tool as it is now."""
        before = self._runs.get(run_id)
        return before is not None and key in before.calls and before.same_tool(key, spec)

    def refused(self, run_id: str, key: str) -> tuple[str, ...]:
        """What was done inside this call before, or may have been, that will not be gone on with."""
        before = self._runs.get(run_id)
        return before.refused(key) if before is not None else ()

    def other_way(self, run_id: str, key: str) -> str:
        """What is asked before a new call takes the place of others; "" for most."""
        before = self._runs.get(run_id)
        return before.other_way(key) if before is not None else ""

    def left(self, run_id: str, key: str) -> tuple[str, ...]:
        """What was done inside this call before, or may have been, and was not asked for again."""
        before = self._runs.get(run_id)
        return before.left(key) if before is not None else ()

    def said(self, meta: RunMeta) -> ChatMessage | None:
        """What a model answered before to the request that the call of ``meta`` makes now."""
        before = self._runs.get(meta.run_id) if meta.call else None
        return before.said(meta.call) if before is not None else None

    def stop(self, run_id: str) -> None:
        """The person ends the run instead of saying what became of a call; what is open stays so."""
        self._stop(run_id, STOPPED)

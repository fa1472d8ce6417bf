"""Going on with an answer that the end of the process cut off: what became of its calls, and what is done about them.

The thread has the results that were stored, the journals of its runs what was done besides (``recovery/history.py``).
What is done is not done again; what may have been done is done again only when a person says so; the rest may be done
now.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from desktop.agents.loop.calls import refuse_all
from desktop.agents.loop.loop import MAX_CALLS
from desktop.domain.cancellation import CancellationToken
from desktop.domain.effects import EffectLog, EffectRecord, call_key
from desktop.domain.errors import CancellationError, KnownError, ToolAborted
from desktop.domain.ids import new_id
from desktop.domain.messages import ChatMessage, NoticeBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.permission import NOBODY_ANSWERED
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import changed
from desktop.pipeline.edits import changed_note
from desktop.pipeline.execute import cut
from desktop.pipeline.gates import UNKNOWN as NOT_KNOWN
from desktop.pipeline.pipeline import OUTPUT_LIMIT
from desktop.recovery.effect_journal import EffectJournal
from desktop.recovery.history import UNKNOWN, CallHistory, CallOutcome
from desktop.store import Store

LOOK_FIRST = "It was not made again. Find out whether it was done before you do anything like it."
NOT_MADE = "This call was not made: the run ended before it began. Nobody said no to it."
CUT_OFF = "This call, which only reads, was cut off when Assent ended."
MASKED = "its arguments held a secret, which Assent does not keep."
FIRST = 8
MOST = 200
"""Messages looked at above the end of an answer: a call's results come right below it."""
_log = logging.getLogger(__name__)
_NOT_WHOLE = frozenset({"length", "aborted", "error", "cut", "limit"})
_JUDGED_NOTHING = frozenset({"", "interrupted", "error", "cancelled", "budget", "terminated"})


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The end of an answer. ``calls`` are those of message ``message_id`` that have no result, ``known`` what their
    runs' journals say of them, by call id; ``runs`` those runs, all that came since the message, oldest first; those of
    an agent that was called are its caller's, and not among them. ``before`` is all that these journals say.
    ``refused`` are the results of those that the round loop makes in no case; ``cut``: nobody has judged yet what
    follows from this round."""

    message_id: str
    calls: tuple[ToolCallBlock, ...]
    known: Mapping[str, CallOutcome]
    runs: tuple[str, ...]
    refused: Mapping[str, ToolResultBlock] = field(default_factory=dict)
    cut: bool = False
    before: CallHistory = field(default_factory=CallHistory)

    @property
    def keys(self) -> frozenset[str]:
        """What names these calls in the journals."""
        return frozenset(call_key(self.message_id, call.call_id) for call in self.calls)


class CallMaker(Protocol):
    """Makes calls: the toolbox of a turn."""

    async def run(
        self, call: ToolCallBlock, again: str = "", original: Mapping[str, Any] | None = None, barred: str = ""
    ) -> ToolResultBlock:
        """Through every gate."""
        ...


class ResultRecorder(Protocol):
    """Writes results into the thread of the run that goes on: its recorder. ``message_id`` is the message that they
    stand below."""

    run_id: str
    message_id: str

    async def results_finished(self, results: Sequence[ToolResultBlock], *, executed: bool) -> list[str]:
        """The ids of the messages that were stored, one a result."""
        ...


class Effects(EffectLog, Protocol):
    """Where journals lie, and are forgotten."""

    async def forget(self, run_id: str) -> None:
        """Drop what the effects gave."""
        ...


async def unfinished_above(store: Store, thread_id: str, leaf: str) -> Unfinished | None:
    """What the answer that ends in ``leaf`` has left open; None where it ends with a person."""
    answered: set[str] = set()
    last: MessageRecord | None = None
    async for message in _upwards(store, thread_id, leaf):
        if only_tells(message):
            continue  # an attempt to go on that failed before it came to the calls
        last = last or message
        if message.role == "assistant":
            calls = [b for b in message.blocks if isinstance(b, ToolCallBlock) and b.call_id not in answered]
            return await _left_open(store, thread_id, message, calls, last)
        if message.role == "user":
            return None
        answered.update(block.call_id for block in message.blocks if isinstance(block, ToolResultBlock))
    return None


async def _left_open(
    store: Store, thread_id: str, message: MessageRecord, calls: Sequence[ToolCallBlock], last: MessageRecord
) -> Unfinished:
    """What ``message`` has left open, of which ``calls`` have no result; ``last`` is the end of its answer."""
    since = await _runs_since(store, thread_id, message.run_id)
    runs = list(dict.fromkeys((message.run_id, *(run.run_id for run in since))))
    trees = await store.called.trees(runs)
    before = await _before(store, dict.fromkeys(trees.get(run_id, run_id) for run_id in runs), message)
    known = {c.call_id: f for c in calls if (f := before.calls.get(call_key(message.message_id, c.call_id)))}
    refused = {block.call_id: block for block in _refused(message, calls) if block.call_id not in known}
    own = tuple(run_id for run_id in runs if run_id not in trees)
    cut = bool(calls) or (last.role == "tool" and _was_cut(since, last.run_id))
    return Unfinished(message.message_id, tuple(calls), known, own, refused, cut, before)


async def _before(store: Store, runs: Iterable[str], message: MessageRecord) -> CallHistory:
    """What the journals of these runs say; ``message`` has the calls that are looked at."""
    records: list[EffectRecord] = []
    for run_id in runs:
        records += await store.effects.load(run_id)
    own = [call_key(message.message_id, block.call_id) for block in message.blocks if isinstance(block, ToolCallBlock)]
    callers = dict(await store.called.callers(record.agent for record in records if record.kind == "tool"))
    by = callers.pop(message.message_id, "")
    before = CallHistory.of(records, callers | dict.fromkeys(own, by))
    before.threads = await store.called.known(key for key, fate in before.calls.items() if fate.result is None)
    return before


async def _upwards(store: Store, thread_id: str, leaf: str) -> AsyncIterator[MessageRecord]:
    """``leaf`` and what is above it; read in pieces, for nearly always the first few tell."""
    yield await store.messages.get(message_id=leaf)
    seen, size, before = 1, FIRST, leaf
    while seen < MOST:
        path = await store.messages.path(thread_id=thread_id, before=before, limit=size)
        for message in reversed(path):
            yield message
        if len(path) < size:
            return
        seen, size, before = seen + size, MOST - size, path[0].message_id


def only_tells(message: MessageRecord) -> bool:
    """A message of Assent, in which the model says nothing."""
    return bool(message.blocks) and all(isinstance(block, NoticeBlock) for block in message.blocks)


def _refused(message: MessageRecord, calls: Sequence[ToolCallBlock]) -> list[ToolResultBlock]:
    """Calls that no loop would have made: of an answer that is not whole, or beyond what one message may make."""
    if message.stop_reason in _NOT_WHOLE:
        return refuse_all(calls, "length" if message.stop_reason == "length" else "aborted")
    first = [block.call_id for block in message.blocks if isinstance(block, ToolCallBlock)][:MAX_CALLS]
    return refuse_all([call for call in calls if call.call_id not in first], "many", MAX_CALLS)


def _was_cut(runs: Sequence[RunRecord], run_id: str) -> bool:
    """Whether this run was cut off, and no later one came to judge its last round."""
    ids = [run.run_id for run in runs]
    ends = [run.end_reason for run in runs[ids.index(run_id) :]] if run_id in ids else [""]
    return ends[0] == "interrupted" and _JUDGED_NOTHING.issuperset(ends)


async def _runs_since(store: Store, thread_id: str, run_id: str) -> list[RunRecord]:
    """The run that wrote the message and those that may have gone on with it since, oldest first; of very many the
    latest."""
    found = await store.runs.of_thread(thread_id=thread_id)
    ids = [run.run_id for run in found]
    return (found[: ids.index(run_id) + 1] if run_id in ids else found)[::-1]


async def answer_open_calls(store: Store, thread_id: str, leaf: str) -> str:
    """A person says something else instead of going on: each open call gets as its result what is known of it, and
    none is made. The end of the path, where what they say comes below."""
    left = await unfinished_above(store, thread_id, leaf)
    if left is None or not left.calls:
        return leaf
    asked = await store.messages.get(message_id=left.message_id)
    record = replace(
        asked,
        message_id=new_id(),
        parent_id=leaf,
        role="tool",
        created_at=time.time(),
        status="complete",
        blocks=tuple(
            left.refused.get(call.call_id) or _told(call, left.known.get(call.call_id), left.before)
            for call in left.calls
        ),
        stop_reason=None,
        usage=None,
        elapsed_ms=0,
    )
    await store.messages.add(record=record)
    for run_id in left.runs:
        await conclude(run_id, store.effects)
    return record.message_id


class Settling:
    """Gives each open call its result, in order; each is stored before the next one is made."""

    def __init__(self, left: Unfinished, caller: CallMaker, recorder: ResultRecorder, token: CancellationToken) -> None:
        self._left = left
        self._caller = caller
        self._recorder = recorder
        self._token = token

    async def settle(self, effects: Effects) -> list[ChatMessage]:
        """The results. Raises CancellationError when the person ends the run instead; then what is open stays so."""
        self._recorder.message_id = self._left.message_id
        refused = list(self._left.refused.values())
        found = [await self._result(call) for call in self._left.calls if call.call_id not in self._left.refused]
        if refused:
            stored = await self._recorder.results_finished(refused, executed=False)
            found += [ChatMessage("tool", (one,), source_id=at) for one, at in zip(refused, stored, strict=True)]
        for run_id in self._left.runs:
            if run_id != self._recorder.run_id:
                await conclude(run_id, effects)
        return found

    async def _result(self, call: ToolCallBlock) -> ChatMessage:
        self._token.check()
        fate = self._left.known.get(call.call_id)
        if fate is not None and fate.result is not None:
            return await self._stored(_recorded(call, fate, fate.result), executed=False)
        again = "" if fate is None or fate.repeatable else self._left.before.words(fate)
        block = await self._made(call, fate, again)
        if again and (self._token.cancelled or block.facts.get("by") in NOBODY_ANSWERED):
            self._token.check()
            raise CancellationError("the question was closed without an answer")
        return await self._stored(block, executed=True)

    async def _made(self, call: ToolCallBlock, fate: CallOutcome | None, again: str) -> ToolResultBlock:
        """What had begun is what a person had made of the call; about that they are asked, and that is made."""
        if fate is None or fate.arguments is None:
            return await self._caller.run(call, again)
        edited = replace(call, arguments=fate.arguments, raw="", problem="")
        if fate.masked:
            return await self._caller.run(edited, again or UNKNOWN, call.arguments or {}, MASKED)
        return await self._caller.run(edited, again, call.arguments or {})

    async def _stored(self, block: ToolResultBlock, *, executed: bool) -> ChatMessage:
        (stored,) = await self._recorder.results_finished([block], executed=executed)
        return ChatMessage("tool", (block,), source_id=stored)


def _told(call: ToolCallBlock, fate: CallOutcome | None, before: CallHistory) -> ToolResultBlock:
    """What is known of a call that nobody goes on with."""
    if fate is not None and fate.result is not None:
        return _recorded(call, fate, fate.result)
    if fate is not None and not fate.repeatable:
        unknown = ToolResult(f"{before.words(fate)} {LOOK_FIRST}", is_error=True, code=NOT_KNOWN)
        return _recorded(call, fate, unknown)
    text, facts = (NOT_MADE if fate is None else CUT_OFF), {"state": "aborted", "code": ToolAborted.code}
    return ToolResultBlock(call.call_id, call.tool, text, True, None, facts)


def _recorded(call: ToolCallBlock, fate: CallOutcome, result: ToolResult) -> ToolResultBlock:
    """A result from the journal, as a message has it."""
    state = "done" if not result.is_error else "denied" if result.code.startswith("denied") else "failed"
    state = "unknown" if result.code == NOT_KNOWN else state
    facts = {**result.facts, "state": state, "code": result.code, "elapsed_ms": 0}
    note = ""
    if fate.arguments is not None:
        note = changed_note(call.arguments, fate.arguments)
        facts["edited"] = changed(call.arguments, fate.arguments)
    text = cut(note + result.text, OUTPUT_LIMIT)
    return ToolResultBlock(call.call_id, call.tool, text, result.is_error, result.structured, facts, result.media)


async def conclude(run_id: str, effects: Effects) -> None:
    """Nobody goes on with this run any more: its journal ends, and what it kept for that may go (R-JRN-5)."""
    journal = EffectJournal(run_id, effects)
    await journal.load()
    if journal.ended is None:
        await journal.end("cancelled", "it was cut off")
    await effects.forget(run_id)


async def conclude_settled(store: Store) -> list[str]:
    """At the start of the app: end the journals of runs of earlier starts that there is nothing to go on with, and
    name the runs that are left."""
    left = []
    await store.effects.end_empty()
    for run_id in await store.effects.unfinished():
        try:
            if await _goes_on(store, run_id):
                left.append(run_id)
        except KnownError as error:  # this one stays as it is; the others are no worse for it
            _log.warning("the journal of run %s could not be looked at: %s", run_id, error)
    return left


async def _goes_on(store: Store, run_id: str) -> bool:
    run = await store.runs.get(run_id=run_id)
    if run.ended_at is None:
        return False  # it is at work
    if await _is_cut(store, run.thread_id, run_id):
        return True
    await conclude(run_id, store.effects)
    return False


async def _is_cut(store: Store, thread_id: str, run_id: str) -> bool:
    """Whether the thread ends in what this run began; a debate's goes on below its last turn that counts."""
    turn = await store.debates.left(thread_id=thread_id)
    leaf = turn[-1].message_id if turn else (await store.threads.get(thread_id=thread_id)).active_leaf
    if leaf is None:
        return False
    end = await store.messages.get(message_id=leaf)
    found = await unfinished_above(store, thread_id, leaf)
    if found is None or run_id not in found.runs:
        return False
    return bool(found.calls) or end.role == "tool" or end.status == "interrupted" or bool(turn)

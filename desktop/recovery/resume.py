"""What goes on where: the end of an answer that the end of the process cut off, and the runs that can be gone on with.

The thread has the results that were stored, the journals of its runs what was done besides (``history.py``). The open
calls get their results in ``desktop/services/recovery/settling.py``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import field

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.effects import EffectRecord, call_key
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.recovery.effect_journal import EffectJournal
from desktop.recovery.history import CallHistory
from desktop.recovery.past import NeverBegun, Past
from desktop.store import Store
from desktop.store.journal import EffectRepository

FIRST = 8
MAXIMUM = 200
"""Messages looked at above the end of an answer: a call's results come right below it."""
STEP = 50
_log = logging.getLogger(__name__)
_JUDGED_NOTHING = frozenset({"", "interrupted", "error", "cancelled", "budget", "terminated"})


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The calls at the end of an interrupted answer that have no result."""

    message: MessageRecord
    """The last message of the model, or the person's where the model has said nothing."""
    calls: tuple[ToolCallBlock, ...]
    """Those of its calls that have no result."""
    pasts: Mapping[str, Past]
    """What their runs' journals say of them, by call id."""
    runs: tuple[str, ...]
    """These runs: all that came since the message, oldest first. Those of an agent that was called are its caller's,
    and not among them."""
    began: str = ""
    """The run that began the answer."""
    cut: bool = False
    """Nobody has judged yet what follows from this round."""
    history: CallHistory = field(default_factory=CallHistory)
    """All that these journals say."""

    @property
    def begun(self) -> frozenset[str]:
        """The open calls, by their ids, that an earlier process had begun."""
        return frozenset(call_id for call_id, past in self.pasts.items() if not isinstance(past, NeverBegun))

    @property
    def keys(self) -> frozenset[str]:
        """What names these calls in the journals."""
        return frozenset(call_key(self.message.message_id, call.call_id) for call in self.calls)


async def unfinished_above(store: Store, thread_id: str, leaf: str) -> Unfinished | None:
    """What the answer that ends in ``leaf`` has left open; None where it ends with a person, and no run was cut off
    that was to answer them."""
    answered: set[str] = set()
    last: MessageRecord | None = None
    async for message in _upwards(store, thread_id, leaf):
        if only_tells(message):
            continue  # an attempt to go on that failed before it came to the calls
        if message.role == "user" and message.run_id:
            continue  # said while the agent was at work: a part of its answer
        last = last or message
        if message.role == "assistant":
            calls = [b for b in message.blocks if isinstance(b, ToolCallBlock) and b.call_id not in answered]
            return await _left_open(store, thread_id, message, calls, last)
        if message.role == "user":
            return await _before_first_word(store, thread_id, message)
        answered.update(block.call_id for block in message.blocks if isinstance(block, ToolResultBlock))
    return None


async def _before_first_word(store: Store, thread_id: str, asked: MessageRecord) -> Unfinished | None:
    """What was left open by runs that were cut off before the model had said anything to ``asked``: the middleware
    around its turn is at work before it."""
    below = await store.messages.children(thread_id=thread_id, message_id=asked.message_id)
    spoke = {message.run_id for message in below if message.role == "assistant" and not only_tells(message)}
    runs = (await store.runs.of_thread(thread_id=thread_id))[::-1]
    silent = [run for run in runs if run.below == asked.message_id and run.run_id not in spoke]
    return await _open_since(store, asked, runs, silent)


async def cut_turn(store: Store, thread_id: str, above: str) -> Unfinished | None:
    """The same of a debate's turn, of which nothing stands below the message ``above``: the runs of a debate go on with
    each other."""
    runs = (await store.runs.of_thread(thread_id=thread_id))[::-1]
    turns = [run for run in runs if run.below == thread_id]
    if not turns or turns[-1].end_reason != "interrupted":
        return None
    return await _open_since(store, await store.messages.get(message_id=above), runs, turns)


async def _open_since(
    store: Store, above: MessageRecord, runs: Sequence[RunRecord], attempts: Sequence[RunRecord]
) -> Unfinished | None:
    """What ``attempts``, some of these ``runs``, left open without a word below the message ``above``."""
    began = _first_cut(attempts)
    if not began:
        return None
    since = runs[[run.run_id for run in runs].index(began) :]
    trees = await store.called.trees([run.run_id for run in since])
    history = await _history(store, dict.fromkeys(trees.get(run.run_id, run.run_id) for run in since), above, began)
    own = tuple(run.run_id for run in attempts if run in since and run.run_id not in trees)
    return Unfinished(above, (), {}, own, began, history=history)


def _first_cut(attempts: Sequence[RunRecord]) -> str:
    """Of runs below one message, the oldest first, the one that began what the last of them went on with; "" where none
    of these was cut off."""
    together: list[RunRecord] = []
    for run in reversed(attempts):
        together.append(run)
        if not run.goes_on:
            break
    return next((run.run_id for run in reversed(together) if run.end_reason == "interrupted"), "")


async def _left_open(
    store: Store, thread_id: str, message: MessageRecord, calls: Sequence[ToolCallBlock], last: MessageRecord
) -> Unfinished:
    """What ``message`` has left open, of which ``calls`` have no result; ``last`` is the end of its answer."""
    began = await _began(store, message)
    whole = await _runs_since(store, thread_id, began)
    ids = [run.run_id for run in whole]
    since = whole[ids.index(message.run_id) :] if message.run_id in ids else whole
    runs = list(dict.fromkeys((message.run_id, *(run.run_id for run in since))))
    logs = list(dict.fromkeys((began, *ids, *runs)))
    trees = await store.called.trees(logs)
    history = await _history(store, dict.fromkeys(trees.get(run_id, run_id) for run_id in logs), message, began)
    pasts = {c.call_id: history.past(call_key(message.message_id, c.call_id), c.arguments) for c in calls}
    own = tuple(run_id for run_id in runs if run_id not in trees)
    cut = bool(calls) or (last.role == "tool" and _was_cut(since, last.run_id))
    return Unfinished(message, tuple(calls), pasts, own, began, cut, history)


async def _began(store: Store, message: MessageRecord) -> str:
    """The run that began the answer of which this is a message: what a person said while it was made has a run, too,
    and runs before it may have been cut off without a word."""
    first = await _spoke_first(store, message)
    runs = (await store.runs.of_thread(thread_id=message.thread_id))[::-1]
    own = next((run for run in runs if run.run_id == first), None)
    if own is None or not own.goes_on:
        return first
    return _first_cut([run for run in runs[: runs.index(own) + 1] if run.below == own.below]) or first


async def _spoke_first(store: Store, message: MessageRecord) -> str:
    """The run with the first message of this answer."""
    began = first = message
    while True:
        above = await store.messages.path(thread_id=message.thread_id, before=first.message_id, limit=STEP)
        for one in reversed(above):
            if one.role == "user" and one.run_id:
                continue
            if one.role == "user" or (one.author, one.side) != (message.author, message.side):
                return began.run_id
            began = one if one.run_id else began
        if len(above) < STEP:
            return began.run_id
        first = above[0]


async def _history(store: Store, runs: Iterable[str], message: MessageRecord, began: str) -> CallHistory:
    """What the journals of these runs say; ``message`` has the calls that are looked at, and what stands around the
    answer is named by the run that ``began`` it."""
    records: list[EffectRecord] = []
    for run_id in runs:
        records += await store.effects.load(run_id)
    own = [call_key(message.message_id, block.call_id) for block in message.blocks if isinstance(block, ToolCallBlock)]
    callers = dict(await store.called.callers(record.agent for record in records if record.kind == "tool"))
    by = callers.pop(message.message_id, "")
    history = CallHistory.of(records, callers | dict.fromkeys((*own, began), by))
    history.threads = await store.called.known(key for key, outcome in history.calls.items() if outcome.result is None)
    return history


async def _upwards(store: Store, thread_id: str, leaf: str) -> AsyncIterator[MessageRecord]:
    """``leaf`` and what is above it; read in pieces, for nearly always the first few tell."""
    yield await store.messages.get(message_id=leaf)
    seen, size, before = 1, FIRST, leaf
    while seen < MAXIMUM:
        path = await store.messages.path(thread_id=thread_id, before=before, limit=size)
        for message in reversed(path):
            yield message
        if len(path) < size:
            return
        seen, size, before = seen + size, MAXIMUM - size, path[0].message_id


def only_tells(message: MessageRecord) -> bool:
    """A message of Assent, in which the model says nothing."""
    return bool(message.blocks) and all(isinstance(block, NoticeBlock) for block in message.blocks)


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


async def conclude(run_id: str, effects: EffectRepository) -> None:
    """End the journal of a run that nobody goes on with, so that what it kept may be deleted (R-JRN-5)."""
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
    silent_turn = await cut_turn(store, thread_id, leaf)
    if silent_turn is not None and run_id in silent_turn.runs:
        return True
    end = await store.messages.get(message_id=leaf)
    found = await unfinished_above(store, thread_id, leaf)
    if found is None or run_id not in found.runs:
        return False
    silent = found.message.role == "user" or end.role in ("tool", "user")
    return bool(found.calls) or silent or end.status == "interrupted" or bool(turn)

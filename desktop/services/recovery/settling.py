"""Going on with an answer that the end of the process cut off: each of its open calls gets its result.

What is done is not done again; what may have been done is done again only when a person says so; the rest may be done
now. What is known of the calls, and which are open, says ``desktop/recovery/resume.py``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from desktop.agents.loop.calls import refuse_all
from desktop.agents.loop.rounds import MAX_CALLS
from desktop.domain.approval.permission import NOBODY_ANSWERED
from desktop.domain.errors import CancellationError, ToolAborted
from desktop.domain.ids import new_id
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.text.outside import OUTSIDE
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import changed
from desktop.pipeline.edits import changed_note
from desktop.pipeline.execute import cut
from desktop.pipeline.pipeline import OUTPUT_LIMIT
from desktop.recovery.past import (
    NEVER_BEGUN,
    OUTCOME_UNKNOWN,
    OUTCOME_UNKNOWN_STATE,
    Done,
    InProgress,
    NeverBegun,
    Past,
    Unknown,
    edited_of,
    question_of,
)
from desktop.recovery.resume import Unfinished, conclude, unfinished_above
from desktop.recovery.words import CUT_OFF, LOOK_FIRST, NOBODY_KNOWS, NOT_MADE
from desktop.store import Store
from desktop.store.journal import EffectRepository

_NOT_WHOLE = frozenset({"length", "aborted", "error", "cut", "limit"})


class CallMaker(Protocol):
    """Makes calls: the toolbox of a turn."""

    async def run(self, call: ToolCallBlock, past: Past = NEVER_BEGUN) -> ToolResultBlock:
        """Make a call through every gate."""
        ...


class ResultRecorder(Protocol):
    """Writes results into the thread of the run that goes on: its recorder. ``message_id`` is the message that they
    stand below."""

    run_id: str
    message_id: str

    async def results_finished(self, results: Sequence[ToolResultBlock], *, executed: bool) -> list[str]:
        """The ids of the messages that were stored, one a result."""
        ...


async def answer_open_calls(store: Store, thread_id: str, leaf: str) -> str:
    """A person says something else instead of going on: each open call gets as its result what is known of it, and
    none is made. The end of the path, where what they say comes below."""
    left = await unfinished_above(store, thread_id, leaf)
    if left is None or not left.calls:
        return leaf
    refused = _refused(left)
    record = replace(
        left.message,
        message_id=new_id(),
        parent_id=leaf,
        role="tool",
        created_at=time.time(),
        status="complete",
        blocks=tuple(refused.get(call.call_id) or _told(call, left.pasts[call.call_id]) for call in left.calls),
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

    async def settle(self, effects: EffectRepository) -> list[ChatMessage]:
        """Settle the open calls and return their results. Raises CancellationError when the person ends the run
        instead; then they stay open."""
        self._recorder.message_id = self._left.message.message_id
        refused = _refused(self._left)
        found = [await self._result(call) for call in self._left.calls if call.call_id not in refused]
        if refused:
            blocks = list(refused.values())
            stored = await self._recorder.results_finished(blocks, executed=False)
            found += [ChatMessage("tool", (one,), source_id=at) for one, at in zip(blocks, stored, strict=True)]
        for run_id in self._left.runs:
            if run_id != self._recorder.run_id:
                await conclude(run_id, effects)
        return found

    async def _result(self, call: ToolCallBlock) -> ChatMessage:
        self._token.check()
        past = self._left.pasts[call.call_id]
        if isinstance(past, Done):
            return await self._stored(_recorded(call, past, past.result), executed=False)
        block = await self._made(call, past)
        if question_of(past) and (self._token.cancelled or block.facts.get("by") in NOBODY_ANSWERED):
            self._token.check()
            raise CancellationError("the question was closed without an answer")
        return await self._stored(block, executed=True)

    async def _made(self, call: ToolCallBlock, past: Past) -> ToolResultBlock:
        """What had begun is what a person had made of the call; about that they are asked, and that is made."""
        edited = edited_of(past)
        if edited is not None:
            call = replace(call, arguments=edited.made, raw="", problem="")
        if isinstance(past, InProgress) and past.unrepeatable:  # nobody can look at it again: its tool may be gone
            past = Unknown(NOBODY_KNOWS, past.edited, past.unrepeatable, past.inside)
        return await self._caller.run(call, past)

    async def _stored(self, block: ToolResultBlock, *, executed: bool) -> ChatMessage:
        (stored,) = await self._recorder.results_finished([block], executed=executed)
        return ChatMessage("tool", (block,), source_id=stored)


def _refused(left: Unfinished) -> Mapping[str, ToolResultBlock]:
    """The results of open calls that no loop would have made: of an answer that is not whole, or beyond what one
    message may make."""
    message, calls = left.message, [call for call in left.calls if call.call_id not in left.begun]
    if message.stop_reason in _NOT_WHOLE:
        refused = refuse_all(calls, "length" if message.stop_reason == "length" else "aborted")
    else:
        first = [block.call_id for block in message.blocks if isinstance(block, ToolCallBlock)][:MAX_CALLS]
        refused = refuse_all([call for call in calls if call.call_id not in first], "many", MAX_CALLS)
    return {block.call_id: block for block in refused}


def _told(call: ToolCallBlock, past: Past) -> ToolResultBlock:
    """What is known of a call that nobody goes on with."""
    if isinstance(past, Done):
        return _recorded(call, past, past.result)
    if isinstance(past, Unknown):
        unknown = ToolResult(f"{past.question} {LOOK_FIRST}", is_error=True, code=OUTCOME_UNKNOWN)
        return _recorded(call, past, unknown)
    text = NOT_MADE if isinstance(past, NeverBegun) else CUT_OFF
    facts = {"state": "aborted", "code": ToolAborted.code}
    return ToolResultBlock(call.call_id, call.tool, text, True, None, facts)


def _recorded(call: ToolCallBlock, past: Done | Unknown, result: ToolResult) -> ToolResultBlock:
    """A result from the journal, as a message has it."""
    state = "done" if not result.is_error else "denied" if result.code.startswith("denied") else "failed"
    state = OUTCOME_UNKNOWN_STATE if result.code == OUTCOME_UNKNOWN else state
    facts = {**result.facts, "state": state, "code": result.code, "elapsed_ms": 0}
    facts |= {OUTSIDE: list(result.outside)} if result.outside else {}
    note = ""
    if past.edited is not None:
        note = changed_note(call.arguments, past.edited.made)
        facts["edited"] = changed(call.arguments, past.edited.made)
    text = cut(note + result.text, OUTPUT_LIMIT)
    return ToolResultBlock(call.call_id, call.tool, text, result.is_error, result.structured, facts, result.media)

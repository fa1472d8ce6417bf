"""The tool calls of one message: one after another, or side by side where that is safe (R-LOOP-12)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from desktop.agents.loop.events import ToolRunner
from desktop.domain.errors import first_of
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.cancellation import CancellationToken

MAX_PARALLEL = 8

_WORDS = {
    "aborted": ("Operation aborted", "tool.aborted", "aborted"),
    "length": (
        "Not executed: the answer was cut at the output limit, so these arguments may be incomplete. Issue the call "
        "again, with less in it.",
        "tool.cut",
        "failed",
    ),
    "many": (
        "Not executed: one message may make at most {limit} calls. Make the remaining ones in later messages.",
        "denied.limit",
        "denied",
    ),
}

Keep = Callable[[Sequence[ToolResultBlock]], Awaitable[None]]


def refuse_all(calls: Sequence[ToolCallBlock], why: str, limit: int = 0) -> list[ToolResultBlock]:
    """An error result for each call that is not executed: ``aborted`` (R-LOOP-10), ``length`` (R-LOOP-11), ``many``."""
    words, code, state = _WORDS[why]
    text = words.format(limit=limit)
    facts = {"state": state, "code": code, "elapsed_ms": 0}
    return [ToolResultBlock(call.call_id, call.tool, text, True, None, facts) for call in calls]


async def call_all(
    calls: Sequence[ToolCallBlock], tools: ToolRunner, token: CancellationToken, keep: Keep, refused: Keep
) -> None:
    """Make ``calls`` and hand each result to ``keep`` in call order; after an abort the rest goes to ``refused``."""
    if len(calls) > 1 and not token.cancelled and all(tools.parallel(call) for call in calls):
        await keep(await _side_by_side(calls, tools))
        return
    for position, call in enumerate(calls):
        if token.cancelled:
            await refused(refuse_all(calls[position:], "aborted"))
            return
        await keep([await tools.run(call)])


async def _side_by_side(calls: Sequence[ToolCallBlock], tools: ToolRunner) -> list[ToolResultBlock]:
    room = asyncio.Semaphore(MAX_PARALLEL)

    async def one(call: ToolCallBlock) -> ToolResultBlock:
        async with room:
            return await tools.run(call)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in calls]
    except BaseExceptionGroup as broken:
        raise first_of(broken) from None
    return [task.result() for task in tasks]

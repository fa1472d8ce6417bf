"""Calls that may have been done before, of which nobody has said whether they were: none like them is made unasked.

A model that hears that nobody knows may just try again, and a person may want another answer instead of going on; a
rule or a setting that allows the call knows nothing of the first one (issue 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.store import Store
from desktop.supervision.call_journal import fates
from desktop.supervision.effect_values import digest_of

UNKNOWN = "unknown"
"""The state of a result that does not say whether its call was done."""
LATEST = 20
"""Runs of a thread whose journals are looked at, if the end of the process cut them off."""


async def doubts(
    store: Store, thread_id: str, messages: Iterable[ChatMessage], settled: Collection[str]
) -> frozenset[str]:
    """Digests of such calls: of those that ``messages`` hold, and of those in journals that have no end, as of another
    branch; but for the runs that are ``settled``."""
    found = in_messages(messages)
    for run in await store.runs.of_thread(thread_id=thread_id, limit=LATEST):
        if run.end_reason != "interrupted" or run.run_id in settled:
            continue
        records = await store.effects.load(run.run_id)
        if any(record.kind == "end" for record in records):
            continue
        known = fates(records)
        for record in records:
            if record.kind == "tool" and record.phase == "begun" and record.summary:
                found |= {record.digest} if known[record.agent].result is None else set()
    return frozenset(found)


def in_messages(messages: Iterable[ChatMessage]) -> set[str]:
    """Digests of calls of which these do not say whether they were done."""
    blocks = [block for message in messages for block in message.blocks]
    if not any(isinstance(block, ToolResultBlock) and block.facts.get("state") == UNKNOWN for block in blocks):
        return set()
    asked: dict[str, ToolCallBlock] = {}
    found: set[str] = set()
    for block in blocks:
        if isinstance(block, ToolCallBlock):
            asked[block.call_id] = block
        elif isinstance(block, ToolResultBlock) and (call := asked.get(block.call_id)) is not None:
            edited = {**(call.arguments or {}), **(block.facts.get("edited") or {})}
            keys = {digest_of(call.tool, call.arguments), digest_of(call.tool, edited)}
            found = found | keys if block.facts.get("state") == UNKNOWN else found - keys
    return found

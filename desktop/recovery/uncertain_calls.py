"""Calls that may have been done before, of which nobody has said whether they were: none like them is made unasked.

A model that hears that nobody knows may just try again, itself or by code or through another agent, and a person may
want another answer instead of going on; a rule or a setting that allows the call knows nothing of the first one.
So these are looked for in the whole conversation, and the pipeline compares each call with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.call_keys import is_inside
from desktop.recovery.effect_values import digest_of
from desktop.store import Store
from desktop.store.uncertain_calls import CallLine

UNKNOWN_STATE = "unknown"
"""The state of a result that does not say whether its call was done."""


class UncertainDigests:
    """Digests of such calls (``UncertainCalls`` of the domain)."""

    def __init__(self, found: Iterable[str] = ()) -> None:
        self.found = set(found)

    def has(self, tool: str, arguments: Mapping[str, Any] | None) -> bool:
        """Whether a call of this tool with these arguments is uncertain."""
        return bool(self.found) and digest_of(tool, arguments) in self.found

    def answered(self, tool: str, arguments: Mapping[str, Any] | None, *, unknown: bool) -> None:
        """Note whether the outcome of a call is still unknown, after a person was asked."""
        (self.found.add if unknown else self.found.discard)(digest_of(tool, arguments))


async def find_uncertain(store: Store, thread_id: str, messages: Iterable[ChatMessage]) -> UncertainDigests:
    """The digests of uncertain calls in ``messages`` and in the logs of the conversation: of all its branches, and of
    the agents that worked in it."""
    return UncertainDigests(in_messages(messages) | in_logs(await store.uncertain_calls.lines(thread_id)))


def in_logs(lines: Iterable[CallLine]) -> set[str]:
    """Digests of calls that had begun in a run which was cut off, and neither came to an outcome there nor, the same
    ones or such as are just like them, in a later one."""
    found: dict[str, tuple[str, str]] = {}
    begun: set[tuple[str, str]] = set()
    for line in lines:
        made = (line.run_id, line.key) in begun
        if line.phase == "begun":
            begun.add((line.run_id, line.key))
            if line.cut_off and line.summary:
                found[line.key] = (line.digest, line.run_id)
        elif line.phase == "completed" and (made or not is_inside(line.key)):  # an inner one was settled: done, or not
            found.pop(line.key, None)
            alike = [key for key, one in found.items() if one[0] == line.digest and one[1] != line.run_id]
            for key in alike:
                del found[key]
        elif line.phase == "failed" and made:
            found.pop(line.key, None)
    return {digest for digest, _ in found.values()}


def in_messages(messages: Iterable[ChatMessage]) -> set[str]:
    """Digests of calls of which these do not say whether they were done, by the tool's own name as far as it can be
    told."""
    blocks = [block for message in messages for block in message.blocks]
    if not any(isinstance(block, ToolResultBlock) and block.facts.get("state") == UNKNOWN_STATE for block in blocks):
        return set()
    asked: dict[str, ToolCallBlock] = {}
    found: set[str] = set()
    for block in blocks:
        if isinstance(block, ToolCallBlock):
            asked[block.call_id] = block
        elif isinstance(block, ToolResultBlock) and (call := asked.get(block.call_id)) is not None:
            edited = {**(call.arguments or {}), **(block.facts.get("edited") or {})}
            names = {call.tool, call.tool.replace("_", "-")}
            keys = {digest_of(name, arguments) for name in names for arguments in (call.arguments, edited)}
            found = found | keys if block.facts.get("state") == UNKNOWN_STATE else found - keys
    return found

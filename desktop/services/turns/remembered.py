"""What the agent of a turn reads of what was said before it, as its prompt's skill says (R-CTX-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.agents.skill.discovery import provider_call
from desktop.agents.skill.history import CallSkill, SkillHistory
from desktop.agents.skill.settings import NO_HISTORY, THREAD
from desktop.agents.turn import TurnInput
from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import ChatMessage, ToolCallBlock
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.results import value_of
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.spec import ResolvedSide


def named_skills(runtime: Runtime, side: ResolvedSide, root: Invocation) -> CallSkill:
    """Calls skills that the prompt's skill names, under the list by which its provider is called."""

    async def call(name: str, args: Mapping[str, Any]) -> Any:
        caller = Caller("skill", side.caller.chain, provider_call(side.allowed, side.allowed, None))
        block = ToolCallBlock(new_id(), name, dict(args))
        asked = CallRequest(block, caller, root, runtime.bus.publish, counted=False)
        return value_of((await runtime.pipeline.invoke(asked)).result)

    return call


async def remembered(
    runtime: Runtime, side: ResolvedSide, root: Invocation, given: TurnInput, messages: Sequence[ChatMessage]
) -> tuple[TurnInput, Sequence[ChatMessage]]:
    """The input of the turn, and its messages after what ``model.history`` puts before them. Raises ToolFailure for a
    history that is none."""
    history = side.settings.history
    if history == THREAD:
        return given, messages
    begun = next((at for at, one in enumerate(messages) if one.source_id and one.source_id == given.task), None)
    own = messages[begun:] if begun is not None else messages[-1:]
    before: Sequence[ChatMessage] = ()
    if history != NO_HISTORY and own:
        provider = SkillHistory(history, named_skills(runtime, side, root), own[0].text)
        before = await provider.read(AgentId(side.spec.agent, side.spec.side), root.meta.thread_id)
    return replace(given, earlier=None, keeper=None), [*before, *own]

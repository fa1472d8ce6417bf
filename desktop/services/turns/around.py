"""The middleware keys of a prompt around the turn of its agent, as around a call of that skill (D-10).

The layers are skills and work in tasks of their own. The turn is taken in the task of whoever asked for it: it ends in
its own way, with what it has said in its thread, when a layer stops it, and always before the layers are over.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from desktop.agents.loop.events import LoopEnd, LoopResult
from desktop.agents.skill.result_contract import ResultContract
from desktop.agents.turn import TurnInput, after_failure
from desktop.domain.errors import AssentError, CancellationError, KnownError, ToolAborted, ValidationFailure, first_of
from desktop.domain.ids import new_id
from desktop.domain.messages import (
    Block,
    ChatMessage,
    MediaBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
    to_plain,
)
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallContext, CallRequest, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.results import value_of
from desktop.pipeline.skill_tool import SkillTool
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.side_result import SideResult, content_of
from desktop.services.turns.spec import ResolvedSide

STOPPED_BY_LAYER = "middleware of its prompt stopped it"

Take = Callable[[CancellationToken, TurnInput, bool], Awaitable[SideResult]]
"""Takes the turn, which ends when the token is cancelled, or takes it again (True)."""


class TurnLayers:
    """The layers around one turn of ``side``; ``call`` is what they serve."""

    def __init__(
        self, pipeline: Pipeline, side: ResolvedSide, call: CallContext, contract: ResultContract, recorder: RunRecorder
    ) -> None:
        self._pipeline = pipeline
        self._side = side
        self._call = call
        self._contract = contract
        self._recorder = recorder
        self._news = asyncio.Event()
        self._asked: asyncio.Future[ToolResult] | None = None
        self._stop: Callable[[str], object] = lambda _reason: None
        self._taken: SideResult | None = None
        self._made: ToolResult | None = None
        self._error: AssentError | None = None
        self._refused: AssentError | None = None

    async def around(self, given: TurnInput, take: Take) -> SideResult:
        """The turn within its layers. One that a layer has taken again goes on where the last one failed: what that
        said and did stands in the thread. Raises what the turn raises, and CancellationError."""
        try:
            async with asyncio.TaskGroup() as group:
                layers = group.create_task(self._layers(), name=f"middleware of {self._call.tool}")
                layers.add_done_callback(lambda _task: self._news.set())
                while not layers.done():
                    await self._news.wait()
                    self._news.clear()
                    await self._work(given, take)
        except BaseExceptionGroup as failed:
            raise first_of(failed) from None
        refused, error, taken = self._refused, self._error, self._taken
        if refused is None:
            return await self._answered(given)
        if error is not None and _code(refused) == _code(error):  # the turn's own failure, handed on
            if taken is not None:
                return taken
            raise error
        self._call.meta.cancellation.check()
        return self._ended(given, "error", error=refused)

    async def _layers(self) -> None:
        try:
            await self._pipeline.around(self._call, self._advance)
        except AssentError as error:
            self._refused = error

    async def _advance(self) -> None:
        """In the innermost layer's task: have the turn taken, and wait for it."""
        asked = self._asked = asyncio.get_running_loop().create_future()
        self._news.set()
        try:
            self._call.result = await asked
        except asyncio.CancelledError:
            self._stop(STOPPED_BY_LAYER)
            raise

    async def _work(self, given: TurnInput, take: Take) -> None:
        """Do the turn inside the layers, in the task of whoever asked for it."""
        asked, self._asked = self._asked, None
        if asked is None or asked.done():
            return
        if self._error is not None and self._taken is None:  # it did not come so far that it can be taken again
            asked.set_exception(self._error)
            return
        before, token = self._taken, self._call.meta.cancellation.child()
        self._stop, self._taken, self._made, self._error = token.cancel, None, None, None
        try:
            left = given if before is None else after_failure(given, before.loop)
            self._taken = await take(token, left, before is not None)
            self._made = content_of(self._taken)
        except (KnownError, CancellationError) as error:
            self._error = error
            if not asked.done():
                asked.set_exception(error)
        else:
            if not asked.done():
                asked.set_result(self._made)
        finally:
            token.detach()

    async def _answered(self, given: TurnInput) -> SideResult:
        """The turn as it was, or what a layer gave in its place or made of it: that stands in the thread, too."""
        content, made, taken = self._call.result, self._made, self._taken
        same = content is made or (content is not None and made is not None and _alike(content, made))
        if taken is not None and same:
            return taken
        empty = content is None or content.facts.get("empty") is True
        text = "" if content is None or empty else content.text
        value = None if content is None or empty else value_of(content)
        message = ChatMessage("assistant", (TextBlock(text),) if text else (), "end")
        await self._recorder.round_started(taken.loop.rounds + 1 if taken is not None else 1)
        stored = await self._recorder.message_finished(message)
        own = taken is not None and taken.loop.error is None  # how it ended stays so, whatever is made of its text
        end = taken.loop.end if taken is not None and own else "response"
        result = self._ended(given, end, replace(message, source_id=stored))
        if self._contract.declared is None:
            return replace(result, by=taken.by, value=value) if taken is not None else result
        try:
            await self._contract.declared.check(value)
        except ValidationFailure:
            return replace(result, unmet=self._contract.unmet)
        return replace(result, by="stop_tool", value=value)

    def _ended(
        self, given: TurnInput, end: LoopEnd, *said: ChatMessage, error: AssentError | None = None
    ) -> SideResult:
        loop = self._taken.loop if self._taken is not None else LoopResult([*given.messages], "response", 0, Usage())
        limit = self._taken.limit if self._taken is not None else self._side.spec.usual_rounds
        at = loop.limit if end == loop.end else None
        ended = LoopResult([*loop.messages, *said], end, loop.rounds, loop.usage, error, at)
        return SideResult(ended, limit, handed=self._taken is not None and self._taken.handed)


def _code(error: AssentError | None) -> str:
    """What a failure is known by when it has gone through a call."""
    if isinstance(error, KnownError):
        return error.code
    return ToolAborted.code if isinstance(error, CancellationError) else "bug"


async def served_call(
    runtime: Runtime, side: ResolvedSide, root: Invocation, messages: Sequence[ChatMessage]
) -> CallContext:
    """A turn as middleware sees a call of the prompt's skill: its arguments are those of the call that the agent works
    for, else the message; the conversation counts as said beside them. Raises ConfigurationError for a cascade that
    cannot be made for them."""
    message = next((one.text for one in reversed(messages) if one.role == "user"), "")
    arguments = root.history[-1].arguments if root.history else {"message": message}
    cascade = await runtime.skills.cascade(side.skill, arguments) if side.cascade.volatile else side.cascade
    tool = SkillTool(side.skill, runtime.skills.runs)
    spec = replace(tool.spec, timeout_s=math.inf)  # a turn has no limit of time but those of its run
    chain = side.caller.chain
    above = chain[:-1] if chain[-1:] == (side.skill.name,) else chain
    caller = Caller("native", above, side.allowed)
    block = ToolCallBlock(new_id(), side.skill.name, arguments)
    heavy = any(_has_media(block) for one in messages for block in one.blocks)
    said = await asyncio.to_thread(conversation, messages) if heavy else conversation(messages)
    return CallContext(
        meta=root.meta,
        tool=side.skill.name,
        arguments=arguments,
        definition=spec,
        request=CallRequest(block, caller, root, runtime.bus.publish, said=said),
        target=tool,
        invocation=root,
        frozen=arguments,
        cascade=cascade,
        own=side.caller,
    )


def conversation(messages: Sequence[ChatMessage]) -> str:
    """All that was said. Pictures and sounds, also of results, stand by their digest: they are megabytes, and nobody
    reads them here."""
    plain = [[one.role, [to_plain(_by_digest(block)) for block in one.blocks]] for one in messages]
    return json.dumps(plain, default=str)


def _has_media(block: Block) -> bool:
    return isinstance(block, MediaBlock) or (isinstance(block, ToolResultBlock) and bool(block.media))


def _by_digest(block: Block) -> Block:
    if isinstance(block, MediaBlock):
        return _short(block)
    if isinstance(block, ToolResultBlock) and block.media:
        return replace(block, media=tuple(map(_short, block.media)))
    return block


def _short(one: MediaBlock) -> MediaBlock:
    return replace(one, data=hashlib.sha256(one.data.encode()).hexdigest())


def _alike(one: ToolResult, other: ToolResult) -> bool:
    """Whether a layer that handed a result on changed nothing: what comes back from another process is a copy."""
    return (one.text, one.structured) == (other.text, other.structured)

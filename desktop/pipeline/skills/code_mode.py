"""Code that a model wrote, as a call like any other: gated itself as reading, and every call that it
makes gated by its own category (R-TOOL-9, R-COD-6).

The code runs in a session of the sandbox; what it asks for comes back here and goes through the pipeline in the
agent's name, by plain names only (R-COD-7).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.code import CodeCall, CodeLimits, CodeOutcome, CodeSession, held_words, lines_of
from desktop.domain.errors import BugError, Denied, KnownError
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.pipeline.context import CallContext, CodePlace
from desktop.pipeline.execute import cut
from desktop.pipeline.names import Caller
from desktop.pipeline.skill_context import Context, Envelope, ServedContext
from desktop.pipeline.skills.manager import Invoker, Manager
from desktop.pipeline.skills.run import context_of

INVOKE = "invoke"
FINISH = "finish"
MAX_LINE = 200
NOTICE = 200
"""Bytes kept for the words that something was cut."""
PARAMS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "JavaScript: the body of an async function."}},
    "required": ["code"],
    "additionalProperties": False,
}
_LOST = "The process that ran your code before was ended: what it kept in memory is gone."

Finish = Callable[[Any], Awaitable[Any]]
"""Records the agent's value. Raises ValidationFailure when it is not what was promised (R-COD-13)."""


class CodeTool:
    """One for each agent: runs code in its session. ``caller`` is the agent, with origin ``code``.

    ``served`` is what the agent works for: ``next`` goes on with what it serves (R-AG-13); ``target`` is its context:
    ``fail`` ends that; ``natively`` takes the arguments of the tool ``finish`` and gives the value, for code that calls
    it by its name (None: nothing is promised, and there is no such tool). ``task`` is what the code finds as ``args``:
    the arguments that the agent was called with (R-COD-3).
    """

    def __init__(
        self,
        name: str,
        session: CodeSession,
        pipeline: Invoker,
        caller: Caller,
        finish: Finish,
        *,
        served: ServedContext | None = None,
        target: Context | None = None,
        limits: CodeLimits | None = None,
        natively: Finish | None = None,
        task: Mapping[str, Any] | None = None,
    ) -> None:
        self._limits = limits or CodeLimits()
        self.spec = ToolSpec(
            name,
            "Runs JavaScript that calls tools.",
            PARAMS,
            Category.READ,
            alias=INVOKE,
            visibility="hidden",
            source="program",
            timeout_s=self._limits.wall_s,
            nests="calls",
            gives="calls",
        )
        self._session = session
        self._pipeline = pipeline
        self._caller = caller
        self._finish = finish
        self._natively = natively
        self._task = dict(task or {})
        self._served = served
        self._target = target
        self._over = False
        self._value: Any = None
        self._refused = ""
        self._finishing = asyncio.Lock()

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Running code is reading; what it does is asked about when it does it."""
        shown = held_words(held=await self._session.held())
        return PreCheck(Category.READ, preview={"kind": "code", "language": "javascript", **shown})

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the code; an error in it becomes the result (R-COD-12)."""
        call = context.scope
        if not isinstance(call, CallContext):
            raise BugError("code was run outside the pipeline")
        code, before, self._refused = str(args["code"]), self._over, ""
        outcome = await self._session.run(code, self._server(call, code), args=self._task)
        failed = call.failure
        if failed is not None:
            raise failed
        return self._result(outcome, finished=outcome.finished or (self._over and not before))

    def _server(self, call: CallContext, code: str) -> Callable[[CodeCall], Awaitable[Any]]:
        """What answers the code's requests, for this one piece of it."""
        ctx = context_of(call)
        ctx.locals["internals"] = {"untrustedRef": True}
        manager = Manager(self._pipeline, call, self._caller, self._served, default_timeout_s=self._limits.nested_s)
        manager.context = ctx
        envelope = ctx.envelope
        ctx.bind(Envelope(envelope.id, self._target or ctx, envelope.parent, envelope.signal), manager)
        ctx.accept = self._finish_once
        call.invocation.view = call.context = ctx
        lines, made = lines_of(code), [0]

        async def serve(asked: CodeCall) -> Any:
            if self._over:
                raise Denied("There is a result already; nothing more is done.", code="denied.finished")
            if asked.op == "invoke" and asked.ref == FINISH and self._natively is not None:
                await self._finish_once(asked.args or {}, self._natively)
                return None
            if asked.op == "invoke":
                made[0] += 1
                if made[0] > self._limits.calls:
                    raise Denied(f"One piece of code makes at most {self._limits.calls} calls.", code="denied.limit")
                return await manager.invoke(asked.ref, asked.args, asked.options, place=_place(lines, asked.line))
            if asked.op == "finish":
                await self._finish_once(asked.value)
                return None
            if asked.op == "fail":
                manager.fail(str(asked.value))
            return await manager.next()

        return serve

    async def _finish_once(self, value: Any, by: Finish | None = None) -> None:
        """The first value that is accepted; those that come meanwhile wait for that."""
        async with self._finishing:
            if self._over:
                raise Denied("There is a result already.", code="denied.finished")
            try:
                kept = await (by or self._finish)(value)
            except KnownError as failure:
                self._refused = str(failure)
                raise
            self._over, self._value = True, value if by is None else kept

    def _result(self, outcome: CodeOutcome, *, finished: bool) -> ToolResult:
        """``{ok, value | error, stdout, finished}`` (R-COD-18), and the ``result`` that it finished with."""
        shown: dict[str, Any] = {"ok": outcome.ok}
        if outcome.failure is None:
            shown["value"] = outcome.value
        else:
            failure = outcome.failure
            shown["error"] = {"name": failure.name, "message": failure.message, "line": failure.line}
        shown |= {"stdout": "", "finished": finished}
        if finished:
            shown["result"] = self._value
        notes = [_LOST] if outcome.memory_lost else []
        if self._refused and not finished:  # code seldom waits for the answer
            notes.append(f"The result was not accepted: {self._refused}")
        if notes:
            shown["note"] = " ".join(notes)
        shown["stdout"] = _fitting(outcome.stdout, self._limits.output_bytes - _bytes(shown) - NOTICE)
        code = "" if outcome.failure is None else outcome.failure.code
        facts = {"finished": True} if finished else {}
        return ToolResult(json.dumps(shown, ensure_ascii=False), not outcome.ok, shown, code, facts)


def result_in(text: str) -> str:
    """What a piece of code finished with, read from its result as a model gets it."""
    try:
        value = json.loads(text)["result"]
    except (ValueError, KeyError, TypeError):
        return text
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fitting(text: str, room: int) -> str:
    """What fits beside the value: the result has to stay JSON when the pipeline cuts it like any output (R-COD-18)."""
    kept = cut(text, max(0, room))
    maximum = room
    while _bytes(kept) > room + NOTICE and maximum > 0:
        maximum = maximum * 3 // 4
        kept = cut(text, maximum)
    return kept


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _place(lines: list[str], line: int) -> CodePlace:
    if not 1 <= line <= len(lines):
        return CodePlace(0, "")
    return CodePlace(line, lines[line - 1].strip()[:MAX_LINE])

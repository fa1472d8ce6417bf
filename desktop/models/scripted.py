"""The scripted model: plays rounds from a list, deterministic and offline; every test can use it, nothing is patched.

It refuses a call of a tool that the request did not offer, as real ones cannot make one; a test of what becomes of such
a call all the same, as small local models make them, says ``unoffered``, which only such a call may.

A round is a list of steps, plain JSON: ``{"text": str}``, ``{"reasoning": str}``, ``{"sealed": str}`` (what the
thinking before it goes back with; with ``"alone"``, thinking that is not shown), ``{"call": {"tool", "arguments",
"id"?, "unoffered"?}}`` (arguments an object, or a string as a model might garble it), ``{"wait": seconds}``,
``{"times": n, "steps": [...]}`` (-1: for ever), ``{"usage": {"input", "output", "reasoning", "cost"}}``, ``{"finish":
stop reason}``, ``{"cut": true}``, ``{"hang": true}``, ``{"error": {"code", "message", "retry_after"?}}``. A script file
is ``{"rounds": [round or {"when": text, "steps": [...]}]}``; a round with ``when`` answers only a prompt whose last
message holds that text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from desktop.domain import errors
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, StopReason, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import (
    Finished,
    ModelRequest,
    ReasoningDelta,
    ReasoningSealed,
    StreamItem,
    TextDelta,
    ToolCallProgress,
)
from desktop.domain.runs.meta import RunMeta
from desktop.models.incoming import read_arguments

Step = Mapping[str, Any]
MAKER = "scripted scripted scripted"
"""The maker of thinking that is sealed; other thinking goes back to nobody."""
ERRORS: Mapping[str, type[errors.ModelError]] = {
    kind.code: kind
    for kind in (
        errors.ModelError,
        errors.ModelUnreachable,
        errors.ModelKeyRefused,
        errors.ModelRateLimited,
        errors.ModelContextTooLong,
        errors.ModelUnknown,
        errors.ModelBadRequest,
        errors.ModelServerError,
        errors.ModelStreamBroken,
        errors.ModelTooSlow,
        errors.ModelHostDied,
    )
}


def says(text: str, *, pieces: int = 1, finish: StopReason = "end") -> list[Step]:
    """A round that answers with text, in so many pieces."""
    size = max(1, -(-len(text) // pieces))
    return [*({"text": text[i : i + size]} for i in range(0, len(text), size)), {"finish": finish}]


def calls(
    tool: str, arguments: Mapping[str, Any] | str, *, text: str = "", call_id: str = "", unoffered: bool = False
) -> list[Step]:
    """A round that calls one tool."""
    call = {"tool": tool, "arguments": arguments, "id": call_id, "unoffered": unoffered}
    return [*([{"text": text}] if text else []), {"call": call}]


def fails(code: str, message: str = "It failed.", *, retry_after: float | None = None) -> list[Step]:
    """A round that fails with the error of this code."""
    return [{"error": {"code": code, "message": message, "retry_after": retry_after}}]


@dataclass(slots=True)
class _Round:
    steps: Sequence[Step]
    when: str | None = None


@dataclass(slots=True)
class _Playing:
    """What one round has made so far."""

    calls: list[ToolCallBlock] = field(default_factory=list)
    usage: Usage | None = None
    finish: StopReason | None = None
    maker: str = ""


class ScriptedModel:
    """Implements ``ModelClient``. ``requests`` are those that came, for tests to look at.

    Rounds are used up in order, each once; with ``repeat`` the last one answers for ever.
    """

    def __init__(self, rounds: Sequence[Sequence[Step] | Mapping[str, Any]], *, repeat: bool = False) -> None:
        self._rounds = [_round(entry) for entry in rounds]
        self._repeat = repeat
        self._calls = 0
        self.requests: list[ModelRequest] = []

    @classmethod
    def load(cls, path: Path) -> ScriptedModel:
        """Read a script file (JSON). Raises ConfigurationError naming what is wrong with it."""
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            return cls(plain["rounds"], repeat=bool(plain.get("repeat")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise errors.ConfigurationError(f"The script {path.name} cannot be used: {error}") from None

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        meta.cancellation.check()
        self.requests.append(request)
        playing = _Playing()
        for step in _unrolled(self._next(request).steps):
            item = await self._play(step, playing, meta, request)
            if item is not None:
                yield item
            meta.cancellation.check()
        reason: StopReason = playing.finish or ("tool_calls" if playing.calls else "end")
        yield Finished(reason, tuple(playing.calls), playing.usage, "scripted", playing.maker)

    def _next(self, request: ModelRequest) -> _Round:
        last = _text(request.messages[-1]) if request.messages else ""
        for number, entry in enumerate(self._rounds):
            if entry.when is None or entry.when in last:
                return entry if self._repeat and len(self._rounds) == 1 else self._rounds.pop(number)
        raise errors.ModelError("The script is over.")

    async def _play(self, step: Step, playing: _Playing, meta: RunMeta, request: ModelRequest) -> StreamItem | None:
        if (said := _said(step)) is not None:
            playing.maker = MAKER if isinstance(said, ReasoningSealed) else playing.maker
            return said
        if "call" in step:
            _refuse_unoffered(step["call"], request)
            return self._call(step["call"], playing)
        if "wait" in step:
            await _sleep(float(step["wait"]), meta)
        elif "hang" in step:
            await _sleep(None, meta)
        elif "cut" in step:
            raise errors.ModelStreamBroken("The answer broke off before it was finished.")
        elif "error" in step:
            raise _error(step["error"])
        elif "usage" in step:
            playing.usage = _usage(step["usage"])
        elif "finish" in step:
            playing.finish = step["finish"]
        return None

    def _call(self, call: Mapping[str, Any], playing: _Playing) -> ToolCallProgress:
        self._calls += 1
        given = call.get("arguments", {})
        raw = given if isinstance(given, str) else json.dumps(given)
        arguments, problem = read_arguments(raw)
        call_id = str(call.get("id") or f"call-{self._calls}")
        block = ToolCallBlock(call_id, str(call["tool"]), arguments, raw, problem)
        playing.calls.append(block)
        return ToolCallProgress(len(playing.calls) - 1, block.tool, len(raw))


def _said(step: Step) -> TextDelta | ReasoningDelta | ReasoningSealed | None:
    if "text" in step:
        return TextDelta(str(step["text"]))
    if "reasoning" in step:
        return ReasoningDelta(str(step["reasoning"]))
    return ReasoningSealed(str(step["sealed"]), step.get("alone") is True) if "sealed" in step else None


def _refuse_unoffered(call: Mapping[str, Any], request: ModelRequest) -> None:
    """Raise ModelBadRequest where the script calls what the request does not offer, or says so of what it does."""
    offered = [str(tool.get("name")) for tool in request.tools]
    is_offered, unoffered = str(call["tool"]) in offered, call.get("unoffered") is True
    if is_offered and unoffered:
        raise errors.ModelBadRequest(f"The script calls {call['tool']} as unoffered, and the request offers it.")
    if not is_offered and not unoffered:
        raise errors.ModelBadRequest(
            f"The script calls {call['tool']}, which the request did not offer: {', '.join(offered) or 'no tools'}."
        )


def _round(entry: Sequence[Step] | Mapping[str, Any]) -> _Round:
    if isinstance(entry, Mapping):
        return _Round(entry["steps"], entry.get("when"))
    return _Round(entry)


def _unrolled(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        if "times" not in step:
            yield step
            continue
        count = 0
        while step["times"] < 0 or count < step["times"]:
            yield from step["steps"]
            count += 1
            if count % 100 == 0:
                yield {"wait": 0}


def _text(message: ChatMessage) -> str:
    return " ".join(b.text for b in message.blocks if isinstance(b, (TextBlock, ToolResultBlock)))


async def _sleep(seconds: float | None, meta: RunMeta) -> None:
    """Wait, or until the token is cancelled: then the caller's check raises."""
    try:
        async with asyncio.timeout(seconds):
            await meta.cancellation.wait()
    except TimeoutError:
        return


def _usage(plain: Mapping[str, Any]) -> Usage:
    cost = plain.get("cost")
    known = None if cost is None else float(cost)
    told, made, thought = (int(plain.get(name, 0)) for name in ("input", "output", "reasoning"))
    return Usage(told, made, thought, cost_usd=known)


def _error(plain: Mapping[str, Any]) -> errors.ModelError:
    code = str(plain.get("code", "model.failed"))
    message = str(plain.get("message", "It failed."))
    if code == "model.rate_limited":
        return errors.ModelRateLimited(message, retry_after=plain.get("retry_after"))
    return ERRORS.get(code, errors.ModelError)(message, next_step=str(plain.get("next_step", "")))

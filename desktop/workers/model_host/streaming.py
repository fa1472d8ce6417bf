"""One answer of a model: litellm's stream in, our items out, every limit and every ending our own.

Items: ``{"k": "text"|"think", "t"}``, ``{"k": "seal", "t", "alone", "end"}`` (what the thinking before it is given back
with, in pieces, the last of which has ``end``), ``{"k": "call", "i", "n", "c"}`` (progress), then for each complete
call ``{"k": "tool", "i", "id", "n", "p"}`` and its arguments in pieces ``{"k": "args", "i", "t"}``. Before all of them
stands ``{"k": "left", "n"}`` with the settings that the model does not take. The result is ``{"stop", "usage", "model",
"again"}``; usage is None when the provider reported none, ``again`` says whether the thinking is whole, so that it can
be given back.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from desktop.workers.frames import PIECE
from desktop.workers.inside import CallError, WorkerCall
from desktop.workers.model_host.capabilities import row_of
from desktop.workers.model_host.failures import failure
from desktop.workers.model_host.library import Library
from desktop.workers.model_host.limits import ANSWER_MAX, REASONING_MAX
from desktop.workers.model_host.request_settings import request_settings, response_format
from desktop.workers.model_host.wire import thinking
from desktop.workers.model_host.wire.caching import mark
from desktop.workers.model_host.wire.prompt import to_wire
from desktop.workers.model_host.wire.thinking import Seal, Seals
from desktop.workers.model_host.wire.toolcalls import Collector
from desktop.workers.model_host.wire.usage import usage
from desktop.workers.model_host.wire.windows import Windows

CLOSE_SECONDS = 1.0
PROGRESS_SECONDS = 0.1
PIECES_KEPT = 64
OPTIONS = frozenset(
    {
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "reasoning_effort",
        "thinking",
        "tool_choice",
        "parallel_tool_calls",
        "frequency_penalty",
        "presence_penalty",
        "response_format",
        "num_ctx",
        "top_k",
        "aws_region_name",
        "allowed_openai_params",
        "extra_body",
    }
)
"""What of a request's settings reaches the library, whatever is made of them."""
EXTRA = frozenset({"api_version", "aws_region_name", "organization"})
_STOPS = {"length": "length", "max_tokens": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"}

T = TypeVar("T")


@dataclass
class StreamedAnswer:
    """What has come so far."""

    text: int = 0
    """Characters of text."""
    thought: int = 0
    """Characters of thinking."""
    calls: Collector = field(default_factory=Collector)
    """Calls of tools."""
    seals: Seals = field(default_factory=Seals)
    """What the thinking is given back with."""
    full: bool = False
    """Whether more came than is taken."""
    reason: str = ""
    """Why it ended, once the provider has said so."""
    told_at: dict[int, float] = field(default_factory=dict)
    """When it was last told how far a call is, by its number."""

    @property
    def begun(self) -> bool:
        return bool(self.text or self.thought or self.told_at)


class Streamer:
    """Answers the method ``stream``."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._windows = Windows()
        self._wordless: set[tuple[str, str, str]] = set()

    async def stream(self, call: WorkerCall) -> dict[str, Any]:
        """Stream one answer. Raises CallError with the codes of failures.py, and ``window.lost``."""
        messages = self._windows.apply(call.params.get("window") or {}, call.parts)
        library = await self._library.ready()
        self._library.enter()
        try:
            async with asyncio.timeout(_seconds(call.params, "deadline_s")):
                return await self._answer(call, library, messages)
        except TimeoutError:
            raise CallError("model.too_slow", "", {"limit": "deadline"}) from None
        finally:
            self._library.leave()

    async def _answer(self, call: WorkerCall, library: Any, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        answer = StreamedAnswer()
        try:
            return await self._asked(call, library, messages, answer)
        except CallError as error:
            wordless = thinking.gives_no_words(error.code, str(error)) and _place(call) not in self._wordless
            known = thinking.holds_thinking(messages) and thinking.is_refused(error.code, str(error))
            if answer.begun or not (known or wordless):
                raise
        if wordless:
            self._wordless.add(_place(call))
        again = messages if wordless else thinking.without_thinking(messages)
        return await self._asked(call, library, again, StreamedAnswer())

    async def _asked(
        self, call: WorkerCall, library: Any, messages: Sequence[dict[str, Any]], answer: StreamedAnswer
    ) -> dict[str, Any]:
        secrets = (str(call.params.get("key") or ""), *map(str, (call.params.get("more") or {}).values()))
        idle = _seconds(call.params, "idle_s")
        response: Any = None
        try:
            settings = request_settings(library, call.params)
            if settings.left_out:
                await call.emit({"k": "left", "n": settings.left_out})
            said = settings.arguments | response_format(library, call.params)
            made = _arguments(call.params, messages, said)
            thinking.ask_sealed(library, made, in_words=_place(call) not in self._wordless)
            row = row_of(library, str(call.params.get("table") or ""))
            mark(made, str(call.params.get("provider")), row, noted=bool(call.params.get("note")))
            response = await _within(library.acompletion(**made), idle)
            while not answer.full and (chunk := await _within(_next(response), idle)) is not None:
                answer.reason = _reason(response) or answer.reason
                await _take(call, answer, chunk)
                _forget_pieces(response)
        except (CallError, TimeoutError):
            raise
        except Exception as error:  # the boundary of a foreign library: whatever it raises becomes one of our codes
            raise failure(error, secrets, streaming=answer.begun) from None
        finally:
            await _close(response)
        stop = _stop_reason(response, answer)
        await _emit_calls(call, answer)
        await _emit_seals(call, answer.seals.rest())
        used = usage(library, response, call.params, _model(response))
        return {"stop": stop, "usage": used, "model": _model(response), "again": answer.seals.whole}


def _place(call: WorkerCall) -> tuple[str, str, str]:
    """Where a request goes, and for whom: the address, the model, and the key, which itself is kept nowhere."""
    params = call.params
    whose = repr((params.get("key"), sorted((params.get("more") or {}).items()), params.get("options")))
    digest = hashlib.sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()
    return str(params.get("base_url") or ""), str(params["model"]), digest


def _seconds(params: Mapping[str, Any], name: str) -> float | None:
    value = params.get(name)
    return float(value) if isinstance(value, (int, float)) else None


async def _within(awaitable: Awaitable[T], idle: float | None) -> T:
    """The value, or CallError when nothing came for ``idle`` seconds. The overall deadline passes through."""
    timer = asyncio.timeout(idle)
    try:
        async with timer:
            return await awaitable
    except TimeoutError:
        if timer.expired():
            raise CallError("model.too_slow", "", {"limit": "idle", "seconds": idle}) from None
        raise


async def _next(response: Any) -> Any:
    try:
        return await response.__anext__()
    except StopAsyncIteration:
        return None


def _forget_pieces(response: Any) -> None:
    """The library keeps every piece of an answer, each a thousand times its text. Only those with usage are needed,
    of them the first and the last; and the last two, which it compares."""
    pieces = getattr(response, "chunks", None)
    if not isinstance(pieces, list) or len(pieces) < PIECES_KEPT:
        return
    counted = [piece for piece in pieces[:-2] if getattr(piece, "usage", None) is not None]
    keep = PIECES_KEPT // 8
    pieces[:] = [*counted[:keep], *counted[keep:][-keep:], *pieces[-2:]]


async def _close(response: Any) -> None:
    """Close the connection at once; a server that does not care is left to the garbage collector."""
    close = getattr(response, "aclose", None)
    if close is not None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()


def _arguments(
    params: Mapping[str, Any], messages: Sequence[dict[str, Any]], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What litellm is called with. Only options of our list pass, so that no setting can redirect a key."""
    extra = params.get("extra") or {}
    made: dict[str, Any] = {k: v for k, v in extra.items() if k in EXTRA}
    made |= {k: v for k, v in settings.items() if k in OPTIONS}
    made |= {
        "model": str(params["model"]),
        "messages": to_wire(messages, *(str(params.get(name) or "") for name in ("system", "provider", "note"))),
        "stream": True,
        "stream_options": {"include_usage": True},
        "timeout": _seconds(params, "deadline_s") or 600.0,
        "max_retries": 0,
        "num_retries": 0,
    }
    made |= _credentials(params)
    if params.get("base_url"):
        made["api_base"] = str(params["base_url"])
    if params.get("tools"):
        made["tools"] = [{"type": "function", "function": tool} for tool in params["tools"]]
    if thinking.cannot_think(made["model"], made["messages"]):
        thinking.unasked(made)
    return made


def _credentials(params: Mapping[str, Any]) -> dict[str, str]:
    """Amazon's access keys have names of their own; everyone else has one key."""
    more = params.get("more") or {}
    if "access_key_id" not in more:
        return {"api_key": params.get("key") or "none"}
    access = {"aws_access_key_id": more["access_key_id"], "aws_secret_access_key": params.get("key")}
    return access | ({"aws_session_token": more["session_token"]} if more.get("session_token") else {})


async def _take(call: WorkerCall, answer: StreamedAnswer, chunk: Any) -> None:
    choices = getattr(chunk, "choices", None)
    if not choices:
        return
    delta = choices[0].delta
    thought = _thought(delta)
    if thought and answer.thought < REASONING_MAX:
        answer.thought += len(thought)
        await _emit_text(call, "think", thought)
    elif thought:
        answer.seals.whole = False
    await _emit_seals(call, answer.seals.take(delta))
    text = getattr(delta, "content", None)
    if isinstance(text, str) and text:
        answer.full = answer.text + len(text) > ANSWER_MAX
        text = text[: ANSWER_MAX - answer.text]
        answer.text += len(text)
        await _emit_text(call, "text", text)
    await _take_calls(call, answer, getattr(delta, "tool_calls", None) or ())


def _thought(delta: Any) -> str:
    """Thinking text under any of its names."""
    for name in ("reasoning_content", "reasoning"):
        text = getattr(delta, name, None)
        if isinstance(text, str) and text:
            return text
    return ""


async def _take_calls(call: WorkerCall, answer: StreamedAnswer, deltas: Sequence[Any]) -> None:
    now = time.monotonic()
    for grown in answer.calls.add(deltas):
        if now - answer.told_at.get(grown.index, 0.0) >= PROGRESS_SECONDS:
            answer.told_at[grown.index] = now
            await call.emit({"k": "call", "i": grown.index, "n": grown.name, "c": grown.characters})
    answer.full = answer.full or answer.calls.full


async def _emit_text(call: WorkerCall, kind: str, text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()  # half surrogate pairs cannot be stored or shown
    for start in range(0, len(clean), PIECE):
        await call.emit({"k": kind, "t": clean[start : start + PIECE]}, join="t")


async def _emit_seals(call: WorkerCall, seals: Iterable[Seal]) -> None:
    for text, alone in seals:
        for start in range(0, len(text), PIECE):
            end = start + PIECE >= len(text)
            await call.emit({"k": "seal", "t": text[start : start + PIECE], "alone": alone, "end": end})


async def _emit_calls(call: WorkerCall, answer: StreamedAnswer) -> None:
    for made in answer.calls.finish():
        problem = made.problem
        if made.signature:
            answer.seals.signed(made.index, made.signature)
        await call.emit({"k": "tool", "i": made.index, "id": made.call_id, "n": made.name, "p": problem})
        raw = "".join(made.pieces).encode("utf-8", "replace").decode()
        for start in range(0, len(raw), PIECE):
            await call.emit({"k": "args", "i": made.index, "t": raw[start : start + PIECE]}, join="t")


def _stop_reason(response: Any, answer: StreamedAnswer) -> str:
    """Why the answer ended. Raises CallError when the stream just ended, which the library would call a normal stop."""
    if answer.full:
        return "tool_calls" if answer.calls.full else "length"
    reason = _reason(response) or answer.reason
    if not reason:
        raise CallError("model.stream_cut", "", {})
    if reason in _STOPS:
        return _STOPS[reason]
    return "tool_calls" if answer.calls.finish() else "end"


def _reason(response: Any) -> str:
    """What the provider said of the end; the library keeps only what the latest piece said, under either name."""
    said = getattr(response, "received_finish_reason", None) or getattr(response, "intermittent_finish_reason", None)
    return str(said or "")


def _model(response: Any) -> str:
    return str(getattr(response, "model", None) or "")[:200]

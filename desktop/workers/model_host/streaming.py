"""One answer of a model: its stream in, our items out, every limit and every ending our own. The stream is litellm's,
or that of a server which is asked directly.

Items: ``{"k": "text"|"think", "t"}``, ``{"k": "seal", "t", "alone", "end"}`` (what the thinking before it is given back
with, in pieces, the last of which has ``end``), ``{"k": "call", "i", "n", "c"}`` (progress), then for each complete
call ``{"k": "tool", "i", "id", "n", "p"}`` and its arguments in pieces ``{"k": "args", "i", "t"}``. Before all of them
stands ``{"k": "left", "n"}`` with the settings that the model does not take. The result is ``{"stop", "usage", "model",
"again"}``; usage is None when the provider reported none, ``again`` says whether the thinking is whole, so that it can
be given back.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from desktop.workers.frames import PIECE
from desktop.workers.inside import CallError, WorkerCall
from desktop.workers.model_host.by_library import LibraryStream
from desktop.workers.model_host.capabilities import row_of
from desktop.workers.model_host.direct.opening import DirectServers
from desktop.workers.model_host.direct.request import is_direct
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

PROGRESS_SECONDS = 0.1
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
_FILTERED = frozenset({"content_filter", "refusal"})
"""Ends that are no end of what was to be said."""

T = TypeVar("T")


class ModelStream(Protocol):
    """An answer being read."""

    @property
    def reason(self) -> str:
        """Why it ended, once that was said."""
        ...

    @property
    def model(self) -> str:
        """Who answered."""
        ...

    @property
    def reports(self) -> Sequence[Any]:
        """What it says that it used, as often as it said it."""
        ...

    async def more(self) -> Sequence[Any]:
        """What came since; nothing once the answer is over."""
        ...

    async def close(self) -> None:
        """Close the connection at once, if the answer is not over."""
        ...


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
    told_at: dict[int, float] = field(default_factory=dict)
    """When it was last told how far a call is, by its number."""

    @property
    def begun(self) -> bool:
        return bool(self.text or self.thought or self.told_at)


class Streamer:
    """Answers the method ``stream``."""

    def __init__(self, library: Library, direct: DirectServers) -> None:
        self._library = library
        self._direct = direct
        self._windows = Windows()
        self._wordless: set[tuple[str, str, str]] = set()

    async def stream(self, call: WorkerCall) -> dict[str, Any]:
        """Stream one answer. Raises CallError with the codes of failures.py, and ``window.lost``."""
        messages = self._windows.apply(call.params.get("window") or {}, call.parts)
        library = await self._library.ready() if _needs_library(call.params) else None
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
        stream: ModelStream | None = None
        try:
            made = await self._made(call, library, messages)
            stream = await _within(self._open(call.params, library, made), idle)
            while not answer.full and (deltas := await _within(stream.more(), idle)):
                for delta in deltas:
                    if not answer.full:
                        await _take(call, answer, delta)
        except (CallError, TimeoutError):
            raise
        except Exception as error:  # the boundary of a foreign library: whatever it raises becomes one of our codes
            raise failure(error, secrets, streaming=answer.begun) from None
        finally:
            if stream is not None:
                await stream.close()
        stop = _stop_reason(stream.reason, answer)
        await _emit_calls(call, answer)
        await _emit_seals(call, answer.seals.rest())
        used = usage(library, stream.reports, call.params, stream.model)
        return {"stop": stop, "usage": used, "model": stream.model, "again": answer.seals.whole}

    async def _made(self, call: WorkerCall, library: Any, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What is asked, as the library is called."""
        settings = request_settings(library, call.params)
        if settings.left_out:
            await call.emit({"k": "left", "n": settings.left_out})
        row = row_of(library, str(call.params.get("table") or ""))
        made = _arguments(call.params, messages, settings.arguments | response_format(row, call.params))
        if not is_direct(call.params):
            thinking.ask_sealed(library, made, in_words=_place(call) not in self._wordless)
        mark(made, str(call.params.get("provider")), row, noted=bool(call.params.get("note")))
        return made

    async def _open(self, params: Mapping[str, Any], library: Any, made: Mapping[str, Any]) -> ModelStream:
        if is_direct(params):
            return await self._direct.open(params, made)
        return await LibraryStream.open(library, made)


def _needs_library(params: Mapping[str, Any]) -> bool:
    """Whether it makes the request, or its table says something of the model."""
    return not is_direct(params) or bool(params.get("table") or params.get("priced"))


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


async def _take(call: WorkerCall, answer: StreamedAnswer, delta: Any) -> None:
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


def _stop_reason(reason: str, answer: StreamedAnswer) -> str:
    """Why the answer ended. Raises CallError when the stream just ended, which the library would call a normal stop."""
    if answer.full:
        return "tool_calls" if answer.calls.full else "length"
    if not reason:
        raise CallError("model.stream_cut", "", {})
    if reason in _FILTERED:
        said = "its filter of contents ended the answer"
        raise CallError("model.bad_request", said, {"detail": said})
    if reason in _STOPS:
        return _STOPS[reason]
    return "tool_calls" if answer.calls.finish() else "end"

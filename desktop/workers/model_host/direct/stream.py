"""An answer of a server of OpenAI's format, read event by event.

What is in it is given on as the model library gives it (the fields of its ``delta``), so that who takes it does not
see the difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from desktop.domain.text.json_text import read_json
from desktop.workers.inside import CallError
from desktop.workers.model_host.direct.events import EventReader
from desktop.workers.model_host.direct.web import LOST, WebAnswer
from desktop.workers.model_host.failures import said_in_stream
from desktop.workers.model_host.refusals import AnswerRefused

DONE = "[DONE]"
REPORTS_KEPT = 16
_DETAILS = ("reasoning_tokens", "text_tokens", "audio_tokens", "image_tokens")


@dataclass(slots=True)
class FunctionPiece:
    """What came of a call's name and arguments."""

    name: Any
    arguments: Any


@dataclass(slots=True)
class CallPiece:
    """What came of a tool call."""

    index: Any
    id: Any
    function: FunctionPiece


@dataclass(slots=True)
class ChatDelta:
    """What one event adds to the answer."""

    content: Any = None
    reasoning_content: Any = None
    tool_calls: Sequence[CallPiece] = ()
    reasoning_details: Any = None


class DirectStream:
    """Reads one answer. ``reason``: why it ended, once the server has said so; ``reports``: what it says it used."""

    def __init__(self, answer: WebAnswer, model: str, secrets: Sequence[str]) -> None:
        self._answer = answer
        self._secrets = secrets
        self._events = EventReader()
        self._whole: list[bytes] | None = [] if answer.is_plain else None
        self._came = False
        self._over = False
        self._failed: CallError | AnswerRefused | None = None
        self.model = model
        self.reason = ""
        self.reports: list[Any] = []

    async def more(self) -> Sequence[ChatDelta]:
        """What came since; nothing once the answer is over. Raises CallError and AnswerRefused."""
        while self._failed is None and not self._over:
            found: list[ChatDelta] = []
            try:
                self._read(await self._data(), found)
            except (CallError, AnswerRefused) as error:  # given on behind what came before it
                self._failed = error
            if found:
                return found
        if self._failed is not None:
            raise self._failed
        return ()

    async def _data(self) -> Sequence[bytes]:
        try:
            lines = await self._answer.lines(rest=self._came)
        except TimeoutError:
            raise CallError("model.too_slow", "", {"limit": "deadline"}) from None
        except LOST:
            if not self.reason:
                raise CallError("model.stream_cut", "", {}) from None
            lines = None
        if lines is not None and self._whole is None:
            return self._events.feed(lines)
        if lines is not None and self._whole is not None:
            self._whole.append(lines)
            return ()
        self._over = True
        if self._whole is not None:
            return [b"".join((*self._whole, self._answer.last()))]
        found = (*self._events.feed(self._answer.last()), *self._events.rest())
        if not found and not self._came and self._answer.is_page:
            raise self._broken()
        return found

    def _read(self, events: Sequence[bytes], found: list[ChatDelta]) -> None:
        for event in self._values(events):
            if event is None:
                self._over = True
                self.reason = self.reason or ("stop" if self._came else "")
                return
            if error := event.get("error"):
                raise said_in_stream(error, self._secrets)
            self._note(event)
            delta = self._delta(event.get("choices"))
            if delta is not None:
                self._came = self._came or bool(delta.content or delta.reasoning_content or delta.tool_calls)
                if not (found and _joined(found[-1], delta)):
                    found.append(delta)

    def _note(self, event: Mapping[str, Any]) -> None:
        if isinstance(used := event.get("usage"), dict):
            self.reports.append(report(used))
            if len(self.reports) > REPORTS_KEPT:
                del self.reports[REPORTS_KEPT // 2]

    def _delta(self, choices: Any) -> ChatDelta | None:
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return None
        if reason := choice.get("finish_reason"):
            self.reason = str(reason)[:100]
        if self.reason == "error":
            raise said_in_stream("", self._secrets)
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return None
        thought = delta.get("reasoning_content")
        thought = delta.get("reasoning") if thought is None else thought
        content = delta.get("content")
        if isinstance(content, list):
            content, thought = _parts(content)
        return ChatDelta(content, thought, _calls(delta.get("tool_calls")), delta.get("reasoning_details"))

    def _values(self, events: Sequence[bytes]) -> Iterator[dict[str, Any] | None]:
        """What the events say. Raises CallError for what nobody can read."""
        for data in events:
            try:
                yield from _values(data)
            except (ValueError, RecursionError):
                raise self._broken() from None

    def _broken(self) -> CallError:
        """What is there cannot be read: after a beginning it broke off, else it is something else."""
        if self._came:
            return CallError("model.stream_cut", "", {})
        said = "it is not in OpenAI's format"
        return CallError("model.unreadable", said, {"detail": said})

    async def close(self) -> None:
        """Close the connection at once if the answer is not over."""
        self._answer.close()


def _values(data: bytes) -> Sequence[dict[str, Any] | None]:
    """The value of an event, None for the one that says that there is no more. Raises ValueError and RecursionError."""
    text = data.decode()
    try:
        return [_value(text)]
    except ValueError:
        if "\n" not in text:
            raise
        return [_value(line) for line in text.split("\n")]  # of a server that leaves out the blank lines


def _value(text: str) -> dict[str, Any] | None:
    if text.startswith(DONE):
        return None
    value = read_json(text)
    return value if isinstance(value, dict) else {}


def _joined(last: ChatDelta, delta: ChatDelta) -> bool:
    """Whether ``delta`` goes on with the text or the thinking of ``last`` alone, and was added to it: what came at once
    is given on at once."""
    if last.tool_calls or delta.tool_calls or last.reasoning_details or delta.reasoning_details:
        return False
    for name, other in (("content", "reasoning_content"), ("reasoning_content", "content")):
        before, more = getattr(last, name), getattr(delta, name)
        if isinstance(before, str) and isinstance(more, str) and not (getattr(last, other) or getattr(delta, other)):
            setattr(last, name, before + more)
            return True
    return False


def _parts(content: Sequence[Any]) -> tuple[str, str]:
    """Text and thinking of a server that gives both in parts, as Mistral's does."""
    text, thought = [], []
    for part in content:
        if isinstance(part, dict):
            text.append(_text(part.get("text")))
            inner = part.get("thinking")
            thought += (
                [_text(one.get("text")) for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
            )
    return "".join(text), "".join(thought)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _calls(deltas: Any) -> Sequence[CallPiece]:
    if not isinstance(deltas, list):
        return ()
    found = []
    for one in deltas:
        if isinstance(one, dict):
            function = one.get("function")
            named = function if isinstance(function, dict) else {}
            arguments = named.get("arguments")
            if isinstance(arguments, dict):
                arguments = json.dumps(arguments)
            found.append(CallPiece(one.get("index"), one.get("id"), FunctionPiece(named.get("name"), arguments)))
    return found


def report(used: Mapping[str, Any]) -> Any:
    """What a server says that the answer used, under one name for each count."""
    prompt, completion = _dict(used.get("prompt_tokens_details")), _dict(used.get("completion_tokens_details"))
    cached = (used.get("cache_read_input_tokens"), used.get("prompt_cache_hit_tokens"), prompt.get("cached_tokens"))
    written = (
        used.get("cache_creation_input_tokens"),
        *(prompt.get(name) for name in ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")),
    )
    thought = (completion.get("reasoning_tokens"), used.get("reasoning_tokens"))
    details = {name: completion.get(name) for name in _DETAILS} | {"reasoning_tokens": _first(thought)}
    return SimpleNamespace(
        prompt_tokens=_number(used.get("prompt_tokens")),
        completion_tokens=_number(used.get("completion_tokens")),
        total_tokens=_number(used.get("total_tokens")),
        prompt_tokens_details=SimpleNamespace(cached_tokens=_first(cached), cache_creation_tokens=_first(written)),
        completion_tokens_details=SimpleNamespace(**{n: v for n, v in details.items() if isinstance(v, int)}),
        cost=used.get("cost"),
        cost_details=used.get("cost_details"),
        is_byok=used.get("is_byok"),
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(values: Sequence[Any]) -> int | None:
    return next((number for value in values if (number := _number(value)) is not None), None)


def _number(value: Any) -> int | None:
    """A count, however it is written."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if isinstance(value, int) else None

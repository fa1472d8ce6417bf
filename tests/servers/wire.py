"""How the fake provider writes one round in each wire format: OpenAI (both), Anthropic, Ollama.

A round is a list of steps, plain JSON, the same for every format:
``{"text": str}``, ``{"reasoning": str}``, ``{"call": {"index", "id", "name", "arguments"}}``, ``{"finish": str}``,
``{"usage": {"input", "output", "cached", "written", "reasoning"}}`` (in OpenAI's format with ``"told"``: fields as
they stand). Where a provider signs: ``{"signature": str}`` of
the thinking before it (with Gemini: of the call after it), ``{"redacted": str}``, thinking that it does not show.
Steps about the socket are in provider.py.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.harness.prefix_cache import Counted

Step = Mapping[str, Any]


def sse(data: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class OpenAI:
    """Chat completions as server-sent events."""

    content_type = "text/event-stream"

    def __init__(self, model: str) -> None:
        self._base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def _chunk(self, delta: Any, finish: str | None = None) -> bytes:
        return sse({**self._base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def opening(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def step(self, step: Step) -> bytes:
        if "text" in step:
            return self._chunk({"content": step["text"]})
        if "reasoning" in step:
            return self._chunk({"reasoning_content": step["reasoning"]})
        if "call" in step:
            return self._call(step["call"])
        if "finish" in step:
            return self._chunk({}, step["finish"])
        if "usage" in step:
            return sse({**self._base, "choices": [], "usage": self._usage(step["usage"])})
        return sse({"error": step["fault"]}) if "fault" in step else b""

    def _call(self, call: Mapping[str, Any]) -> bytes:
        function = {key: call[key] for key in ("name", "arguments") if key in call}
        entry: dict[str, Any] = {"index": call.get("index", 0), "function": function}
        if "id" in call:
            entry |= {"id": call["id"], "type": "function"}
        return self._chunk({"tool_calls": [entry]})

    @staticmethod
    def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
        given, made = usage.get("input", 0), usage.get("output", 0)
        return {
            "prompt_tokens": given,
            "completion_tokens": made,
            "total_tokens": given + made,
            "prompt_tokens_details": {"cached_tokens": usage.get("cached", 0)},
            "completion_tokens_details": {"reasoning_tokens": usage.get("reasoning", 0)},
            **usage.get("told", {}),
        }

    def closing(self) -> bytes:
        return b"data: [DONE]\n\n"


class Anthropic:
    """Messages as server-sent events: blocks open, grow and close."""

    content_type = "text/event-stream"
    REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}

    def __init__(self, model: str) -> None:
        self._model = model
        self._index = -1
        self._open = ""
        self.counted: Counted | None = None

    def _input(self) -> dict[str, int]:
        told = self.counted
        if told is None:
            return {"input_tokens": 7}
        cached = {"cache_read_input_tokens": told.read, "cache_creation_input_tokens": told.written}
        return {"input_tokens": told.plain, **cached}

    def opening(self) -> bytes:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "usage": {**self._input(), "output_tokens": 1},
        }
        return sse({"type": "message_start", "message": message}, "message_start")

    def step(self, step: Step) -> bytes:
        return b"".join(self._events(step))

    def _events(self, step: Step) -> Iterator[bytes]:
        if "text" in step:
            yield from self._block("text", {"type": "text", "text": ""})
            yield self._delta({"type": "text_delta", "text": step["text"]})
        elif "reasoning" in step:
            yield from self._block("thinking", {"type": "thinking", "thinking": ""})
            yield self._delta({"type": "thinking_delta", "thinking": step["reasoning"]})
        elif "signature" in step:
            yield self._delta({"type": "signature_delta", "signature": step["signature"]})
        elif "redacted" in step:
            yield from self._close()
            yield from self._block("redacted", {"type": "redacted_thinking", "data": step["redacted"]})
            yield from self._close()
        elif "call" in step:
            call = step["call"]
            block = {"type": "tool_use", "id": call.get("id", "toolu_1"), "name": call.get("name", ""), "input": {}}
            yield from self._block(f"tool{call.get('index', 0)}", block)
            yield self._delta({"type": "input_json_delta", "partial_json": call.get("arguments", "")})
        elif "finish" in step:
            yield from self._close()
            self._finish = self.REASONS.get(step["finish"], step["finish"])
            yield self._message_delta(1)
        elif "usage" in step:
            yield self._message_delta(step["usage"].get("output", 0))

    def _message_delta(self, output: int) -> bytes:
        delta = {"stop_reason": self._finish, "stop_sequence": None}
        return sse({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}}, "message_delta")

    def _block(self, name: str, block: Any) -> Iterator[bytes]:
        if self._open == name:
            return
        yield from self._close()
        self._index += 1
        self._open = name
        start = {"type": "content_block_start", "index": self._index, "content_block": block}
        yield sse(start, "content_block_start")

    def _delta(self, delta: Any) -> bytes:
        return sse({"type": "content_block_delta", "index": self._index, "delta": delta}, "content_block_delta")

    def _close(self) -> Iterator[bytes]:
        if self._open:
            self._open = ""
            yield sse({"type": "content_block_stop", "index": self._index}, "content_block_stop")

    def closing(self) -> bytes:
        return sse({"type": "message_stop"}, "message_stop")


class Ollama:
    """/api/chat: one JSON object a line; a tool call comes whole."""

    content_type = "application/x-ndjson"

    def __init__(self, model: str) -> None:
        self._model = model
        self._usage: Mapping[str, int] = {}
        self._finish = ""

    def _line(self, message: Any, **more: Any) -> bytes:
        body = {"model": self._model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False, **more}
        return json.dumps(body).encode() + b"\n"

    def opening(self) -> bytes:
        return b""

    def step(self, step: Step) -> bytes:
        if "text" in step:
            return self._line({"role": "assistant", "content": step["text"]})
        if "reasoning" in step:
            return self._line({"role": "assistant", "content": "", "thinking": step["reasoning"]})
        if "call" in step:
            call = step["call"]
            function = {"name": call["name"], "arguments": json.loads(call["arguments"])}
            return self._line({"role": "assistant", "content": "", "tool_calls": [{"function": function}]})
        self._finish = step.get("finish", self._finish)
        self._usage = step.get("usage", self._usage)
        return b""

    def closing(self) -> bytes:
        counts = {"prompt_eval_count": self._usage.get("input", 0), "eval_count": self._usage.get("output", 0)}
        reason = "length" if self._finish == "length" else "stop"
        body = {"role": "assistant", "content": ""}
        return self._line(body, **{"done": True, "done_reason": reason, **counts})

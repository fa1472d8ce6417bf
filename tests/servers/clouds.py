"""More wire formats of the fake provider: Gemini, Azure OpenAI, OpenRouter, and Bedrock's binary event stream.

The same steps as in wire.py. ``{"fault": {"code", "message"}}`` is an error in the middle of a stream that has begun,
in the form the provider has for it.
"""

import binascii
import json
import struct
from collections.abc import Mapping
from typing import Any

from tests.harness.prefix_cache import Counted
from tests.servers.wire import OpenAI, Step, sse


class Gemini:
    """``streamGenerateContent?alt=sse``: every chunk a whole response, a tool call in one piece."""

    content_type = "text/event-stream"
    REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}

    def __init__(self, model: str) -> None:
        self._model = model
        self._usage: Mapping[str, int] = {}
        self._finish = ""
        self._signature = "c2ln"

    def _chunk(self, parts: list[Any], **more: Any) -> bytes:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **more}
        return sse({"candidates": [candidate], "modelVersion": self._model, "responseId": "r1"})

    def opening(self) -> bytes:
        return b""

    def step(self, step: Step) -> bytes:
        if "text" in step:
            return self._chunk([{"text": step["text"]}])
        if "reasoning" in step:
            return self._chunk([{"text": step["reasoning"], "thought": True}])
        if "call" in step:
            call = {"name": step["call"]["name"], "args": json.loads(step["call"]["arguments"])}
            signed, self._signature = self._signature, ""
            return self._chunk([{"functionCall": call, **({"thoughtSignature": signed} if signed else {})}])
        if "signature" in step:
            self._signature = step["signature"]
            return b""
        if "fault" in step:
            return sse({"error": {**step["fault"], "status": "INTERNAL"}})
        self._finish = step.get("finish", self._finish)
        self._usage = step.get("usage", self._usage)
        return b""

    def closing(self) -> bytes:
        if not self._finish:
            return b""
        given, made = self._usage.get("input", 0), self._usage.get("output", 0)
        counts = {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": given + made}
        candidate = {
            "content": {"parts": [{"text": ""}], "role": "model"},
            "index": 0,
            "finishReason": self.REASONS.get(self._finish, self._finish),
        }
        body = {"candidates": [candidate], "modelVersion": self._model}
        return sse({**body, "usageMetadata": counts} if self._usage else body)


class Azure(OpenAI):
    """OpenAI's format behind a deployment: the model it really is in every chunk, a first chunk about the prompt."""

    def __init__(self, model: str) -> None:
        super().__init__("gpt-4o-2024-08-06")

    def opening(self) -> bytes:
        first = {**self._base, "choices": [], "prompt_filter_results": [{"prompt_index": 0}], "model": ""}
        return sse(first) + super().opening()


class OpenRouter(OpenAI):
    """OpenAI's format with comments that keep the line open, thinking under other names and the real cost."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._details = 0

    def _detail(self, kind: str, **more: str) -> dict[str, Any]:
        return {"reasoning_details": [{"type": kind, "format": "anthropic-claude-v1", "index": self._details, **more}]}

    def opening(self) -> bytes:
        return b": OPENROUTER PROCESSING\n\n" + super().opening() + b": OPENROUTER PROCESSING\n\n"

    def step(self, step: Step) -> bytes:
        if "reasoning" in step:
            shown = self._detail("reasoning.text", text=step["reasoning"])
            return self._chunk({"content": "", "reasoning": step["reasoning"], **shown})
        if "signature" in step:
            return self._chunk({"content": "", **self._detail("reasoning.text", signature=step["signature"])})
        if "redacted" in step:
            self._details += 1
            return self._chunk({"content": "", **self._detail("reasoning.encrypted", data=step["redacted"])})
        if "fault" in step:
            choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
            return sse({**self._base, "error": step["fault"], "choices": [choice]})
        if "usage" in step:
            usage = {**self._usage(step["usage"]), "cost": step["usage"].get("cost", 0)}
            return sse({**self._base, "choices": [], "usage": usage})
        return super().step(step)


class Bedrock:
    """``converse-stream``: binary frames of headers and JSON, each with its two checksums."""

    content_type = "application/vnd.amazon.eventstream"
    REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}

    def __init__(self, model: str) -> None:
        self._index = -1
        self._open = ""
        self.counted: Counted | None = None

    def opening(self) -> bytes:
        return frame("messageStart", {"role": "assistant"})

    def step(self, step: Step) -> bytes:
        if "text" in step:
            return self._block("text", None) + self._delta({"text": step["text"]})
        if "reasoning" in step:
            return self._block("thinking", None) + self._delta({"reasoningContent": {"text": step["reasoning"]}})
        if "signature" in step:
            return self._delta({"reasoningContent": {"signature": step["signature"]}})
        if "redacted" in step:
            hidden = self._close() + self._block("redacted", None)
            return hidden + self._delta({"reasoningContent": {"redactedContent": step["redacted"]}}) + self._close()
        if "call" in step:
            call = step["call"]
            start = {"toolUse": {"toolUseId": call.get("id", "tooluse_1"), "name": call["name"]}}
            opened = self._block(f"tool{call.get('index', 0)}", start)
            return opened + self._delta({"toolUse": {"input": call.get("arguments", "")}})
        if "finish" in step:
            reason = self.REASONS.get(step["finish"], step["finish"])
            return self._close() + frame("messageStop", {"stopReason": reason})
        if "usage" in step:
            return frame("metadata", {"usage": self._usage(step["usage"]), "metrics": {"latencyMs": 7}})
        if "fault" in step:
            return frame(str(step["fault"]["code"]), {"message": step["fault"]["message"]}, "exception")
        return b""

    def _usage(self, usage: Mapping[str, int]) -> dict[str, int]:
        told, made = self.counted, usage.get("output", 0)
        if told is None:
            given = usage.get("input", 0)
            return {"inputTokens": given, "outputTokens": made, "totalTokens": given + made}
        cached = {"cacheReadInputTokens": told.read, "cacheWriteInputTokens": told.written}
        return {"inputTokens": told.plain, "outputTokens": made, "totalTokens": told.whole + made, **cached}

    def _block(self, name: str, start: Any) -> bytes:
        if self._open == name:
            return b""
        closed = self._close()
        self._open, self._index = name, self._index + 1
        if start is None:
            return closed
        return closed + frame("contentBlockStart", {"contentBlockIndex": self._index, "start": start})

    def _delta(self, delta: Any) -> bytes:
        return frame("contentBlockDelta", {"contentBlockIndex": self._index, "delta": delta})

    def _close(self) -> bytes:
        if not self._open:
            return b""
        self._open = ""
        return frame("contentBlockStop", {"contentBlockIndex": self._index})

    def closing(self) -> bytes:
        return b""


def frame(kind: str, payload: Any, message: str = "event") -> bytes:
    """One message of ``application/vnd.amazon.eventstream``."""
    named = {f":{message}-type": kind, ":content-type": "application/json", ":message-type": message}
    headers = b"".join(
        bytes((len(name),)) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in named.items()
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    whole = prelude + struct.pack(">I", binascii.crc32(prelude)) + headers + body
    return whole + struct.pack(">I", binascii.crc32(whole))

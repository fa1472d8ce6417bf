"""How the fake provider writes a round in the format of OpenAI's Responses API; the steps are those of wire.py."""

import json
from collections.abc import Mapping
from typing import Any


class Responses:
    """OpenAI's Responses API as server-sent events: items are added, grow and are done; the last event has them all."""

    content_type = "text/event-stream"

    def __init__(self, model: str) -> None:
        self._model = model
        self._items: list[dict[str, Any]] = []
        self._usage: Mapping[str, int] = {}
        self._number = 0

    def _event(self, kind: str, **more: Any) -> bytes:
        self._number += 1
        data = {"type": kind, "sequence_number": self._number, **more}
        return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()

    def _response(self, status: str) -> dict[str, Any]:
        given, made = self._usage.get("input", 0), self._usage.get("output", 0)
        usage = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": self._usage.get("cached", 0)},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": self._usage.get("reasoning", 0)},
            "total_tokens": given + made,
        }
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": self._model,
            "output": self._items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage if status == "completed" else None,
        }

    def opening(self) -> bytes:
        return self._event("response.created", response=self._response("in_progress"))

    def _item(self, kind: str, **more: Any) -> bytes:
        if self._items and self._items[-1]["type"] == kind and kind != "function_call":
            return b""
        self._items.append({"type": kind, "id": f"{kind[:2]}_{len(self._items)}", **more})
        return self._event("response.output_item.added", output_index=len(self._items) - 1, item=self._items[-1])

    def step(self, step: Mapping[str, Any]) -> bytes:
        at = {"output_index": len(self._items) - 1, "item_id": "x"}
        if "reasoning" in step:
            opened = self._item("reasoning", summary=[{"type": "summary_text", "text": ""}])
            self._items[-1]["summary"][0]["text"] += step["reasoning"]
            at["output_index"] = len(self._items) - 1
            return opened + self._event(
                "response.reasoning_summary_text.delta", delta=step["reasoning"], summary_index=0, **at
            )
        if "signature" in step:
            opened = self._item("reasoning", summary=[])
            self._items[-1]["encrypted_content"] = step["signature"]
            return opened + self._event("response.output_item.done", item=self._items[-1], **at)
        if "text" in step:
            opened = self._item("message", role="assistant", content=[])
            at["output_index"] = len(self._items) - 1
            return opened + self._event("response.output_text.delta", delta=step["text"], content_index=0, **at)
        if "call" in step:
            call = step["call"]
            made = {"call_id": call["id"], "name": call["name"]}
            opened = self._item("function_call", arguments="", **made)
            at["output_index"] = len(self._items) - 1
            grown = self._event("response.function_call_arguments.delta", delta=call["arguments"], **at)
            self._items[-1]["arguments"] = call["arguments"]
            return opened + grown + self._event("response.output_item.done", item=self._items[-1], **at)
        self._usage = step.get("usage", self._usage)
        return b""

    def closing(self) -> bytes:
        return self._event("response.completed", response=self._response("completed"))

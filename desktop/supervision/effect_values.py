"""What effects give, as text in the journal and back: messages, tool results, ends of agents, errors.

An agent is given what the journal holds, also the first time: so it goes the same way when it is run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from desktop.domain import errors
from desktop.domain.agent import AgentOutcome
from desktop.domain.errors import KnownError
from desktop.domain.messages import ChatMessage, Usage, block_from_plain, to_plain
from desktop.domain.models import ModelRequest
from desktop.domain.tools import ToolResult

_ERRORS: Mapping[str, type[KnownError]] = {
    name: found
    for name, found in vars(errors).items()
    if isinstance(found, type) and issubclass(found, KnownError)
}  # fmt: skip
_SCALARS = (str, int, float, bool, type(None))


def to_text(value: Any) -> str:
    """``value`` as compact JSON in ASCII; what JSON does not know becomes its text."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


def digest_of(*parts: Any) -> str:
    """16 hex digits of sha256 over plain values, whatever the order of their keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class RequestDigests:
    """Digests of model requests. A conversation grows at its end, so each message is looked at once."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[object, bytes]] = {}

    def of(self, request: ModelRequest) -> str:
        """16 hex digits for model, system text, tools, options and messages."""
        parts = (request.system, request.tools, request.options, *request.messages)
        whole = hashlib.sha256(str(request.model).encode())
        for part in parts:
            whole.update(self._part(part))
        if len(self._seen) > 2 * len(parts) + 16:
            now = {id(part) for part in parts}
            self._seen = {key: found for key, found in self._seen.items() if key in now}
        return whole.hexdigest()[:16]

    def _part(self, part: object) -> bytes:
        found = self._seen.get(id(part))
        if found is not None and found[0] is part:
            return found[1]
        plain = message_to_plain(part) if isinstance(part, ChatMessage) else part
        made = digest_of(plain).encode()
        self._seen[id(part)] = (part, made)
        return made


def message_to_plain(message: ChatMessage) -> dict[str, Any]:
    """JSON-ready form of a message."""
    plain: dict[str, Any] = {"role": message.role, "blocks": [to_plain(block) for block in message.blocks]}
    if message.stop_reason:
        plain["stop_reason"] = message.stop_reason
    if message.usage is not None:
        plain["usage"] = usage_to_plain(message.usage)
    if message.model:
        plain["model"] = message.model
    return plain


def message_from_plain(plain: Mapping[str, Any]) -> ChatMessage:
    """The inverse."""
    usage = plain.get("usage")
    return ChatMessage(
        plain["role"],
        tuple(block_from_plain(block) for block in plain["blocks"]),
        plain.get("stop_reason"),
        Usage(**usage) if usage is not None else None,
        plain.get("model", ""),
    )


def usage_to_plain(usage: Usage) -> dict[str, Any]:
    """JSON-ready form of what was used."""
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def result_to_plain(result: ToolResult) -> dict[str, Any]:
    """JSON-ready form of a tool's result, but for what ``to_text`` makes of its ``structured``."""
    plain: dict[str, Any] = {"text": result.text}
    if result.is_error:
        plain["is_error"] = True
    for name in ("structured", "code", "facts"):
        value = getattr(result, name)
        if value or (value is not None and name == "structured"):
            plain[name] = value
    return plain


def result_from_plain(plain: Mapping[str, Any]) -> ToolResult:
    """The inverse."""
    return ToolResult(**plain)


def outcome_to_plain(outcome: AgentOutcome) -> dict[str, Any]:
    """JSON-ready form of an agent's end."""
    return asdict(outcome)


def outcome_from_plain(plain: Mapping[str, Any]) -> AgentOutcome:
    """The inverse."""
    return AgentOutcome(**{**plain, "usage": Usage(**plain["usage"])})


def error_to_plain(error: KnownError) -> dict[str, Any]:
    """What is needed to raise the same error again."""
    kind = next(cls.__name__ for cls in type(error).__mro__ if _ERRORS.get(cls.__name__) is cls)
    fields = {name: value for name, value in vars(error).items() if isinstance(value, _SCALARS)}
    return {"error": kind, "text": str(error), "fields": {"code": error.code, **fields}}


def error_from_plain(plain: Mapping[str, Any]) -> KnownError:
    """The inverse; of a kind that this version does not know only the text is left."""
    cls = _ERRORS.get(str(plain.get("error")), KnownError)
    made = cls.__new__(cls, plain.get("text", ""))
    made.next_step = ""
    for name, value in plain.get("fields", {}).items():
        setattr(made, name, value)
    return made

"""What effects give, as text in the journal and back: messages, tool results, ends of agents, errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain import errors
from desktop.domain.errors import KnownError
from desktop.domain.messages import (
    ChatMessage,
    Usage,
    block_from_plain,
    media_from_plain,
    media_to_plain,
    to_plain,
    usage_to_plain,
)
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import ModelRequest
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.text.outside import plain_names
from desktop.domain.tools import ToolResult

_ERRORS: Mapping[str, type[KnownError]] = {
    name: found for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, KnownError)
}
MAX_SEEN = 1000
END = 250_000
"""Of a text twice as long, as of a picture, only both ends are looked at in a digest."""
_SCALARS = (str, int, float, bool, type(None))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


_ENCODE = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
_SORTED = json.JSONEncoder(separators=(",", ":"), default=_plain, sort_keys=True).encode


def to_text(value: Any, mask: Callable[[str], str] | None = None) -> tuple[str, bool]:
    """``value`` as compact JSON in ASCII, and whether secrets were taken out; what JSON does not know becomes its text.

    ``mask`` takes secrets out of a text. It knows them escaped for JSON too, so one look at the whole tells whether
    there are any; only then each text is looked at.
    """
    text = _ENCODE(value)
    if mask is None or mask(text) == text:
        return text, False
    return _ENCODE(_masked(json.loads(text), mask)), True


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(key): _masked(item, mask) for key, item in value.items()}
    return [_masked(item, mask) for item in value] if isinstance(value, list) else value


def digest_of(*parts: Any) -> str:
    """16 hex digits of sha256 over plain values, whatever the order of their keys."""
    text = _SORTED(parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class RequestDigests:
    """Digests of model requests. A conversation grows at its end, so what the last request began with is not looked at
    again; a message that stands elsewhere now is not turned into text again. With ``stored`` the id of a message that
    the store has stands for its text."""

    def __init__(self, *, stored: bool = False) -> None:
        self._stored = stored
        self._seen: dict[int, tuple[object, str]] = {}
        self._before: tuple[object, ...] = ()
        self._state = hashlib.sha256()

    def of(self, request: ModelRequest) -> str:
        """16 hex digits for model, system text, tools, settings and messages."""
        held = () if request.answer_schema is None else (request.answer_schema,)
        parts = (request.model, request.tools, request.settings, *held, *request.messages)
        known = len(self._before)
        if not known or parts[:known] != self._before:
            self._state, known = hashlib.sha256(), 0
        for part in parts[known:]:
            self._state.update(self.part(part).encode())
        self._before = parts
        whole = self._state.copy()
        whole.update(request.instructions.encode("utf-8", "replace"))
        return whole.hexdigest()[:16]

    def part(self, part: object) -> str:
        """16 hex digits for one message, or another part of a request; the same object is looked at once."""
        found = self._seen.get(id(part))
        if found is not None and found[0] is part:
            return found[1]
        if len(self._seen) > MAX_SEEN:
            self._seen.clear()
        made = _message_digest(part, self._stored) if isinstance(part, ChatMessage) else digest_of(_plain_part(part))
        self._seen[id(part)] = (part, made)
        return made


def _plain_part(part: object) -> object:
    return part.plain() if isinstance(part, ModelSettings) else part


def _message_digest(message: ChatMessage, stored: bool) -> str:
    """Texts go into it as they are: as JSON they would cost ten times as much. ``stored``: a message that the store has
    never changes, though a view of it may be shorter."""
    if stored and message.source_id:
        sizes = [len(getattr(block, "text", "")) for block in message.blocks]
        return hashlib.sha256(f"{message.role} {message.source_id} {sizes}".encode()).hexdigest()[:16]
    state = hashlib.sha256(f"{message.role} {message.stop_reason} {message.model}".encode())
    for block in message.blocks:
        for value in to_plain(block).values():
            text = value if isinstance(value, str) else _SORTED(value)
            state.update(b"%d " % len(text))
            state.update((text if len(text) < 2 * END else text[:END] + text[-END:]).encode("utf-8", "replace"))
    return state.hexdigest()[:16]


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
    """Restore a message from its JSON form."""
    usage = plain.get("usage")
    return ChatMessage(
        plain["role"],
        tuple(block_from_plain(block) for block in plain["blocks"]),
        plain.get("stop_reason"),
        Usage(**usage) if usage is not None else None,
        plain.get("model", ""),
    )


def result_to_plain(result: ToolResult) -> dict[str, Any]:
    """JSON-ready form of a tool's result, but for what ``to_text`` makes of its ``structured``."""
    plain: dict[str, Any] = {"text": result.text}
    if result.is_error:
        plain["is_error"] = True
    for name in ("structured", "code", "facts"):
        value = getattr(result, name)
        if value or (value is not None and name == "structured"):
            plain[name] = value
    if result.media:
        plain["media"] = media_to_plain(result.media)
    if result.outside:
        plain["outside"] = list(result.outside)
    return plain


def result_from_plain(plain: Mapping[str, Any]) -> ToolResult:
    """Restore a tool's result from its JSON form."""
    outside = plain_names(plain.get("outside"))
    return ToolResult(**{**plain, "media": media_from_plain(plain.get("media"), kept=True), "outside": outside})


def outcome_to_plain(outcome: AgentOutcome) -> dict[str, Any]:
    """JSON-ready form of an agent's end."""
    plain = {name: getattr(outcome, name) for name in AgentOutcome.__dataclass_fields__}
    return {**plain, "usage": usage_to_plain(outcome.usage)}


def error_to_plain(error: KnownError) -> dict[str, Any]:
    """What is needed to raise the same error again."""
    kind = next(cls.__name__ for cls in type(error).__mro__ if _ERRORS.get(cls.__name__) is cls)
    fields = {name: value for name, value in vars(error).items() if isinstance(value, _SCALARS)}
    return {"error": kind, "text": str(error), "fields": {"code": error.code, **fields}}


def error_from_plain(plain: Mapping[str, Any]) -> KnownError:
    """Restore an error from its JSON form; of a kind that this version does not know only the text is left."""
    cls = _ERRORS.get(str(plain.get("error")), KnownError)
    made = cls.__new__(cls, plain.get("text", ""))
    made.next_step = ""
    for name, value in plain.get("fields", {}).items():
        setattr(made, name, value)
    return made

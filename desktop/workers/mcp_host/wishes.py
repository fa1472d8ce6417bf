"""What a server asks of its client, in both eras: folders, an answer of a person, the use of a model, a sign of life.

Nothing is offered by itself: folders only where mcp.yaml names some, questions only where the app takes them, models
never. What is refused is told, once for each kind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import mcp_types
from mcp.shared.exceptions import MCPError

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.pieces import cut

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
_ASKED = ("message", "mode", "requestedSchema", "url", "elicitationId")
_NO_MODELS = "Assent does not let servers use its models."
_NO_FOLDERS = "Assent offers this server no folders."
_NO_QUESTIONS = "Assent takes no questions of this server."
_NOTHING = "Assent offers nothing of this kind to servers."


class ServerWishes:
    """``roots`` are ``{"uri", "name"}``, ``modes`` the kinds of questions that are taken (``form``, ``url``)."""

    def __init__(
        self,
        ask: Ask,
        tell: Callable[[Mapping[str, Any]], None],
        roots: Sequence[Mapping[str, str]],
        modes: Sequence[str],
    ) -> None:
        self._ask, self._tell = ask, tell
        self._roots = [{"uri": str(one["uri"]), "name": str(one["name"])} for one in roots]
        self._modes = tuple(modes)
        self._refused: set[str] = set()

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client says that it can do."""
        found: dict[str, Any] = {"roots": {}} if self._roots else {}
        if self._modes:
            found["elicitation"] = {mode: {} for mode in self._modes}
        return found

    async def answer(self, method: str, params: Any, tool: str = "", calls: Sequence[str] = ()) -> dict[str, Any]:
        """The answer to one wish; ``calls`` are those that it may be for. Raises MCPError where it is refused."""
        given = params if isinstance(params, Mapping) else {}
        match method:
            case "ping":
                return {}
            case "roots/list" if self._roots:
                return {"roots": self._roots}
            case "elicitation/create" if (given.get("mode") or "form") in self._modes:
                return await self._elicited(given, tool, calls)
        self._note(method)
        words = {"sampling/createMessage": _NO_MODELS, "roots/list": _NO_FOLDERS, "elicitation/create": _NO_QUESTIONS}
        raise MCPError(code=mcp_types.METHOD_NOT_FOUND, message=words.get(method, _NOTHING))

    async def _elicited(self, params: Mapping[str, Any], tool: str, calls: Sequence[str]) -> dict[str, Any]:
        asked = {key: params[key] for key in _ASKED if key in params}
        try:
            answer = await self._ask("elicitation", {"mode": "form", **asked, "tool": tool, "calls": list(calls)})
        except CallError as error:
            self._tell({"event": "note", "text": str(error)})
            return {"action": "cancel"}
        action = answer.get("action")
        if action not in ("accept", "decline"):
            return {"action": "cancel"}
        content = answer.get("content")
        return {
            "action": action,
            **({"content": content} if action == "accept" and isinstance(content, Mapping) else {}),
        }

    def _note(self, method: str) -> None:
        """Tell of a refused wish of the server, once for each kind of wish."""
        known = cut(method, 80)
        if known not in self._refused and len(self._refused) < limits.WISHES_TOLD:
            self._refused.add(known)
            self._tell({"event": "note", "text": f"It asked for {known}, which was refused."})

"""The person at one server: who they are to it (their sign-in), and what it asks them while its tools work."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.processes import ChildRefused
from desktop.tools.mcp.asking.questions import CallUnderWay
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.sign_in import McpSignIn

if TYPE_CHECKING:
    from desktop.tools.mcp.services import McpServices

UNAUTHORIZED = "mcp.unauthorized"
_FORBIDDEN = "403 Forbidden"
_KEPT_KEY = re.compile(r"\$\{keyring:([^{}]+)\}")


class PersonOfServer:
    """``changed`` follows what changes of the sign-in, ``note`` writes to the server's log."""

    def __init__(
        self, definition: McpDefinition, services: McpServices, changed: Callable[[], None], note: Callable[[str], None]
    ) -> None:
        self._definition, self._services, self._note = definition, services, note
        self._calls: dict[str, CallUnderWay] = {}
        self.sign_in = McpSignIn(definition, services, changed)

    def is_wanted(self, error: KnownError) -> bool:
        """Whether an error of the server is that a person has to sign in, or to allow more: then that is asked for."""
        if error.code != UNAUTHORIZED or not isinstance(error, ChildRefused) or not self._definition.may_sign_in:
            return False
        self.sign_in.wanted(error.data)
        return True

    def words(self, error: KnownError) -> str:
        """Why the server is gone, for a person: a key that it does not take is named, with where it is kept."""
        sent = (self._definition.bearer, *self._definition.headers.values())
        keys = [name for value in sent for name in _KEPT_KEY.findall(value)]
        refused = error.code == UNAUTHORIZED or _FORBIDDEN in str(error)
        if not keys or not refused or not isinstance(error, ChildRefused):
            return error.advice
        status = "401 Unauthorized" if error.code == UNAUTHORIZED else _FORBIDDEN
        which = ", ".join(keys[:3])
        return (
            f"It does not take the key that was sent ({status}). Replace {which} in Settings, Keyring; then start it."
        )

    def absent(self) -> ToolFailure:
        """Why a call cannot be made."""
        facts = self.sign_in.facts
        more = " to allow more" if facts.granted and not facts.again else ""
        return ToolFailure(
            f"The MCP server {self._definition.name} wants a person to sign in{more}.",
            code=UNAUTHORIZED,
            next_step="A person does that in Settings, MCP servers, with the browser.",
        )

    @contextlib.contextmanager
    def under_way(self, call: CallUnderWay) -> Iterator[None]:
        """A call is made: what the server asks meanwhile is asked for its sake."""
        self._calls[call.key] = call
        try:
            yield
        finally:
            del self._calls[call.key]

    async def asked(self, kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to what the MCP host or, through it, the server asks."""
        if kind == "tokens":
            await self.sign_in.renewed(payload)
        elif kind == "elicitation":
            named = payload.get("calls")
            calls = [self._calls[key] for key in (named if isinstance(named, list) else ()) if key in self._calls]
            return await self._services.questions.ask(self._definition, payload, calls, self._note)
        return {}

    async def signed_out(self) -> None:
        """Have the sign-in taken back there, and forget it here. Raises KnownError saying what could not be done."""
        note = await self.sign_in.sign_out()
        if note:
            raise ToolFailure(f"You are signed out here. {note}", code=UNAUTHORIZED)

"""A person's sign-in to one MCP server: what is asked, what was granted, renewed, and taken back (R-MCP-2).

Tokens lie in the system's keyring (for this session only, where it does not take them) and go from here to the MCP host
by its pipe. What a page shows of them (who, since when, which scopes) is kept beside, without any secret. A browser is
opened by a person's click alone: ``begin`` is called by nothing else.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import KnownError, SecretsUnavailable, ToolFailure
from desktop.domain.keyring import OWN_SERVICE, SIGN_IN_PREFIX, KeyringEntry
from desktop.domain.processes import ChildRefused
from desktop.domain.servers.sign_in import SignInFacts, SignInScope
from desktop.domain.text.json_text import read_json
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.headers import followed
from desktop.tools.mcp.offered import plain

if TYPE_CHECKING:
    from desktop.tools.mcp.services import McpServices

KEY = "mcp-sign-in:"
"""How the names of what is kept beside begin."""
LOOK_S = 60.0
WAIT_S = 300.0
"""How long the browser has, in seconds; the MCP host ends it then."""
LATE_S = 90.0
"""What a sign-in may take beside that: registration before it, tokens after it."""
OUT_S = 70.0
SCOPES_MAX, SCOPE_MAX, WORDS_MAX = 60, 200, 300

_KNOWN = {
    "offline_access": "Stay signed in when this sign-in ends",
    "openid": "Know who you are there",
    "profile": "Read your name and picture there",
    "email": "Read your e-mail address",
}
"""The only scopes that mean the same everywhere; of all others there is no word but their name."""


_SCOPE = re.compile(r'scope="?([\x20-\x21\x23-\x5b\x5d-\x7e]{1,4000})')


class McpSignIn:
    """``changed`` is called after each change of ``facts``; ``signed`` when the server has to start anew for it."""

    def __init__(self, definition: McpDefinition, services: McpServices, changed: Callable[[], None]) -> None:
        self._definition = definition
        self._services = services
        self._changed = changed
        self._entry = KeyringEntry(OWN_SERVICE, f"{SIGN_IN_PREFIX}{definition.name}")
        self._task: asyncio.Task[None] | None = None
        self._scope = self._challenge = ""
        self.facts = SignInFacts()

    # -- what the server needs of it ----------------------------------------------------------------------------------

    async def kept(self) -> dict[str, Any] | None:
        """What was kept of a sign-in to exactly this address; None: nobody is signed in. Raises SecretsUnavailable."""
        beside = await asyncio.to_thread(self._services.notes.get, KEY + self._definition.name)
        if not isinstance(beside, dict) or beside.get("url") != self._definition.url:
            return None
        found = await self._services.secrets.lookup(self._entry.service, self._entry.user)
        kept = _parsed(found or "")
        if kept is None or kept.get("url") != self._definition.url:
            await self._beside(None)
            return None
        await self._learn(kept)
        self._set(_facts(kept, self._session_only()))
        return kept

    async def renewed(self, kept: Mapping[str, Any]) -> None:
        """The MCP host has new tokens for the old ones."""
        whole = _parsed(json.dumps(kept))
        if whole is None or whole.get("url") != self._definition.url:
            return
        await self._learn(whole)
        await self._keep(whole)
        self._set(replace(_facts(whole, self._session_only()), renewed=time.time()))

    def wanted(self, refusal: Mapping[str, Any]) -> None:
        """The server does not answer without one, or not any more. ``refusal``: its ``status``, and its ``challenge``,
        which names scopes where it wants more of them."""
        before = self.facts
        if before.stage in ("looking", "waiting", "asks"):
            return
        self._challenge = str(refusal.get("challenge", ""))
        named = _SCOPE.search(self._challenge) if refusal.get("status") == HTTPStatus.FORBIDDEN else None
        more = named[1].split()[:SCOPES_MAX] if named is not None else []
        self._scope = " ".join(dict.fromkeys((*before.granted, *more))) if more else ""
        again = before.stage == "in" and not more
        self._set(replace(before, stage="wanted", again=again or before.again, problem=""))
        self.look()

    # -- what a person does -------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find out who asks, and for what; nothing is opened."""
        self._run(self._look())

    def begin(self, wanted: tuple[str, ...], show: Callable[[str], None], done: Callable[[], Awaitable[None]]) -> None:
        """A person has chosen: ``show`` gets the address for the browser, ``done`` is awaited once they are in."""
        if self.facts.stage == "asks":
            self._run(self._begin(wanted, show, done))

    def cancel(self) -> None:
        """The person does not want to wait any longer."""
        if self.facts.stage == "waiting":
            self._stop()
            self._set(replace(self.facts, stage="asks", address="", until=0.0))

    async def sign_out(self) -> str:
        """Have it taken back there, and forget it here. Returns what could not be done, or "". Raises
        SecretsUnavailable where the keyring may still have it."""
        self._stop()
        kept = _parsed(await self._services.secrets.lookup(self._entry.service, self._entry.user) or "")
        note = ""
        if kept is not None:
            try:
                found = await self._services.child.call("sign_out", {"kept": kept}, timeout=OUT_S)
                note = plain(found.get("note"), WORDS_MAX) if isinstance(found, Mapping) else ""
            except (KnownError, TimeoutError):
                note = "It could not be asked to take it back."
        await self._services.secrets.drop(self._entry.service, self._entry.user)
        await self._beside(None)
        self._set(SignInFacts("wanted"))
        return note

    def close(self) -> None:
        """The server is gone, or declared otherwise."""
        self._stop()

    # -- at work ------------------------------------------------------------------------------------------------------

    def _run(self, work: Any) -> None:
        self._stop()
        self._task = self._services.spawn(work, f"MCP server {self._definition.name}: sign in")

    def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _params(self) -> dict[str, Any]:
        """What the MCP host needs to ask. Raises ToolFailure: a secret is not there."""
        definition, secret = self._definition, ""
        if definition.client_secret:
            environment, caller = self._services.environment, f"mcp-{definition.name}"
            secret = await followed(definition.client_secret, "client_secret", environment, caller)
        return {
            "url": definition.url,
            "challenge": self._challenge,
            "client_id": definition.client_id,
            "client_secret": secret,
            "scope": self._scope,
        }

    async def _look(self) -> None:
        before = self.facts
        self._set(replace(before, stage="looking", problem=""))
        try:
            found = await self._services.child.call("sign_in_look", await self._params(), timeout=LOOK_S)
        except (KnownError, TimeoutError) as error:
            self._set(replace(before, stage="refused", problem=self._words(error)))
            return
        facts = found if isinstance(found, Mapping) else {}
        needed = {str(one) for one in _texts(facts.get("needed"))}
        granted = set(before.granted)
        scopes = tuple(
            SignInScope(one, _KNOWN.get(one, ""), one in needed, bool(granted) and one not in granted)
            for one in _texts(facts.get("scopes"))
        )
        host, name = plain(facts.get("host"), SCOPE_MAX), plain(facts.get("name"), WORDS_MAX)
        asks = replace(before, stage="asks", host=host, name=name, scopes=scopes, problem="", address="", until=0.0)
        self._set(replace(asks, session_only=not await self._keyring_is_there()))

    async def _begin(
        self, wanted: tuple[str, ...], show: Callable[[str], None], done: Callable[[], Awaitable[None]]
    ) -> None:
        before = self.facts
        try:
            params = {**await self._params(), "wanted": list(wanted), "host": before.host}
            self._set(replace(before, stage="waiting", problem="", address="", until=time.time() + WAIT_S))
            stream = self._services.child.stream("sign_in", params, deadline_s=WAIT_S + LATE_S)
            try:
                async for item in stream:
                    address = item.get("address") if isinstance(item, Mapping) else None
                    if isinstance(address, str) and address.startswith(("https://", "http://")):
                        self._set(replace(self.facts, address=address, until=time.time() + WAIT_S))
                        show(address)
            finally:
                stream.cancel()
            kept = _parsed(json.dumps(stream.value))
            if kept is None:
                raise ToolFailure("What came of the sign-in cannot be read.", code="mcp.sign_in_failed")
        except (KnownError, TimeoutError) as error:
            self._set(replace(before, stage="refused", problem=self._words(error)))
            return
        await self._learn(kept)
        self._scope = ""
        await self._keep(kept)
        await done()  # the server starts anew, and finds it

    async def _keep(self, kept: dict[str, Any]) -> None:
        await self._services.secrets.keep(self._entry.service, self._entry.user, json.dumps(kept))
        await self._beside({"url": kept["url"]})

    async def _beside(self, value: Mapping[str, Any] | None) -> None:
        await asyncio.to_thread(self._services.notes.put, {KEY + self._definition.name: value})

    async def _keyring_is_there(self) -> bool:
        try:
            await self._services.secrets.lookup(self._entry.service, self._entry.user)
        except SecretsUnavailable:
            return False
        return True

    def _session_only(self) -> bool:
        return self._services.secrets.place(self._entry.service, self._entry.user) in ("session", "waiting")

    async def _learn(self, kept: Mapping[str, Any]) -> None:
        """No text shows any of it from now on. A long token takes a moment: in a thread."""
        for part in ("tokens", "client"):
            for name in ("access_token", "refresh_token", "client_secret"):
                value = kept[part].get(name)
                if isinstance(value, str) and value:
                    await asyncio.to_thread(self._services.remember, value)

    def _words(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return "It did not answer in time."
        words = self._services.redactor.redact_text(plain(str(error), 2 * WORDS_MAX))[:WORDS_MAX]
        if isinstance(error, ChildRefused) and error.code == "mcp.sign_in_client":
            return f"{words} Register Assent there by hand, and write its client_id into mcp.yaml."
        return words

    def _set(self, facts: SignInFacts) -> None:
        if facts != self.facts:
            self.facts = facts
            self._changed()


def _facts(kept: Mapping[str, Any], session_only: bool) -> SignInFacts:
    tokens = kept["tokens"]
    return SignInFacts(
        "in",
        plain(kept.get("host"), SCOPE_MAX),
        plain(kept.get("name"), WORDS_MAX),
        until=_number(tokens.get("expires_at")),
        since=_number(kept.get("since")),
        renews=bool(tokens.get("refresh_token")),
        granted=tuple(_texts(str(tokens.get("scope") or "").split())),
        left_out=tuple(_texts(kept.get("left_out"))),
        session_only=session_only,
        can_revoke=bool(kept.get("revocation")),
    )


def _parsed(text: str) -> dict[str, Any] | None:
    """What is kept of a sign-in, or None for anything else."""
    try:
        found = read_json(text or "null")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(isinstance(found.get(part), dict) for part in ("tokens", "client")):
        return None
    access = found["tokens"].get("access_token")
    return found if isinstance(access, str) and access and isinstance(found.get("url"), str) else None


def _texts(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    return [plain(one, SCOPE_MAX) for one in found[:SCOPES_MAX] if isinstance(one, str) and one]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0

"""The MCP host's methods for signing in: ``sign_in_look``, ``sign_in`` and ``sign_out``.

Tokens, secrets of clients and PKCE verifiers exist inside these calls and nowhere else in this process.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from desktop.domain.text.scrub import scrub
from desktop.workers.inside import CallError, WorkerCall
from desktop.workers.mcp_host.auth import secrets_of
from desktop.workers.mcp_host.sign_in.flow import SignInClient, looked, signed_in
from desktop.workers.mcp_host.sign_in.kept import revoked


async def sign_in_look(call: WorkerCall) -> dict[str, Any]:
    """``url``, ``challenge`` (what its refusal says), maybe ``client_id``, ``client_secret``, ``scope``: who asks to
    sign in, and for what."""
    try:
        return await looked(SignInClient.of(call.params))
    except CallError as error:
        raise _clean(error, call.params) from None


async def sign_in(call: WorkerCall) -> dict[str, Any]:
    """The same with ``wanted`` (scopes) and ``host`` as it was shown. Emits ``address`` for the browser, and returns
    what is to be kept. Cancelled, it listens no more."""

    async def show(address: str) -> None:
        await call.emit({"address": address})

    params = call.params
    wanted = [str(one) for one in params.get("wanted") or ()]
    try:
        return await signed_in(SignInClient.of(params), wanted, str(params["host"]), show)
    except CallError as error:
        raise _clean(error, params) from None


async def sign_out(call: WorkerCall) -> dict[str, Any]:
    """``kept``: have the sign-in server forget it. Returns ``revoked`` and, where it is not, a ``note`` saying why."""
    kept = dict(call.params["kept"])
    found = await revoked(kept)
    return {**found, "note": scrub(str(found["note"]), secrets_of(kept))}


def sign_in_methods() -> dict[str, Any]:
    """By their names on the pipe."""
    logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL + 1)  # it logs states and answers whole
    return {method.__name__: method for method in (sign_in_look, sign_in, sign_out)}


def _clean(error: CallError, params: Mapping[str, Any]) -> CallError:
    secret = str(params.get("client_secret") or "")
    return CallError(error.code, scrub(str(error), [secret] if secret else []), error.data)

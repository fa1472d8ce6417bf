"""What is kept of a sign-in, and the requests that live on it: renewing the tokens, and taking them back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx2
from mcp.client.auth import OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from desktop.workers.inside import CallError
from desktop.workers.mcp_host.sign_in.guard import GuardedClient, limit_of

TOKEN_MAX = 6_000
"""Characters of a token: two of them have to find room in an entry of the keyring, and one in a header."""
KEPT_MAX = 16_000
"""Characters of all that is kept of a sign-in."""
NAME = "Assent"
EARLY_S, EARLY = 30.0, 0.1
"""Seconds before its end from which on a token counts as over, at most this share of its life."""
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}

Kept = dict[str, Any]
"""In the keyring and nowhere else: ``url`` (the server), ``issuer``, ``host``, ``token`` and ``revocation`` (addresses
of the sign-in server), ``resource``, ``client`` (``client_id``, ``client_secret``, ``token_endpoint_auth_method``),
``tokens`` (``access_token``, ``refresh_token``, ``scope``, ``expires_at``, ``renew_at``), ``since``, ``name``,
``left_out``."""


class NotRenewed(Exception):
    """The sign-in server gives no new tokens for the old ones: a person has to sign in again."""


def metadata(redirect: str) -> OAuthClientMetadata:
    """As what Assent registers itself: a program on a person's computer, without a secret that it could keep."""
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)], client_name=NAME, application_type="native", token_endpoint_auth_method="none"
    )


def checked(tokens: OAuthToken) -> OAuthToken:
    """Tokens that can be kept and sent. Raises CallError."""
    for one in (tokens.access_token, tokens.refresh_token or "x"):
        if not 1 <= len(one) <= TOKEN_MAX:
            raise CallError("mcp.sign_in_refused", f"It gave a token of {len(one):,} characters. Nothing was kept.")
        if not all(33 <= ord(letter) <= 126 for letter in one):
            raise CallError("mcp.sign_in_refused", "It gave a token that cannot be sent. Nothing was kept.")
    return tokens


def as_tokens(tokens: OAuthToken) -> dict[str, Any]:
    """The tokens as they are kept; ``expires_at`` and ``renew_at``: seconds since the epoch, None where that was not
    said."""
    seconds = None if tokens.expires_in is None else max(0, min(tokens.expires_in, 10**9))
    now = time.time()
    return {
        "access_token": tokens.access_token,
        "refresh_token": tokens.refresh_token,
        "scope": (tokens.scope or "")[:4_000],
        "expires_at": None if seconds is None else now + seconds,
        "renew_at": None if seconds is None else now + seconds - min(EARLY_S, EARLY * seconds),
    }


def is_over(kept: Mapping[str, Any]) -> bool:
    """Whether the token is no longer good, by what was said of its time."""
    due = kept["tokens"].get("renew_at")
    return isinstance(due, int | float) and time.time() > due


async def renewed(kept: Kept) -> Kept:
    """The same sign-in with new tokens. Raises NotRenewed, and CallError where the server could not be asked."""
    token = kept["tokens"].get("refresh_token")
    if not token:
        raise NotRenewed
    data = {"grant_type": "refresh_token", "refresh_token": str(token)}
    if kept.get("resource"):
        data["resource"] = str(kept["resource"])
    response = await _sent(kept, str(kept["token"]), data)
    if 400 <= response.status_code < 500 and response.status_code not in (408, 429):
        raise NotRenewed
    if response.status_code != 200:
        raise CallError("mcp.sign_in_failed", f"Its sign-in server has a problem (HTTP {response.status_code}).")
    try:
        tokens = checked(OAuthToken.model_validate_json(response.content))
    except ValueError:
        raise CallError("mcp.sign_in_failed", "Its sign-in server gave an answer that cannot be read.") from None
    before = kept["tokens"]
    tokens.scope = tokens.scope or before.get("scope")
    tokens.refresh_token = tokens.refresh_token or before.get("refresh_token")
    return {**kept, "tokens": as_tokens(tokens)}


async def revoked(kept: Kept) -> dict[str, Any]:
    """Have the sign-in server forget the tokens, where it offers that. Never raises for what the server does."""
    endpoint = str(kept.get("revocation") or "")
    if not endpoint:
        return {"revoked": False, "note": "It has no way to take a sign-in back: there it ends by itself."}
    try:
        for kind in ("refresh_token", "access_token"):
            if token := kept["tokens"].get(kind):
                data = {"token": str(token), "token_type_hint": kind}
                response = await _sent(kept, endpoint, data)
                if response.status_code == 400 and not kept["client"].get("client_secret"):
                    response = await _sent(kept, endpoint, {**data, "client_secret": ""})  # some insist on the field
                if response.status_code not in (200, 204):
                    return {"revoked": False, "note": f"It did not take it back (HTTP {response.status_code})."}
    except CallError as error:
        return {"revoked": False, "note": str(error)}
    return {"revoked": True, "note": ""}


async def _sent(kept: Kept, url: str, data: dict[str, str]) -> httpx2.Response:
    """A request as the client that signed in. Raises CallError."""
    client = kept["client"]
    known = OAuthClientInformationFull.model_validate(client)
    context = OAuthContext(str(kept["url"]), metadata("http://127.0.0.1/"), None, None, None)
    context.client_info = known
    try:
        data, headers = context.prepare_token_auth({**data, "client_id": known.client_id}, dict(_FORM))
    except OAuthTokenError:
        raise CallError("mcp.sign_in_failed", "It wants Assent to show who it is in a way that is not known.") from None
    async with GuardedClient(await limit_of(str(kept["url"]))) as web:
        return await web.send(httpx2.Request("POST", url, data=data, headers=headers))

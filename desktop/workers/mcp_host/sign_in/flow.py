"""Signing in: who asks and for what (``looked``), and the sign-in itself (``signed_in``).

The protocol is the library's: discovery with its checks of issuers, registration, PKCE, state, the exchange. Around it
here: where requests may go (guard.py), which scopes a person chose, caps, and that nothing is registered or opened
before a person has seen who asks. A sign-in registers Assent anew each time, so that no registration is ever stale.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    create_client_info_from_metadata_url,
    create_client_registration_request,
    extract_scope_from_www_auth,
    handle_registration_response,
    is_valid_client_metadata_url,
    should_use_client_metadata_url,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    TokenEndpointAuthMethod,
)
from pydantic import AnyUrl

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.workers.inside import CallError
from desktop.workers.mcp_host.sign_in.addresses import refused
from desktop.workers.mcp_host.sign_in.guard import GuardedClient, limit_of
from desktop.workers.mcp_host.sign_in.kept import KEPT_MAX, Kept, as_tokens, checked, metadata
from desktop.workers.mcp_host.sign_in.redirect import RedirectListener

SCOPES_MAX = 60
WORDS_MAX = 300
ADDRESS_MAX = 8_000
STAY = "offline_access"
"""The scope that asks for a token which outlives the sign-in."""
_MISMATCH = re.compile(r"mismatch: (\S{1,300}) != (\S{1,300})")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")

Show = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SignInClient:
    """The server, and as whom Assent asks: ``client_id`` "" where Assent registers itself; an https address is the
    place of a client's metadata."""

    url: str
    """The server."""
    challenge: str = ""
    """What its refusal says (``WWW-Authenticate``)."""
    client_id: str = ""
    """The client's name at the sign-in server, or ""."""
    client_secret: str = ""
    """Its secret, or ""."""
    scope: str = ""
    """What a running server asked for beyond what it was given, or ""."""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> SignInClient:
        """Read the parameters of a call."""
        more = (str(params.get(key) or "") for key in ("challenge", "client_id", "client_secret", "scope"))
        return cls(str(params["url"]), *more)


class _Seen(Exception):
    """Discovery is over, and nothing was sent to register or to sign in."""


class _NoStorage:
    """What is kept, the app keeps."""

    async def get_tokens(self) -> OAuthToken | None:
        """None: a sign-in begins without any."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Nothing is written here."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """A client that stands in for the one to come, so that discovery registers none."""
        return OAuthClientInformationFull(client_id="not registered yet")

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Nothing is written here."""


class _Provider(OAuthClientProvider):  # type: ignore[misc]  # the library is not read
    """The library's flow, cut in two: up to where a person has to be asked, and from there on."""

    def __init__(self, url: str) -> None:
        super().__init__(url, metadata("http://127.0.0.1/callback"), _NoStorage())

    async def _perform_authorization(self) -> httpx2.Request:
        raise _Seen

    async def ask(self) -> httpx2.Request:
        """Send the person to the browser; the request that fetches the tokens for what came back."""
        request: httpx2.Request = await super()._perform_authorization()
        return request

    async def take(self, response: httpx2.Response) -> OAuthToken:
        """The tokens of the answer to that."""
        await self._handle_token_response(response)
        assert self.context.current_tokens is not None
        return self.context.current_tokens

    @property
    def authorization(self) -> str:
        """The address that the browser is sent to, without what is added for one sign-in."""
        found = self.context.oauth_metadata
        legacy = f"{self.context.get_authorization_base_url(self.context.server_url)}/authorize"
        return str(found.authorization_endpoint) if found is not None else legacy

    @property
    def token(self) -> str:
        """Where tokens come from."""
        return str(self._get_token_endpoint())


async def looked(client: SignInClient) -> dict[str, Any]:
    """Who asks, and for what: ``host``, ``issuer``, ``scopes``, ``needed`` (those that the server names itself) and
    ``name``. Nothing is registered, and nothing is opened. Raises CallError."""
    async with GuardedClient(await limit_of(client.url)) as web:
        provider, required = await _discovered(client, web)
        return _told(provider, required, web)


async def signed_in(client: SignInClient, wanted: list[str], host: str, show: Show) -> Kept:
    """Register, have a person sign in at ``host`` (as they were shown) and fetch the tokens; ``show`` gets the address
    for the browser. Raises CallError, and then nothing is kept."""
    async with GuardedClient(await limit_of(client.url)) as web:
        provider, required = await _discovered(client, web)
        told, context = _told(provider, required, web), provider.context
        if told["host"] != host:
            raise _refused(f"It names another place to sign in now: {told['host']}.")
        chosen = [one for one in dict.fromkeys(wanted) if _SCOPE.fullmatch(one)][:SCOPES_MAX]
        listener = RedirectListener()
        try:
            context.client_metadata.redirect_uris = [AnyUrl(await listener.start())]
            context.client_metadata.scope = " ".join(chosen) or None
            context.client_info = await _registered(client, provider, web)
            tokens = await _fetched(provider, listener, show, web)
        except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError) as error:
            raise _refused(_words(error)) from None
        except (ValueError, UnicodeError, RecursionError):
            raise _refused("Its answer cannot be read.") from None
        finally:
            listener.close()
        return _kept(provider, tokens, {**told, "chosen": chosen})


# -- discovery --------------------------------------------------------------------------------------------------------


async def _discovered(client: SignInClient, web: GuardedClient) -> tuple[_Provider, tuple[str, ...]]:
    """Read what the server's refusal leads to; also the scopes that it names itself. The refusal was given already, to
    a request of the server's own: it is not asked once more. Raises CallError."""
    provider, request = _Provider(client.url), httpx2.Request("POST", client.url)
    header = {"www-authenticate": client.challenge} if client.challenge else {}
    refusal = httpx2.Response(HTTPStatus.UNAUTHORIZED, headers=header, request=request)
    required = client.scope or extract_scope_from_www_auth(refusal) or ""
    flow = provider.async_auth_flow(request)
    try:
        outgoing = await flow.__anext__()
        while True:
            response = refusal if outgoing is request else await web.send(outgoing)
            outgoing = await flow.asend(response)
    except StopAsyncIteration:
        raise CallError("mcp.sign_in_failed", "It does not say where to sign in.") from None
    except _Seen:
        return provider, tuple(required.split())[:SCOPES_MAX]
    except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError) as error:
        raise _refused(_words(error)) from None
    except (ValueError, UnicodeError, RecursionError):
        raise _refused("What it says of itself cannot be read.") from None
    finally:
        await flow.aclose()


def _told(provider: _Provider, required: tuple[str, ...], web: GuardedClient) -> dict[str, Any]:
    """What a person is shown before they choose. Raises CallError for what nobody should be asked."""
    context = provider.context
    server, resource = context.oauth_metadata, context.protected_resource_metadata
    if server is None and context.auth_server_url is not None:
        raise _refused(f"{_host(context.auth_server_url)}, which it names to sign in at, says nothing of itself.")
    for address in (provider.authorization, provider.token):
        if why := refused(address, web.limit):
            raise _refused(why)
    if server is not None and "S256" not in (server.code_challenge_methods_supported or []):
        raise _refused(f"{_host(str(server.issuer))} does not protect what the browser brings back (PKCE).")
    known = list((server and server.scopes_supported) or [])
    offered = [*required, *((resource and resource.scopes_supported) or (known if not required else []))]
    if STAY in known:
        offered.append(STAY)
    scopes = [one for one in dict.fromkeys(offered) if _SCOPE.fullmatch(one)][:SCOPES_MAX]
    needed = [one for one in required if one in scopes] or [one for one in scopes if one != STAY]
    return {
        "host": _host(provider.authorization),
        "issuer": str(server.issuer) if server is not None else context.get_authorization_base_url(context.server_url),
        "scopes": scopes,
        "needed": needed,
        "name": _plain((resource and resource.resource_name) or ""),
    }


# -- the sign-in ------------------------------------------------------------------------------------------------------


async def _registered(client: SignInClient, provider: _Provider, web: GuardedClient) -> OAuthClientInformationFull:
    """As whom Assent asks: the person's own client, one with its metadata at an address, or one registered now."""
    context = provider.context
    server, back = context.oauth_metadata, context.client_metadata.redirect_uris
    if client.client_id and should_use_client_metadata_url(server, _address(client.client_id)):
        return create_client_info_from_metadata_url(client.client_id, redirect_uris=back)
    if client.client_id:
        ways = (server and server.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
        way = "client_secret_basic" if "client_secret_basic" in ways else "client_secret_post"
        return OAuthClientInformationFull(
            client_id=client.client_id,
            client_secret=client.client_secret or None,
            token_endpoint_auth_method=way if client.client_secret else "none",
            redirect_uris=back,
        )
    base = context.get_authorization_base_url(context.server_url)
    context.client_metadata.token_endpoint_auth_method = _way(server)
    if server is not None and server.registration_endpoint is None:
        raise CallError("mcp.sign_in_client", "Its sign-in server does not let programs register by themselves.")
    request = create_client_registration_request(server, context.client_metadata, base)
    response = await web.send(request)
    if response.status_code not in (200, 201):
        words = f"Its sign-in server did not register Assent (HTTP {response.status_code})."
        raise CallError("mcp.sign_in_client", words)
    found = await handle_registration_response(response)
    check_registration_usable(found)
    return found


def _way(server: OAuthMetadata | None) -> TokenEndpointAuthMethod:
    """How Assent shows who it is: without a secret, which a program on a person's computer could not keep, unless the
    server takes nothing else."""
    ways = (server and server.token_endpoint_auth_methods_supported) or ["none"]
    known: tuple[TokenEndpointAuthMethod, ...] = ("none", "client_secret_post", "client_secret_basic")
    return next((one for one in known if one in ways), "none")


async def _fetched(provider: _Provider, listener: RedirectListener, show: Show, web: GuardedClient) -> OAuthToken:
    """Have the person sign in, and fetch the tokens. Raises CallError and the library's errors."""
    context = provider.context

    async def redirect(address: str) -> None:
        if len(address) > ADDRESS_MAX:
            raise _refused("The address to sign in at is too long.")
        listener.state = parse_qs(urlsplit(address).query).get("state", [""])[-1]
        await show(address)

    async def callback() -> AuthorizationCodeResult:
        found = await listener.answer()
        return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer)

    context.redirect_handler, context.callback_handler = redirect, callback
    context.protocol_version = None if context.oauth_metadata is None else "2025-11-25"
    response = await web.send(await provider.ask())
    if response.status_code not in (200, 201):
        raise _refused(f"Its sign-in server gave no token (HTTP {response.status_code}{_error_of(response)}).")
    return checked(await provider.take(response))


def _error_of(response: httpx2.Response) -> str:
    """The short word for what went wrong, such as ``invalid_grant``, or ""."""
    try:
        found = response.json()
    except (ValueError, RecursionError):
        return ""
    word = found.get("error") if isinstance(found, dict) else None
    return f", {word}" if isinstance(word, str) and re.fullmatch(r"[a-z_]{1,60}", word) else ""


def _kept(provider: _Provider, tokens: OAuthToken, told: Mapping[str, Any]) -> Kept:
    context = provider.context
    server, client = context.oauth_metadata, context.client_info
    assert client is not None
    revocation = str(server.revocation_endpoint) if server is not None and server.revocation_endpoint else ""
    granted = (tokens.scope or " ".join(told["chosen"])).split()
    kept: Kept = {
        "url": context.server_url,
        "issuer": told["issuer"],
        "host": told["host"],
        "name": told["name"],
        "token": provider.token,
        "revocation": revocation,
        "resource": context.get_resource_url() if context.should_include_resource_param("2025-11-25") else "",
        "client": {
            "client_id": client.client_id,
            "client_secret": client.client_secret,
            "token_endpoint_auth_method": client.token_endpoint_auth_method,
        },
        "tokens": as_tokens(tokens),
        "since": time.time(),
        "left_out": [one for one in told["scopes"] if one not in granted],
    }
    if len(json.dumps(kept)) > KEPT_MAX:
        raise _refused("What it gave is too long to be kept.")
    return kept


# -- words ------------------------------------------------------------------------------------------------------------


def _refused(words: str) -> CallError:
    known = words if words.endswith("Nothing was kept.") else f"{words} Nothing was kept."
    return CallError("mcp.sign_in_refused", known)


def _words(error: Exception) -> str:
    """What went wrong, in words for a person; the library's own may quote what was sent."""
    text = str(error)
    if "State parameter" in text:
        return "An answer came that does not belong to this sign-in."
    if found := _MISMATCH.search(text):
        return _mixed_up(found[1], found[2])
    if text.startswith("Protected resource"):
        return "What it says of itself is about another server."
    if isinstance(error, OAuthRegistrationError):
        return "Its sign-in server did not register Assent as it has to be."
    if isinstance(error, OAuthTokenError):
        return "Its sign-in server gave no token that can be used."
    return f"{_plain(text)}."


def _mixed_up(came: str, named: str) -> str:
    first, second = (came, named) if _host(came) == _host(named) else (_host(came), _host(named))
    return f"The answer came from {_plain(first)}, but the server had named {_plain(second)}."


def _address(text: str) -> str | None:
    return text if is_valid_client_metadata_url(text) else None


def _host(address: str) -> str:
    """The host of an address, with its port where that is not the usual one."""
    try:
        return httpx2.URL(address).netloc.decode("ascii").rpartition("@")[2][:200] or _plain(address)
    except (httpx2.InvalidURL, UnicodeError):
        return _plain(address)[:200]


def _plain(text: str) -> str:
    return "".join(one for one in text if one.isprintable())[:WORDS_MAX]

"""A real MCP server that wants a sign-in, with its sign-in server (the `mcp` package's) in the same process.

It prints its port. ``signed.py OPTIONS`` takes JSON: what it does otherwise than an honest one (see ``Twists``).
Whoever comes to sign in is taken for Ida, who agrees at once. ``/seen`` answers with what came, as JSON; ``/begin``
begins anew with other options, but for those that need another app (``FIXED``).
"""

import asyncio
import json
import secrets
import socket
import sys
import time
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import JSONResponse, Response

SCOPES = ["archive.read", "archive.annotate", "offline_access"]
OPTIONS: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
SEEN: list[dict[str, Any]] = []
FIXED = ("no_registration", "no_revocation", "json", "client")


class Ida(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Everything in memory; ``seconds`` is the life of a token."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        given = OPTIONS.get("client")
        if given and client_id == given["client_id"]:
            back = ["http://127.0.0.1/callback"]
            return AnyPort.model_validate({**given, "redirect_uris": back, "scope": " ".join(SCOPES)})
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = f"code-{secrets.token_hex(12)}"
        self.codes[code] = AuthorizationCode(
            code=code,
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        answer = {"code": code, "state": params.state, "iss": self.issuer, **OPTIONS.get("answer", {})}
        kept = {name: value for name, value in answer.items() if value is not None}
        return construct_redirect_uri(str(params.redirect_uri), **kept)

    async def load_authorization_code(self, client: OAuthClientInformationFull, code: str) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[code.code]
        return self._tokens(client.client_id, code.scopes, code.resource)

    def _tokens(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        one, two = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        ends = int(time.time()) + OPTIONS.get("life", 3600)
        self.access[one] = AccessToken(
            token=one, client_id=client_id, scopes=scopes, expires_at=ends, resource=resource
        )
        self.refresh[two] = RefreshToken(token=two, client_id=client_id, scopes=scopes)
        return OAuthToken(
            access_token=one + "x" * OPTIONS.get("longer", 0),
            expires_in=OPTIONS.get("seconds", 3600),
            scope=" ".join(scopes),
            refresh_token=None if OPTIONS.get("no_refresh") else two,
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found is not None and (found.expires_at or 0) > time.time() else None

    async def load_refresh_token(self, client: OAuthClientInformationFull, token: str) -> RefreshToken | None:
        return self.refresh.get(token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if OPTIONS.get("refuse_refresh"):
            raise TokenError("invalid_grant", "the sign-in is over")
        del self.refresh[token.token]
        return self._tokens(client.client_id, scopes, None)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def begin(self, options: dict[str, Any]) -> None:
        """As if it was started with other options."""
        kept = {name: OPTIONS[name] for name in FIXED if name in OPTIONS}
        OPTIONS.clear()
        OPTIONS.update({**kept, **options})
        for memory in (SEEN, self.clients, self.codes, self.access, self.refresh):
            memory.clear()

    def forget(self) -> None:
        """Every token is worth nothing from now on."""
        self.access.clear()


class AnyPort(OAuthClientInformationFull):
    """A client that a person registered by hand: of a program's own address the port may differ (RFC 8252)."""

    def validate_redirect_uri(self, redirect_uri: Any) -> Any:
        return redirect_uri


def made(base: str) -> tuple[Ida, Any]:
    """The sign-in server's memory, and the app."""
    ida = Ida(base)
    registration = ClientRegistrationOptions(enabled=not OPTIONS.get("no_registration"), valid_scopes=SCOPES)
    settings = AuthSettings.model_validate(  # from texts: they stay as they are, without a slash at the end
        {
            "issuer_url": base,
            "resource_server_url": f"{base}/mcp",
            "required_scopes": ["archive.read"],
            "client_registration_options": registration,
            "revocation_options": RevocationOptions(enabled=not OPTIONS.get("no_revocation")),
            "validate_token_resource": False,
        }
    )
    server = MCPServer("archive", auth_server_provider=ida, auth=settings)

    @server.tool()
    def whoami() -> str:
        """What the token allows."""
        found = get_access_token()
        return " ".join(found.scopes) if found else "nobody"

    @server.tool()
    def secret() -> str:
        """The token itself, which nobody should see."""
        found = get_access_token()
        return f"it is {found.token}" if found else "nobody"

    @server.tool()
    async def slowly() -> str:
        """Takes half a second."""
        await asyncio.sleep(0.5)
        return "done"

    return ida, server.streamable_http_app(json_response=bool(OPTIONS.get("json")))


class Twists:
    """Around the app: remembers what came, and answers otherwise where it is told to.

    ``bodies``: path -> fields put over the JSON that is answered; ``replace``: path -> [status, text]; ``stall``: paths
    that never answer; ``needs``: a scope without which every call of a tool is refused with 403.
    """

    def __init__(self, app: Any, ida: Ida) -> None:
        self.app, self.ida = app, ida

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body, receive = await _whole(receive)
        form = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        query = {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}
        if path == "/seen":
            await JSONResponse(SEEN)(scope, receive, send)
            return
        if path == "/begin":
            self.ida.begin(json.loads(body))
            await Response("begun")(scope, receive, send)
            return
        if path == "/forget":
            self.ida.forget()
            await Response("forgotten")(scope, receive, send)
            return
        SEEN.append({"path": path, "query": query, "form": form, "authorization": headers.get("authorization", "")})
        if path in OPTIONS.get("stall", ()):
            await asyncio.sleep(600)
        if path in OPTIONS.get("replace", {}):
            status, text = OPTIONS["replace"][path]
            answer = Response(text * OPTIONS.get("times", 1), status, media_type="application/json")
            await answer(scope, receive, send)
            return
        needs = OPTIONS.get("needs")
        if needs and b'"tools/call"' in body and not self._has(headers, needs):
            challenge = f'Bearer error="insufficient_scope", scope="{needs}"'
            await Response("no", 403, {"www-authenticate": challenge})(scope, receive, send)
            return
        over = OPTIONS.get("bodies", {}).get(path)
        await self.app(scope, receive, send if over is None else _Over(send, over))

    def _has(self, headers: dict[str, str], scope: str) -> bool:
        found = self.ida.access.get(headers.get("authorization", "").removeprefix("Bearer "))
        return found is not None and scope in found.scopes


class _Over:
    """Puts fields over a JSON answer."""

    def __init__(self, send: Any, over: dict[str, Any]) -> None:
        self.send, self.over = send, over
        self.start: Any = None

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        found = {**json.loads(message["body"]), **self.over}
        body = json.dumps({name: value for name, value in found.items() if value is not None}).encode()
        headers = [pair for pair in self.start["headers"] if pair[0] != b"content-length"]
        await self.send({**self.start, "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await self.send({"type": "http.response.body", "body": body})


async def _whole(receive: Any) -> tuple[bytes, Any]:
    """The body, and a way to receive it once more."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    body = b"".join(parts)
    told = False

    async def again() -> Any:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return body, again


if __name__ == "__main__":
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()  # who comes before it is ready waits
    port = listening.getsockname()[1]
    memory, application = made(f"http://127.0.0.1:{port}")
    print(port, flush=True)
    config = uvicorn.Config(Twists(application, memory), log_level="error", lifespan="on")
    uvicorn.Server(config).run([listening])

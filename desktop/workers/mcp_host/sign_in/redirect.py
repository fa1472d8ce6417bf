"""The one answer that the browser brings back: a listener on this computer, for one sign-in and one answer.

It is reached by whatever runs on this computer and by any page in the browser. So it serves nothing else, reflects
nothing of what it is sent, takes only a request for its own address, and an answer counts only with the state that was
sent along (RFC 8252, RFC 9700).
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.workers.inside import CallError

WAIT_S = 300.0
"""How long a person has, in seconds."""
HEAD_MAX = 16 * 1024
"""Bytes of one request."""
HEAD_S = 10.0
VISITORS_MAX = 50
WORDS_MAX = 300
PATH = "/callback"

_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Assent</title>"
    "<body style='font:16px system-ui,sans-serif;margin:15vh auto;max-width:28em;padding:0 1em'>"
    "<h1 style='font-size:1.3em'>{title}</h1><p>{words}</p></body></html>"
)
_BACK = ("You can go back to Assent", "Assent has the answer and says whether you are signed in. Close this page.")
_NOT_OURS = ("This is not the answer that Assent waits for", "Nothing was kept. Close this page.")


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """What the sign-in server had the browser bring."""

    code: str
    state: str
    issuer: str | None


class RedirectListener:
    """Listens from ``start`` on; ``answer`` waits. ``state`` is set when the address for the browser is known."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[BrowserAnswer] = asyncio.get_running_loop().create_future()
        self._visitors = 0
        self.state = ""
        self.port = 0

    async def start(self) -> str:
        """The address that the browser is to come back to."""
        self._server = await asyncio.start_server(self._visit, "127.0.0.1", 0, limit=HEAD_MAX)
        self.port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def answer(self) -> BrowserAnswer:
        """Raises CallError: none came in time, it was a refusal, or it was not for this sign-in."""
        try:
            async with asyncio.timeout(WAIT_S):
                return await self._answer
        except TimeoutError:
            words = f"No answer came from the browser within {WAIT_S / 60:g} minutes."
            raise CallError("mcp.sign_in_timeout", words) from None
        finally:
            self.close()

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if not self._answer.cancel() and not self._answer.cancelled():
            self._answer.exception()  # looked at: one that nobody waited for is no news

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._visitors += 1
        try:
            if self._answer.done() or self._visitors > VISITORS_MAX:
                return
            async with asyncio.timeout(HEAD_S):
                writer.write(_response(*await self._reply(reader)))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def _reply(self, reader: asyncio.StreamReader) -> tuple[int, tuple[str, str]]:
        try:
            return self._take(await reader.readuntil(b"\r\n\r\n"))
        except asyncio.LimitOverrunError:
            self._fail("The answer of the browser is too long.")
            return 431, _NOT_OURS

    def _take(self, head: bytes) -> tuple[int, tuple[str, str]]:
        """Look at one request; what is no answer at all changes nothing."""
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target = rest.partition(" ")[0]
        hosts = [line.partition(":")[2].strip() for line in lines[1:] if line.lower().startswith("host:")]
        if hosts != [f"127.0.0.1:{self.port}"]:  # a name that somebody has lead here
            return 400, _NOT_OURS
        try:
            parts = urlsplit(target)
            query = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=50)
        except ValueError:
            return 400, _NOT_OURS
        if method != "GET":
            return 405, _NOT_OURS
        given = dict(query)
        if parts.path != PATH or not ("code" in given or "error" in given):
            return 404, _NOT_OURS
        if len(given) != len(query):
            return self._fail("The answer of the browser says something twice.")
        return self._judge(given)

    def _judge(self, given: Mapping[str, str]) -> tuple[int, tuple[str, str]]:
        state = given.get("state", "")
        if not self.state or not hmac.compare_digest(state.encode(), self.state.encode()):
            return self._fail("An answer came that does not belong to this sign-in.")
        if "error" in given:
            said = _plain(given.get("error_description") or given["error"])
            kind = "mcp.sign_in_denied" if given["error"] == "access_denied" else "mcp.sign_in_refused"
            words = "You did not agree in the browser." if kind == "mcp.sign_in_denied" else f"It says: {said}"
            self._set(CallError(kind, words))
            return 200, _BACK
        self._set(BrowserAnswer(given["code"], state, given.get("iss")))
        return 200, _BACK

    def _fail(self, words: str) -> tuple[int, tuple[str, str]]:
        self._set(CallError("mcp.sign_in_refused", f"{words} Nothing was kept."))
        return 400, _NOT_OURS

    def _set(self, found: BrowserAnswer | CallError) -> None:
        if not self._answer.done():
            if isinstance(found, CallError):
                self._answer.set_exception(found)
            else:
                self._answer.set_result(found)


def _response(status: int, page: tuple[str, str]) -> bytes:
    body = _PAGE.format(title=page[0], words=page[1]).encode()
    head = (
        f"HTTP/1.1 {status} -\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _plain(text: str) -> str:
    return "".join(one for one in text if one.isprintable())[:WORDS_MAX]

"""A server of plain bytes on this computer, for pages that no well-behaved server sends."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


class RawWeb:
    """Answers each path with bytes, or with what a function writes. ``seen`` are the requests, ``bodies`` what was sent
    with them."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Answer] = {}
        self.seen: list[str] = []
        self.bodies: list[bytes] = []
        self.port = 0
        self._answering: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, body: bytes | str, *, kind: str = "text/html", headers: str = "") -> None:
        """A page with its length."""
        data = body.encode() if isinstance(body, str) else body
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
        self.answers[path] = head.encode() + data

    def answer(self, path: str, value: object, *, status: int = 200, headers: str = "") -> None:
        """JSON with a status."""
        data = json.dumps(value).encode()
        head = (
            f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
        )
        self.answers[path] = head.encode() + data

    def redirect(self, path: str, to: str) -> None:
        self.answers[path] = f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers in a task of our own, which ``end`` ends: a cancelled one of asyncio is an error in the log."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def end(self) -> None:
        """No answer goes on."""
        answering = list(self._answering)
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.seen.append(head)
            length = re.search(r"(?im)^content-length: (\d+)", head)
            self.bodies.append(await reader.readexactly(int(length[1])) if length is not None else b"")
            answer = self.answers.get(head.split(" ")[1].partition("?")[0])
            if callable(answer):
                await answer(writer)
            else:
                writer.write(
                    answer or b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno"
                )
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def raw_web(tls: ssl.SSLContext | None = None) -> AsyncIterator[RawWeb]:
    """The server while the context lasts."""
    web = RawWeb()
    server = await asyncio.start_server(web.connected, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        await web.end()

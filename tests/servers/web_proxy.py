"""A proxy of a company's network on this computer: it is told where to go, and takes everyone to one place."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.harness.timeouts import WAIT_S


class WebProxy:
    """``seen`` are the first lines of what it was asked, ``heads`` all of it; ``refuses`` is the status that it answers
    instead, ``port`` where it listens, ``leads_to`` the port that every tunnel ends at."""

    def __init__(self, leads_to: int) -> None:
        self.leads_to, self.port, self.refuses = leads_to, 0, 0
        self.heads: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def seen(self) -> list[str]:
        return [head.split("\r\n")[0] for head in self.heads]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())  # type: ignore[arg-type]
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            if self.refuses:
                writer.write(f"HTTP/1.1 {self.refuses} Blocked: ida:pa55\r\nContent-Length: 0\r\n\r\n".encode())
            elif head.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._tunnel(reader, writer)
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nforwarded")
            await writer.drain()
        writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.leads_to)

        async def pump(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65_536):
                    to.write(data)
                    await to.drain()
                to.write_eof()

        try:
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        finally:
            far_writer.close()


@asynccontextmanager
async def web_proxy(leads_to: int) -> AsyncIterator[WebProxy]:
    """The proxy while the context lasts."""
    proxy = WebProxy(leads_to)
    server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await asyncio.wait(proxy._tasks, timeout=WAIT_S) if proxy._tasks else None

"""A model server that sends too much: packed bombs, lines and events without an end, errors without an end."""

import contextlib
import functools
import gzip
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MB = 1024 * 1024
FLOODS: dict[str, tuple[int, dict[str, str], Callable[[], Iterable[bytes]]]] = {}
"""By name: status, headers, body."""


def flood(
    name: str, status: int = 200, **headers: str
) -> Callable[[Callable[[], Iterable[bytes]]], Callable[[], Iterable[bytes]]]:
    def named(body: Callable[[], Iterable[bytes]]) -> Callable[[], Iterable[bytes]]:
        FLOODS[name] = (status, {key.replace("_", "-"): value for key, value in headers.items()}, body)
        return body

    return named


@functools.cache
def _packed(wbits: int, megabytes: int, piece: bytes = b" ") -> tuple[bytes, ...]:
    """So many megabytes of one thing, packed. Each megabyte after the first packs to the same bytes, so that only two
    are packed and not all of them, which would keep this machine busy for seconds."""
    block = piece * (MB // len(piece))
    packing = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first, again = (packing.compress(block) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return (first, *[again] * (megabytes - 1), b"\x03\x00" + _trailer(wbits, megabytes, block))


def _trailer(wbits: int, megabytes: int, block: bytes) -> bytes:
    """The checksum that gzip (31) and zlib (15) end with."""
    if wbits < 0:
        return b""
    total = zlib.crc32 if wbits > zlib.MAX_WBITS else zlib.adler32
    check = functools.reduce(lambda so_far, _: total(block, so_far), range(megabytes), total(b""))
    return struct.pack("<II", check, megabytes * MB) if wbits > zlib.MAX_WBITS else struct.pack(">I", check)


@flood("gzip", content_encoding="gzip")
def _gzip() -> Iterable[bytes]:
    return _packed(31, 1000)


@flood("deflate", content_encoding="deflate")
def _deflate() -> Iterable[bytes]:
    return _packed(15, 1000)


@flood("deflate without its header", content_encoding="deflate")
def _raw_deflate() -> Iterable[bytes]:
    return _packed(-15, 1000)


@flood("gzip in gzip", content_encoding="gzip, gzip")
def _twice() -> Iterable[bytes]:
    yield gzip.compress(b"".join(_packed(31, 1000)))


@flood("gzip of empty lines", content_encoding="gzip")
def _empty_lines() -> Iterable[bytes]:
    return _packed(31, 1000, b"\n")


@flood("an error that is packed", 400, content_encoding="gzip")
def _packed_error() -> Iterable[bytes]:
    return _packed(31, 200)


@flood("an error without an end", 500)
def _error() -> Iterable[bytes]:
    return (b"x" * MB for _ in range(100))


@flood("a line of 700 MB")
def _line() -> Iterable[bytes]:
    yield b"data: "
    for _ in range(700):
        yield b"x" * MB


@flood("an event of short lines")
def _event() -> Iterable[bytes]:
    return (b"data: x\n" * 100_000 for _ in range(100))


@flood("an event of long lines")
def _long_event() -> Iterable[bytes]:
    return (b"data: " + b"x" * MB + b"\n" for _ in range(700))


@flood("brotli", content_encoding="br")
def _brotli() -> Iterable[bytes]:
    yield b"\x1b\xff\xff" * 1000


@flood("zstandard", content_encoding="zstd")
def _zstandard() -> Iterable[bytes]:
    yield b"\x28\xb5\x2f\xfd" * 1000


@flood("packed five times", content_encoding=", ".join(["gzip"] * 5))
def _five() -> Iterable[bytes]:
    yield gzip.compress(b"x")


@flood("not packed at all", content_encoding="gzip")
def _not_packed() -> Iterable[bytes]:
    yield b"data: {}\n\n"


class Server(ThreadingHTTPServer):
    """Its threads end with it."""

    daemon_threads = False  # closing it waits for them

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._callers: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        caller, place = super().get_request()
        self._callers.append(caller)
        return caller, place

    def hang_up(self) -> None:
        """On all callers: what is being sent to them fails."""
        for caller in self._callers:
            with contextlib.suppress(OSError):
                caller.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def flooding() -> Iterator[Callable[[str], str]]:
    """The address of a flood, by its name. At the end nothing is sent any more, also to those who still read."""
    names = list(FLOODS)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, headers, body = FLOODS[names[int(self.path.split("/")[1])]]
            self.send_response(status)
            for name, value in {"Content-Type": "text/event-stream", **headers, "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                for piece in body():
                    self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield lambda name: f"http://127.0.0.1:{server.server_port}/{names.index(name)}"
    finally:
        server.shutdown()
        server.hang_up()
        server.server_close()
        thread.join()

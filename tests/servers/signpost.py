"""A server that sends everybody on, and a second place that remembers whoever comes."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STATUSES = (301, 302, 303, 307, 308)


@dataclass
class Signpost:
    """``status`` and ``location``: the answer to every request. ``came`` has their request lines, ``port`` is where
    this one listens; ``elsewhere`` is the port of the second place, ``arrived`` what its callers said first."""

    port: int = 0
    elsewhere: int = 0
    status: int = 307
    location: str = ""
    came: list[str] = field(default_factory=list)
    arrived: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def places(self) -> dict[str, str]:
        """Where a redirect may point, by what is different there."""
        return {
            "another port": f"http://127.0.0.1:{self.elsewhere}/v1/chat",
            "another host": f"http://localhost:{self.elsewhere}/v1/chat",
            "another loopback address": f"http://127.0.0.2:{self.elsewhere}/v1/chat",
            "another scheme": f"https://127.0.0.1:{self.elsewhere}/v1/chat",
            "no scheme": f"//127.0.0.1:{self.elsewhere}/v1/chat",
            "another path": "/elsewhere",
            "a broken address": "http://[::1",
            "nowhere": "",
        }


@contextlib.contextmanager
def signpost() -> Iterator[Signpost]:
    """Both servers, as threads of this process."""
    post = Signpost()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            post.came.append(self.requestline)
            self.send_response(post.status)
            if post.location:
                self.send_header("Location", post.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    post.port = server.server_port
    with socket.create_server(("0.0.0.0", 0)) as listening:  # every loopback address has to be heard
        post.elsewhere = listening.getsockname()[1]
        threads = [
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True),
            threading.Thread(target=_remember, args=(listening, post), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield post
        finally:
            server.shutdown()
            server.server_close()
            with socket.create_connection(("127.0.0.1", post.elsewhere)) as last:
                last.sendall(_OVER)
            for thread in threads:
                thread.join()


_OVER = b"over\n"


def _remember(listening: socket.socket, post: Signpost) -> None:
    while True:
        caller, _ = listening.accept()
        with caller:
            caller.settimeout(5)
            try:
                said = caller.recv(65536)
            except OSError:
                said = b""
        if said == _OVER:
            return
        post.arrived.append(said)

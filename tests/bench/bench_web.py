"""A page of 5 MB: how long its Markdown takes, and what reading it costs the window's thread."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from desktop.workers.web_child import web_host
from desktop.workers.web_host.limits import SHOWN
from desktop.workers.web_host.markdown import to_markdown
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.registry import Figure, bench

PART = (
    "<p>Line {0} of <b>a long</b> page with <a href='/x{0}'>a link</a> and text to read, again and again.</p>\n"
    "<ul><li>one<li>two</ul><table><tr><td>a<td>b</table>"
)
PAGE = "".join(PART.format(number) for number in range(31_000))[:4_990_000]


class _Page(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@bench("a page of 5 MB as Markdown", target="<= 4000", unit="ms")
def converted() -> Figure:
    began = time.process_time()
    made = to_markdown(PAGE, "https://a.example/")
    return Figure((time.process_time() - began) * 1000, None, f"{len(made.text):,} characters, processor time")


@bench("longest block of the Qt thread while a page of 5 MB is read", target="<= 16", unit="ms", by="gap")
def blocks() -> Figure:
    async def work(url: str) -> float:
        child = web_host()
        try:
            with Blocks() as seen:
                stream = child.stream("page", {"url": url, "offset": 0, "size": SHOWN, "allowed": ["127.0.0.1"]})
                size = 0
                async for piece in stream:
                    size += len(piece["text"])
            assert size == SHOWN, size
            return seen.longest
        finally:
            await child.stop()

    with served() as url:
        return Figure(in_app_loop(lambda: work(url)), None, f"its first {SHOWN:,} characters")

"""MCP servers over HTTP: the key comes from the keyring, goes to that address only, and is never shown."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import pytest_asyncio

from tests.servers.mcp import honest
from tests.unit.tools.mcp.kit import KEY, Lent, McpBench

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, host=lent)
    yield made
    await made.end()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    process = subprocess.Popen(honest("http", KEY), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Odd(BaseHTTPRequestHandler):
    """Redirects with the key away, answers without end, or no JSON-RPC; remembers who came with which key."""

    came: list[tuple[str, str]]

    def do_POST(self) -> None:
        said = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.came.append((self.path, self.headers.get("authorization") or self.headers.get("x-api-key", "")))
        if self.path == "/tells":
            told = f"no such key {self.came[-1][1].removeprefix('Token ')}"
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            error = {"code": -32000, "message": told}
            self.wfile.write(json.dumps({"jsonrpc": "2.0", "id": json.loads(said).get("id"), "error": error}).encode())
            return
        if self.path.startswith("/refuses"):
            self.send_response(int(self.path.removeprefix("/refuses")))
            self.send_header("content-length", "0")
            self.end_headers()
            return
        if self.path.startswith("/away"):
            self.send_response(int(self.path.removeprefix("/away")))
            self.send_header("location", f"http://localhost:{self.server.server_address[1]}/stolen")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            for _ in range(1 if self.path == "/words" else 20_000):
                self.wfile.write(b"x" * 1024)
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def odd() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    came: list[tuple[str, str]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Odd,), {"came": came}))
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", came
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.spec("R-ENV-5", "R-SEC-4", "R-TOOL-10")
async def test_a_server_with_a_key_is_called_and_without_it_says_why(bench: McpBench, address: str) -> None:
    await bench.put(
        {"name": "web", "url": address, "bearer": "${keyring:github/ida}", "tools": {"say": "read"}},
        {"name": "keyless", "url": address},
        {"name": "nobody", "url": "http://127.0.0.1:9/mcp"},
    )
    await bench.accept("web")
    assert (await bench.call("web_say", text="over the net")).result.text == "over the net"
    assert (await bench.call("web_add", a=1, b=2)).state == "denied"
    request = bench.person.asked[0]
    assert request.preview["where"] == address
    assert "runs elsewhere" in request.preview["confinement"]
    for name in ("keyless", "nobody"):
        await bench.until(lambda name=name: bench.server(name).reason, f"{name} failed")
    assert KEY not in repr(bench.servers.state)


@pytest.mark.spec("R-TOOL-10")
async def test_only_a_server_at_an_address_is_said_to_run_elsewhere(bench: McpBench, address: str) -> None:
    told: dict[str, set[str]] = {"here": set(), "there": set()}

    def look() -> None:
        for server in bench.servers.state.servers:
            told[server.definition.name].add(server.confinement)

    bench.servers.on_change(look)
    await bench.put({"name": "there", "url": address}, {"name": "here", "command": "no-such-program-on-this-computer"})
    await bench.until(lambda: bench.server("here").reason and bench.server("there").confinement, "both were begun")
    assert told["here"] == {""}
    assert [words.startswith("It runs elsewhere") for words in told["there"] if words] == [True]


@pytest.mark.spec("R-ENV-4", "R-SEC-4")
async def test_a_header_is_sent_with_every_request_and_one_that_cannot_be_stops_the_start(
    bench: McpBench, address: str
) -> None:
    bench.keys["lines", "ida"] = KEY + "\r\nX-Injected: yes"
    header, missing, broken = "Bearer ${keyring:github/ida}", "${keyring:github/nobody}", "${keyring:lines/ida}"
    await bench.put(
        {"name": "web", "url": address, "headers": {"Authorization": header}, "tools": {"say": "read"}},
        {"name": "missing", "url": address, "headers": {"X-Key": missing}},
        {"name": "broken", "url": address, "headers": {"X-Key": broken}},
    )
    await bench.accept("web")
    assert (await bench.call("web_say", text="over the net")).result.text == "over the net"
    for name, words in (("missing", "headers.X-Key refers to"), ("broken", "headers.X-Key cannot be sent")):
        await bench.until(lambda name=name: bench.server(name).reason, f"{name} failed")
        assert words in bench.server(name).reason
    assert KEY not in repr(bench.servers.state)


async def test_a_key_that_a_server_does_not_take_is_named_with_where_it_is_kept(
    bench: McpBench, odd: tuple[str, list[tuple[str, str]]]
) -> None:
    base, _ = odd
    await bench.put(
        {"name": "bearer", "url": f"{base}/refuses401", "bearer": "${keyring:github/ida}"},
        {"name": "forbids", "url": f"{base}/refuses403", "headers": {"X-Api-Key": "Token ${keyring:github/ida}"}},
        {"name": "nobody", "url": f"{base}/refuses403"},
    )
    for name, said in (("bearer", "401 Unauthorized"), ("forbids", "403 Forbidden")):
        await bench.until(lambda name=name: bench.server(name).reason, f"{name} refused")
        why = bench.server(name).reason
        assert why == (
            f"It does not take the key that was sent ({said}). Replace github/ida in Settings, Keyring; then start it."
        )
    assert bench.server("bearer").restarts == 0
    await bench.until(lambda: bench.server("nobody").reason, "refused")
    assert "key" not in bench.server("nobody").reason


@pytest.mark.spec("R-ENV-6", "R-SEC-4")
async def test_the_key_goes_nowhere_else_and_answers_without_end_are_cut(
    bench: McpBench, odd: tuple[str, list[tuple[str, str]]]
) -> None:
    base, came = odd
    names = (*(f"away{status}" for status in (301, 302, 303, 307, 308)), "endless", "words", "tells")
    keys = ({"bearer": "${keyring:github/ida}"}, {"headers": {"X-Api-Key": "Token ${keyring:github/ida}"}})
    await bench.put(*({"name": n, "url": f"{base}/{n}", **keys[at % 2]} for at, n in enumerate(names)))
    for name in names:
        await bench.until(lambda name=name: bench.server(name).condition in ("waiting", "failed"), f"{name} failed")
        assert bench.server(name).reason
    assert {path for path, _ in came} == {f"/{name}" for name in names}
    assert {key for _, key in came} == {f"Bearer {KEY}", f"Token {KEY}"}
    assert "no such key [REDACTED]" in bench.server("tells").reason
    assert KEY not in repr(bench.servers.state)
    assert bench.host.health.restarts == 0
    assert "httpx2" not in sys.modules

"""The way to a server that is asked directly: which certificates are believed, what goes by a proxy, what is kept."""

import asyncio
import base64
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from desktop.domain.errors import CancellationError, ModelKeyRefused, ModelRateLimited, ModelUnreachable
from desktop.domain.models import Connection, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.workers.child import ChildProcess
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, collect, connection, meta, models_over, request, running_host
from tests.servers.web_proxy import WebProxy, web_proxy

pytestmark = pytest.mark.asyncio(loop_scope="session")

openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
FAR = Connection("far", "openai_compatible", "Far", "https://models.example/v1", "key")


class ModelServer:
    """Answers each request with one word, and keeps what it was asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until the other side closes it."""
        self.tasks.append(asyncio.current_task())  # type: ignore[arg-type]
        delta = {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        try:
            while True:
                said = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(said)
                size = next(int(line.split(":")[1]) for line in said.splitlines() if "content-length" in line.lower())
                await reader.readexactly(size)
                writer.write((head + body).encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def model_server(context: ssl.SSLContext | None = None) -> AsyncIterator[tuple[ModelServer, int]]:
    made = ModelServer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    try:
        yield made, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.wait_for(asyncio.gather(*made.tasks), WAIT_S)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=models.example")
    files = ("-addext", "subjectAltName=DNS:models.example", "-keyout", str(key), "-out", str(made))
    subprocess.run((*words, *files), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return context, made


def through(proxy: WebProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")


@openssl
@pytest.mark.spec("R-SEC-3")
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_far_server_is_asked_by_the_proxy_and_only_under_a_certificate_that_is_trusted(
    certificate: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    context, file = certificate
    async with model_server(context) as (server, port), web_proxy(port) as proxy:
        through(proxy, monkeypatch)
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(file))
        async with running_host(loaded=False) as host:
            asked = collect(models_over(host, FAR), request("far/m"))
            if trusted:
                items = await asked
                assert [item.text for item in items if isinstance(item, TextDelta)] == ["Hello"]
                assert KEY in server.heads[0]
            else:
                with pytest.raises(ModelUnreachable):
                    await asked
                assert server.heads == [], "nothing was asked of it, and no key given"
        assert [line.split(" HTTP")[0] for line in proxy.seen] == ["CONNECT models.example:443"]
        assert KEY not in str(proxy.heads)


async def test_a_server_of_this_computer_is_asked_by_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server() as (server, port), web_proxy(port) as proxy:
        through(proxy, monkeypatch)
        async with running_host(loaded=False) as host:
            near = connection("llamacpp", f"http://127.0.0.1:{port}")
            for _ in range(3):
                await collect(models_over(host, near), request("llamacpp/m"))
    assert proxy.seen == []
    assert (len(server.heads), len(server.tasks)) == (3, 1), "a connection serves the next request"


@pytest.mark.spec("R-SEC-3")
async def test_a_proxy_that_is_none_of_the_web_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Connection("far", "openai_compatible", "Far", "http://models.example/v1", "key")
    async with model_server() as (server, port):
        for address in (f"socks5://127.0.0.1:{port}", "http://", "http://name:hidden@[half"):
            monkeypatch.setenv("HTTP_PROXY", address)
            async with running_host(loaded=False) as host:
                with pytest.raises(ModelUnreachable) as told:
                    await collect(models_over(host, far), request("far/m"))
                assert "hidden" not in str(told.value)
    assert (server.heads, server.tasks) == ([], [])


async def test_who_names_a_user_in_the_address_is_asked_as_that_user() -> None:
    async with model_server() as (server, port), running_host(loaded=False) as host:
        near = connection("openai_compatible", f"http://name:word@127.0.0.1:{port}/v1")
        await collect(models_over(host, near), request("openai_compatible/m"))
    (head,) = server.heads
    assert f"Authorization: Basic {base64.b64encode(b'name:word').decode()}" in head
    assert KEY not in head


REFUSAL = "HTTP/1.1 {}\r\nContent-Length: 500\r\n{}\r\nno more than this"


@pytest.mark.parametrize(
    ("status", "head", "error"),
    [
        ("401 Unauthorized", "", ModelKeyRefused),
        ("429 Too Many Requests", "Content-Encoding: gzip\r\nRetry-After: 7\r\n", ModelRateLimited),
    ],
)
async def test_a_refusal_is_one_also_where_its_words_break_off(
    host: ChildProcess, status: str, head: str, error: type[Exception]
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REFUSAL.format(status, head).encode())
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        near = connection("llamacpp", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(error):
            await collect(models_over(host, near), request("llamacpp/m"))


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/v1", "http://nowhere.invalid/v1", "ftp://127.0.0.1/v1", "http://[::1", "models"]
)
async def test_what_cannot_be_reached_is_said_so(host: ChildProcess, address: str) -> None:
    with pytest.raises(ModelUnreachable):
        await collect(models_over(host, connection("openai_compatible", address)), request("openai_compatible/m"))


@pytest.mark.spec("R-PRV-10")
async def test_stopping_closes_the_connection_while_words_are_left_to_gather(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    """Between two readings of a quick server nothing is read for a moment."""
    provider.steps({"times": -1, "steps": [{"text": "tick # "}], "every": 0.001})
    token = CancellationToken()
    models, count = models_over(host, connection("llamacpp", provider.base_url)), 0

    async def read() -> None:
        nonlocal count
        async for _ in models.client.stream(request("llamacpp/m"), meta(token)):
            count += 1
            if count == 20:
                token.cancel("the person")

    with pytest.raises(CancellationError):
        await read()
    await asyncio.to_thread(provider.wait_for, lambda log: log[-1]["outcome"] == "disconnected")

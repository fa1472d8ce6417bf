"""One file of a server that does not play by the rules: never for ever, never from another place."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.web.proxies import WebProxies
from desktop.workers.inside import CallError
from desktop.workers.update_host.fetching import OneServer, Patience, served
from tests.harness.timeouts import FOREVER_S, WAIT_S
from tests.servers.raw_web import RawWeb, raw_web

pytestmark = pytest.mark.spec("R-UPD-1")


@pytest.fixture
async def web() -> AsyncIterator[RawWeb]:
    async with raw_web() as found:
        yield found


async def _fetched(web: RawWeb, patience: Patience, url: str = "") -> bytes:
    server = OneServer(served(web.url("/")), WebProxies())
    return await asyncio.to_thread(lambda: b"".join(server.pieces(url or web.url("/x"), patience)))


async def _refusal(web: RawWeb, patience: Patience, url: str = "") -> str:
    with pytest.raises(CallError) as caught:
        await _fetched(web, patience, url)
    return caught.value.code


def _drips(head: bytes, chunk: bytes, pause: float):  # type: ignore[no-untyped-def]
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(pause)

    return drip


async def _silent(_writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(FOREVER_S)


async def test_a_file_comes_whole(web: RawWeb) -> None:
    web.page("/x", b"abc" * 100_000)
    assert await _fetched(web, Patience()) == b"abc" * 100_000


async def test_a_server_that_says_nothing_is_given_up(web: RawWeb) -> None:
    web.answers["/x"] = _silent
    assert await _refusal(web, Patience(silence=0.2, whole=FOREVER_S)) == "updates.slow"


@pytest.mark.parametrize(
    ("head", "chunk"),
    [(b"HTTP/1.1 200 OK\r\n", b"X"), (b"HTTP/1.1 200 OK\r\n\r\n", b"x"), (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n")],
    ids=["a header without end", "a body", "headers"],
)
async def test_a_server_that_drips_is_given_up(web: RawWeb, head: bytes, chunk: bytes) -> None:
    web.answers["/x"] = _drips(head, chunk, 0.05)
    began = time.monotonic()
    assert await _refusal(web, Patience(silence=FOREVER_S, whole=0.5)) == "updates.slow"
    assert time.monotonic() - began < WAIT_S


async def test_a_package_that_comes_too_slowly_is_given_up(web: RawWeb) -> None:
    web.answers["/x"] = _drips(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.02)
    patience = Patience(silence=FOREVER_S, whole=FOREVER_S, slowest=1_000_000, window=0.2)
    assert await _refusal(web, patience) == "updates.slow"


async def test_no_other_server_is_asked(web: RawWeb) -> None:
    async with raw_web() as other:
        other.page("/x", b"x")
        for url in (other.url("/x"), web.url("/x", "localhost"), web.url("/x").replace("http:", "https:")):
            assert await _refusal(web, Patience(), url) == "updates.elsewhere"
        assert other.seen == []


async def test_a_certificate_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    done = await asyncio.create_subprocess_exec(
        *f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout {tmp_path}/k -out {tmp_path}/c".split(),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await done.wait() == 0
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(f"{tmp_path}/c", f"{tmp_path}/k")
    async with raw_web(tls) as found:
        url = found.url("/x").replace("http:", "https:")
        server = OneServer(served(url), WebProxies())
        with pytest.raises(CallError) as caught:
            await asyncio.to_thread(lambda: list(server.pieces(url, Patience())))
        assert caught.value.code == "updates.certificate"


@pytest.mark.parametrize(
    "address",
    [
        "http://updates.example/",
        "http://10.0.0.1/",
        "ftp://x/",
        "https://me:pw@x.example/",
        "file:///etc",
        "",
        "https://",
    ],
)
def test_an_address_that_is_not_encrypted_or_none_is_refused(address: str) -> None:
    with pytest.raises(CallError) as caught:
        served(address)
    assert caught.value.code == "updates.address"
    assert "pw" not in str(caught.value)


def test_https_and_this_computer_are_addresses() -> None:
    assert served("https://updates.example/assent").host == "updates.example"
    assert served("http://127.0.0.1:8000/").port == 8000

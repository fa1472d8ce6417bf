"""web-fetch against servers that mean harm: each costs its own call, and no other."""

import asyncio
import os
import signal

import pytest

from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.web.addresses import read_address
from tests.harness.timeouts import WAIT_S
from tests.unit.tools.builtin.test_web_fetch import Reader, reader

__all__ = ["reader"]
pytestmark = pytest.mark.spec("R-WEB-1")


async def test_json_that_would_grow_a_thousandfold_when_it_is_laid_out_stays_as_it_is(reader: Reader) -> None:
    reader.web.page("/", "[" * 900 + "1," * 400_000 + "1" + "]" * 900, kind="application/json")
    assert "of 801,801 characters shown" in await reader.page(limit=1_000)
    assert reader.child.health.generation == 1, "the process that read it goes on"


@pytest.mark.parametrize("body", [b"%PDF-1.7 no zero byte", b"PK\x03\x04archive", b"GIF89a", b"\x1f\x8bpacked"])
async def test_what_is_called_html_and_is_none_is_not_read(reader: Reader, body: bytes) -> None:
    reader.web.page("/", body, kind="text/html; charset=utf-8")
    with pytest.raises(ToolFailure, match="only text is read"):
        await reader.page()


async def test_many_hosts_that_never_finish_do_not_keep_another_from_being_read(reader: Reader) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.2)

    reader.web.answers["/slow"] = slow
    reader.web.page("/", "<p>quick</p>")
    waiting = [asyncio.ensure_future(reader.page("/slow")) for _ in range(60)]
    async with asyncio.timeout(WAIT_S):
        while len(reader.web.seen) < len(waiting):
            await asyncio.sleep(0.01)
    assert "quick" in await reader.page()
    assert not any(one.done() for one in waiting), "it did not have to wait for them"
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert "quick" in await reader.page()


@pytest.mark.expects_log("web-host ended with signal")
async def test_a_page_that_ends_the_process_costs_its_call_and_says_so(reader: Reader) -> None:
    async def silent(_writer: asyncio.StreamWriter) -> None:
        pid = reader.child.health.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    reader.web.answers["/"] = silent
    with pytest.raises(ToolFailure, match="The process that reads pages ended") as error:
        await reader.page()
    assert error.value.code == "web.failed"
    reader.web.page("/", "<p>again</p>")
    assert "again" in await reader.page()


@pytest.mark.parametrize(
    "host",
    [
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:ffff:10.0.0.1]",
        "[2002:7f00:1::]",
        "[64:ff9b::169.254.169.254]",
        "[fe80::1]",
        "[fec0::1]",
        "[fd00::1]",
        "127.0.0.1.",
        "LOCALHOST.",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
    ],
)
async def test_another_spelling_of_an_address_inside_is_refused_as_well(reader: Reader, host: str) -> None:
    reader.own = ()
    refused = (await reader.check(f"http://{host}:8080/")).denied
    assert isinstance(refused, Denied | ToolFailure)
    assert refused.code in ("web.private", "web.address")


@pytest.mark.parametrize(
    ("written", "host", "readable"),
    [
        ("https://\u0430pple.com/", "xn--pple-43d.com", "\u0430pple.com"),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "\u0430pple.com"),
        ("https://paypal.com.evil.example/", "paypal.com.evil.example", ""),
        ("https://paypal.com\u2024evil.example/", "paypal.com.evil.example", ""),
        ("https://stra\u00dfe.example/", "strasse.example", ""),
    ],
)
async def test_a_name_that_only_looks_like_another_is_shown_as_it_is_asked_for(
    reader: Reader, written: str, host: str, readable: str
) -> None:
    preview = (await reader.check(written)).preview
    assert (preview["host"], preview["readable"], read_address(written).name) == (host, readable, host)

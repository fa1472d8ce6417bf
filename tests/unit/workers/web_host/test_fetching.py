"""Reading one page: only from where it may, only so much of it, whatever a server does."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import AsyncIterator, Sequence

import pytest

from desktop.domain.web.addresses import BadWebAddress, read_address
from desktop.workers.inside import CallError
from desktop.workers.web_host import limits
from desktop.workers.web_host.connecting import Resolve, Way, in_one_network, is_beside
from desktop.workers.web_host.decoding import decoded
from desktop.workers.web_host.fetching import FetchedPage, fetch
from tests.servers.raw_web import RawWeb, raw_web

pytestmark = pytest.mark.spec("R-WEB-1")


@pytest.fixture
async def web() -> AsyncIterator[RawWeb]:
    async with raw_web() as server:
        yield server


async def read(web: RawWeb, path: str = "/") -> FetchedPage:
    return await fetch(read_address(web.url(path)), Way(["127.0.0.1"]))


async def refusal(web: RawWeb, path: str = "/") -> str:
    with pytest.raises(CallError) as error:
        await read(web, path)
    return error.value.code


def turns(*answers: Sequence[str]) -> Resolve:
    """A name server that answers otherwise each time."""
    left = list(answers)

    async def resolve(name: str, port: int) -> Sequence[str]:
        return left.pop(0)

    return resolve


async def test_a_page_is_asked_for_without_cookies_and_under_its_own_name(web: RawWeb) -> None:
    web.page("/a", "<p>hello</p>", headers="Set-Cookie: id=7\r\n")
    web.redirect("/to", "/a?x=1")
    page = await read(web, "/to")
    assert (page.body, page.status, page.cut) == (b"<p>hello</p>", 200, False)
    assert "GET /a?x=1 HTTP/1.1" in web.seen[1]
    assert all(f"host: 127.0.0.1:{web.port}" in head.lower() and "cookie" not in head.lower() for head in web.seen)


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "::1", "100.64.1.1", "64:ff9b::a00:1"])
async def test_a_name_that_leads_inside_is_not_connected_to(web: RawWeb, inside: str) -> None:
    web.page("/", "secret")
    address = read_address(web.url("/", host="inside.example"))
    with pytest.raises(CallError, match="leads inside this computer") as error:
        await fetch(address, Way([], resolve=turns(["93.184.215.14", inside])))
    assert error.value.code == "web.private"
    assert web.seen == [], "one public address beside it changes nothing"


@pytest.mark.spec("R-WEB-1")
def test_an_address_of_this_computer_is_known_however_public_it_is() -> None:
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with own:
        own.connect(("192.0.2.1", 9))
        used = str(own.getsockname()[0])
    assert is_beside(used), "that this computer sends from"
    assert is_beside("127.0.0.1")
    assert not is_beside("192.0.2.1")
    assert not is_beside("2001:db8::1")
    assert not is_beside("no address")
    assert in_one_network("2001:db8:0:1::5", "2001:db8:0:1:ffff::9"), "another computer at home"
    assert not in_one_network("2001:db8:0:1::5", "2001:db8:0:2::5")
    assert not in_one_network("192.0.2.1", "192.0.2.2"), "by the older kind, what is at home is not public"


async def test_the_name_is_looked_up_once_and_what_was_judged_is_connected_to(web: RawWeb) -> None:
    web.page("/", "<p>x</p>")
    web.redirect("/on", "/")
    named = read_address(web.url("/", host="rebound.example"))
    page = await fetch(named, Way(["rebound.example"], resolve=turns(["127.0.0.1"])))
    assert page.body == b"<p>x</p>", "a second look-up would have failed: there is no second answer"
    with pytest.raises(CallError) as error:
        await fetch(
            read_address(web.url("/on", host="rebound.example")),
            Way([named.host], resolve=turns(["127.0.0.1"], ["0.0.0.0"])),
        )
    assert error.value.code == "web.private", "each redirect is judged by the address that it then connects to"


async def test_a_redirect_to_another_host_is_not_followed_but_named(web: RawWeb) -> None:
    web.redirect("/other", "https://other.example/x?y=1")
    web.redirect("/loop", f"http://localhost:{web.port}/")
    page = await read(web, "/other")
    assert (page.leads_to, page.body) == ("https://other.example/x?y=1", b"")
    assert (await read(web, "/loop")).leads_to == f"http://localhost:{web.port}/", "another name asks as well"
    assert len(web.seen) == 2


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "data:text/html,x", "ftp://a.example/", "http://a:b@c.example/", "//"]
)
async def test_a_redirect_to_what_is_no_page_is_refused(web: RawWeb, to: str) -> None:
    web.redirect("/", to)
    assert await refusal(web) == "web.redirects"


async def test_endless_redirects_end(web: RawWeb) -> None:
    web.redirect("/", "/")
    assert await refusal(web) == "web.redirects"
    assert len(web.seen) == limits.REDIRECTS + 1


@pytest.mark.parametrize("packed", ["", "gzip", "deflate"])
async def test_of_an_endless_or_packed_flood_the_beginning_is_read(web: RawWeb, packed: str) -> None:
    async def flood(writer: asyncio.StreamWriter) -> None:
        how = f"Content-Encoding: {packed}" if packed else "X: y"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{how}\r\n\r\n".encode())
        block = b"x" * 1_000_000
        packer = zlib.compressobj(9, zlib.DEFLATED, 31 if packed == "gzip" else 15)
        while True:
            writer.write(packer.compress(block) + packer.flush(zlib.Z_SYNC_FLUSH) if packed else block)
            await writer.drain()
            await asyncio.sleep(0)  # what is packed so small never fills the pipe

    web.answers["/"] = flood
    page = await read(web)
    assert (len(page.body), page.cut) == (limits.BODY, True)


async def test_what_is_not_as_the_server_says_is_an_error(web: RawWeb) -> None:
    web.answers["/short"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 500\r\n\r\nabc"
    web.answers["/header"] = b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\nabc"
    web.answers["/noise"] = b"\x00\x01\x02 no http at all\r\n\r\n"
    web.page("/packed", b"no gzip", headers="Content-Encoding: gzip\r\n")
    web.page("/br", b"...", headers="Content-Encoding: br\r\n")
    web.page(
        "/twice", gzip.compress(gzip.compress(gzip.compress(b"x"))), headers="Content-Encoding: gzip, gzip, gzip\r\n"
    )
    assert [await refusal(web, f"/{path}") for path in ("short", "header", "noise")] == ["web.failed"] * 3
    assert [await refusal(web, f"/{path}") for path in ("packed", "br", "twice")] == ["web.unreadable"] * 3


async def test_a_film_or_an_archive_is_not_downloaded(web: RawWeb) -> None:
    async def film(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 5000000000\r\n\r\n")

    web.answers["/"] = film
    page = await read(web)
    assert (page.body, page.kind) == (b"", "video/mp4")


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd",
        "data:text/html,x",
        "ftp://example.org/",
        "javascript:alert(1)",
        "example.org",
        "//example.org/",
        "https://ida:key@example.org/",
        "https://ida@example.org/",
        "https://example.org:22/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://2130706433/",
        "https://127.1/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://exam ple.org/",
        "https://example.org\\@evil.example/",
        "https://example.org/\u202etxt",
        "https://[::1%25eth0]/",
        "https:///x",
        "https://-/",
        "https://" + "a" * 3_000,
        "",
    ],
)
def test_what_is_no_plain_address_of_the_web_is_refused(text: str) -> None:
    with pytest.raises(BadWebAddress):
        read_address(text)


def test_an_address_has_one_way_of_being_written_and_punycode_two_spellings() -> None:
    found = read_address(" HTTPS://BÜCHER.example:443/ä?q=ß#part ")
    assert (found.host, found.readable) == ("xn--bcher-kva.example", "bücher.example")
    assert found.text == "https://xn--bcher-kva.example/%C3%A4?q=%C3%9F"
    assert read_address("http://a.example/").host == "a.example:80", "what was allowed encrypted is not so without"
    assert read_address("https://a.example:8443/").host == "a.example:8443"


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (b"caf\xc3\xa9", "text/html", "café"),
        (b"caf\xe9", "text/html", "café"),
        (b"caf\xe9", "text/html; charset=iso-8859-1", "café"),
        (b"caf\xe9", "text/html; charset=utf-8", "caf\ufffd"),
        (b"caf\xc3\xa9", "text/html; charset=nonsense", "café"),
        (b"+AGE-", "text/html; charset=utf-7", "+AGE-"),
        (b"6162", "text/html; charset=hex", "6162"),
        (b"\xff\xfea\x00", "text/html", "a"),
        (b'<meta charset="koi8-r">\xc1', "text/html", '<meta charset="koi8-r">а'),
    ],
)
def test_a_wrong_charset_costs_letters_and_never_the_page(body: bytes, kind: str, text: str) -> None:
    assert decoded(body, kind) == text

"""Pages through a company's proxy: what is refused without one is refused with it, and it is told what was judged."""

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.web.addresses import read_address
from desktop.domain.web.proxies import WebProxies, proxies_of, proxy_name
from desktop.workers.inside import CallError
from desktop.workers.web_host.connecting import Way
from desktop.workers.web_host.fetching import fetch
from tests.servers.raw_web import RawWeb, raw_web
from tests.servers.web_proxy import WebProxy, web_proxy

pytestmark = [
    pytest.mark.spec("R-WEB-1"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with"),
]
PUBLIC = "93.184.215.14"


class Office:
    """A site of the web behind a proxy: ``way`` goes there, with ``names`` as all that can be looked up here."""

    def __init__(self, web: RawWeb, proxy: WebProxy, certificate: Path) -> None:
        self.web, self.proxy = web, proxy
        self.names: dict[str, Sequence[str]] = {"tides.example": (PUBLIC,)}
        trusted = ssl.create_default_context(cafile=str(certificate))
        address = f"http://ida:pa55@127.0.0.1:{proxy.port}"
        proxies = WebProxies({"https": address, "http": address})
        self.way = Way((), proxies, self._resolve, lambda: trusted)

    async def _resolve(self, name: str, port: int) -> Sequence[str]:
        if name not in self.names:
            raise OSError("no such name")
        return self.names[name]

    async def read(self, url: str, *own: str) -> str:
        page = await fetch(read_address(url), replace(self.way, own=own))
        return page.body.decode()

    async def refusal(self, url: str, *own: str) -> CallError:
        with pytest.raises(CallError) as error:
            await self.read(url, *own)
        assert "pa55" not in str(error.value), "what was refused repeats no password"
        return error.value


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tides.example")
    names = "subjectAltName=DNS:tides.example,DNS:wiki.lan"
    files = ("-addext", names, "-keyout", str(key), "-out", str(certificate))
    subprocess.run((*words, *files), check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with raw_web(tls) as web, web_proxy(web.port) as proxy:
        web.page("/", "high water", kind="text/plain")
        yield Office(web, proxy, certificate)


async def test_the_proxy_is_told_the_address_that_was_judged_and_the_site_proves_its_name(office: Office) -> None:
    assert await office.read("https://tides.example/") == "high water"
    assert office.proxy.seen == [f"CONNECT {PUBLIC}:443 HTTP/1.1"], "the name is not looked up a second time"
    assert "proxy-authorization: Basic" in office.proxy.heads[0].replace("Proxy-Authorization", "proxy-authorization")
    assert "host: tides.example" in office.web.seen[0].lower()
    assert "proxy-authorization" not in office.web.seen[0].lower(), "the site hears nothing of the proxy's password"
    office.names["other.example"] = (PUBLIC,)
    assert (await office.refusal("https://other.example/")).code == "web.unreachable", "the certificate is another's"


@pytest.mark.parametrize("inside", ["10.0.0.5", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.5"])
async def test_what_leads_inside_is_refused_before_the_proxy_hears_of_it(office: Office, inside: str) -> None:
    office.names["sly.example"] = (PUBLIC, inside)
    assert (await office.refusal("https://sly.example/")).code == "web.private"
    url = f"https://[{inside}]/" if ":" in inside else f"https://{inside}/"
    assert (await office.refusal(url)).code == "web.private"
    assert office.proxy.seen == []


async def test_a_name_that_only_the_proxy_knows_is_asked_for_once_the_person_has_named_it(office: Office) -> None:
    error = await office.refusal("https://wiki.lan/")
    assert (error.code, office.proxy.seen) == ("web.proxy", [])
    assert "Hosts of your own network" in str(error)
    assert await office.read("https://wiki.lan/", "wiki.lan") == "high water"
    assert office.proxy.seen == ["CONNECT wiki.lan:443 HTTP/1.1"]


async def test_a_page_without_encryption_goes_through_a_proxy_only_if_the_person_named_its_host(office: Office) -> None:
    assert (await office.refusal("http://tides.example/")).code == "web.proxy"
    assert office.proxy.seen == []
    assert await office.read("http://wiki.lan/a?b=c", "wiki.lan:80") == "forwarded"
    (seen,) = office.proxy.seen
    assert seen.replace(":80/", "/") == "GET http://wiki.lan/a?b=c HTTP/1.1"


async def test_a_proxy_that_refuses_is_missing_or_cannot_be_used_says_so(office: Office) -> None:
    office.proxy.refuses = 407
    error = await office.refusal("https://tides.example/")
    assert error.code == "web.proxy"
    assert f"The proxy 127.0.0.1:{office.proxy.port} does not let this computer reach tides.example" in str(error)
    assert "(it answers 407)" in str(error)
    assert "Hosts of your own network" in str(error), "a name may be let through where an address is not"
    for url in ("https://wiki.lan/", "http://wiki.lan/"):
        error = await office.refusal(url, "wiki.lan", "wiki.lan:80")
        assert str(error).endswith("(it answers 407)."), "what a proxy says of itself is no page"
    found = []
    for address in ("socks5://127.0.0.1:1080", "http://[half", "http://127.0.0.1:9"):
        office.way = replace(office.way, proxies=WebProxies({"all": address}))
        found.append((await office.refusal("https://tides.example/")).code)
    assert found == ["web.proxy", "web.proxy", "web.unreachable"]


def test_which_pages_go_through_which_proxy_is_as_the_environment_says() -> None:
    said = {
        "HTTPS_PROXY": "http://old.example:1",
        "https_proxy": "px.example:3128",
        "NO_PROXY": "corp.example, .lan,10.0.0.0/8 x.org:8443,*.y.org",
    }
    proxies = proxies_of(said)
    asked = {
        url: proxies.of(read_address(url))
        for url in (
            "https://a.org/",
            "http://a.org/",
            "https://a.corp.example/",
            "https://notcorp.example/",
            "https://10.1.2.3/",
            "https://x.org/",
            "https://x.org:8443/",
            "https://z.y.org/",
            "https://localhost/",
            "https://127.9.9.9/",
            "https://a.localhost/",
        )
    }
    through = [url for url, proxy in asked.items() if proxy]
    assert through == ["https://a.org/", "https://notcorp.example/", "https://x.org/"]
    assert asked["https://a.org/"] == "http://px.example:3128"
    assert not proxies_of({**said, "no_proxy": "*"}).of(read_address("https://a.org/"))
    assert proxies_of({"ALL_PROXY": "http://any.example:8"}).of(read_address("http://a.org/")) == "http://any.example:8"
    assert proxy_name("http://ida:pa55@px.example:3128") == "px.example:3128"
    assert "pa55" not in repr(proxies_of({"HTTPS_PROXY": "http://ida:pa55@px.example:3128"}))

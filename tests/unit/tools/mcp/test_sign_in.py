"""A person signs in to an MCP server over HTTP: real servers of the `mcp` package, the real host, a browser that goes
where it is sent, and a keyring that may be locked."""

import asyncio
import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.keyring import OWN_SERVICE, SIGN_IN_PREFIX
from desktop.domain.servers.sign_in import SignInFacts
from tests.servers.mcp import signed
from tests.unit.tools.mcp.kit import Lent, McpBench

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-MCP-2")]
METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"
FIXED = ("no_registration", "json", "client")
"""What a server has to be started with."""
ENTRY = OWN_SERVICE, f"{SIGN_IN_PREFIX}archive"


class Signing:
    """A bench with a server that wants a sign-in, and a person with a browser."""

    def __init__(self, bench: McpBench, shared: str) -> None:
        self.bench, self.shared = bench, shared
        self.opened: list[str] = []
        self.browses = True
        self._processes: list[subprocess.Popen[bytes]] = []
        self.base = ""

    async def server(self, **options: Any) -> None:
        """Start one, and declare it as ``archive``."""
        more, alone = options.pop("declared", {}), options.pop("alone", False)
        if alone or set(options) & set(FIXED):
            process, self.base = await asyncio.to_thread(started, **options)
            self._processes.append(process)
        else:
            self.base = self.shared
            await asyncio.to_thread(self._read, "/begin", json.dumps(options).encode())
        await self.declare(**more)

    async def declare(self, **more: Any) -> None:
        await self.bench.put({"name": "archive", "url": f"{self.base}/mcp", "category": "read", **more})

    def end(self) -> None:
        for process in self._processes:
            ended(process)

    @property
    def facts(self) -> SignInFacts:
        return self.bench.server("archive").sign_in

    async def stage(self, *stages: str) -> SignInFacts:
        await self.bench.until(lambda: self.facts.stage in stages, f"{stages}, not {self.facts}")
        return self.facts

    async def sign_in(self, *scopes: str) -> SignInFacts:
        """Choose, and do in the browser what there is to do; until it came to something."""
        facts = await self.stage("asks")
        await self.bench.servers.sign_in(
            "archive", scopes or tuple(one.name for one in facts.scopes if one.needed), self._show
        )
        await self.stage("waiting", "in", "refused")
        return await self.stage("in", "refused")

    def _show(self, address: str) -> None:
        self.opened.append(address)
        if self.browses:
            asyncio.get_running_loop().run_in_executor(None, self.browse, address)

    def browse(self, address: str) -> None:
        """Go there and wherever that leads. Blocks."""
        try:
            with urllib.request.urlopen(address, timeout=20) as page:
                page.read()
        except urllib.error.HTTPError as refused:
            refused.close()
        except OSError:
            return

    async def seen(self) -> list[dict[str, Any]]:
        """What came to the server."""
        found: list[dict[str, Any]] = await asyncio.to_thread(self._read, "/seen")
        return found

    async def forget(self) -> None:
        """The server forgets every token."""
        await asyncio.to_thread(self._read, "/forget")

    def _read(self, path: str, data: bytes | None = None) -> Any:
        with urllib.request.urlopen(self.base + path, data, timeout=20) as page:
            text = page.read().decode()
        return json.loads(text) if text.startswith("[") else text

    @property
    def kept(self) -> dict[str, Any] | None:
        value = self.bench.secrets.values.get(ENTRY)
        return json.loads(value) if value else None


def started(**options: Any) -> tuple["subprocess.Popen[bytes]", str]:
    """A server, and where it is. Blocks."""
    process = subprocess.Popen(signed(**options), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    return process, f"http://127.0.0.1:{int(process.stdout.readline())}"


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def ended(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    process, base = started()
    yield base
    ended(process)


@pytest_asyncio.fixture(loop_scope="session")
async def signing(tmp_path: Path, lent: Lent, shared: str) -> AsyncIterator[Signing]:
    bench = McpBench(tmp_path, host=lent)
    made = Signing(bench, shared)
    yield made
    await bench.end()
    made.end()


async def test_a_person_signs_in_is_called_by_what_they_allowed_and_signs_out(signing: Signing) -> None:
    await signing.server()
    bench = signing.bench
    facts = await signing.stage("asks")
    assert bench.server("archive").condition == "sign_in"
    assert facts.host == signing.base.removeprefix("http://")
    assert [(one.name, one.needed) for one in facts.scopes] == [("archive.read", True), ("offline_access", False)]
    assert not [one for one in await signing.seen() if one["path"] in ("/register", "/authorize")]

    facts = await signing.sign_in("archive.read")
    assert (facts.stage, facts.granted, facts.left_out) == ("in", ("archive.read",), ("offline_access",))
    assert facts.renews
    assert facts.can_revoke
    await bench.accept("archive")
    assert (await bench.call("archive_whoami")).result.text == "archive.read"

    kept = signing.kept
    assert kept is not None
    token = kept["tokens"]["access_token"]
    echoed = (await bench.call("archive_secret")).result.text
    assert echoed == "it is [REDACTED]"
    assert token not in repr(bench.servers.state)
    assert token not in json.dumps(bench.pins.values)
    [exchange] = [one["form"] for one in await signing.seen() if one["path"] == "/token"]
    assert exchange["resource"] == f"{signing.base}/mcp"
    assert exchange["code_verifier"]

    await bench.servers.sign_out("archive")
    assert signing.kept is None
    revoked = [one["form"]["token_type_hint"] for one in await signing.seen() if one["path"] == "/revoke"]
    assert revoked == ["refresh_token", "access_token"]
    assert (await signing.stage("asks")).granted == ()


async def test_a_server_that_is_removed_is_signed_out_of_and_its_entry_comes_back_without(signing: Signing) -> None:
    await signing.server()
    await signing.sign_in()
    before = signing.bench.path.read_text()
    signing.bench.path.write_text(
        "servers:\n"
        + "\n".join(
            f"{'  - ' if not at else '    '}{key}: {json.dumps(value)}"
            for at, (key, value) in enumerate(json.loads(before)["servers"][0].items())
        )
    )
    written = signing.bench.path.read_text()
    await asyncio.to_thread(signing.bench.servers.reload)
    back, note = await signing.bench.servers.remove("archive")
    assert note == "You are signed out there."
    assert signing.kept is None
    assert [one["form"]["token_type_hint"] for one in await signing.seen() if one["path"] == "/revoke"]
    await signing.bench.until(lambda: not signing.bench.servers.state.servers, "gone")
    assert signing.bench.path.read_text() == "servers:\n"
    await asyncio.to_thread(back)
    assert signing.bench.path.read_text() == written
    await signing.stage("asks")


async def test_a_call_before_the_sign_in_says_what_to_do_and_opens_nothing(signing: Signing) -> None:
    await signing.server()
    await signing.sign_in()
    await signing.bench.accept("archive")
    await signing.bench.servers.sign_out("archive")
    await signing.stage("asks")
    result = await signing.bench.call("archive_whoami")
    assert result.state != "done"
    assert len(signing.opened) == 1


async def test_a_token_whose_time_is_over_is_renewed_once_and_the_new_one_is_kept(signing: Signing) -> None:
    await signing.server(seconds=2)
    await signing.sign_in()
    bench = signing.bench
    await bench.accept("archive")
    first = signing.kept
    await bench.until(lambda: time.time() > signing.facts.until, "the end of its time")
    results = await asyncio.gather(*(bench.call("archive_whoami") for _ in range(3)))
    assert {one.result.text for one in results} == {"archive.read"}
    assert first is not None
    assert signing.kept is not None
    assert signing.kept["tokens"]["refresh_token"] != first["tokens"]["refresh_token"]
    assert signing.facts.renewed
    renewals = [one for one in await signing.seen() if one["form"].get("grant_type") == "refresh_token"]
    assert len(renewals) == 1


async def test_a_token_that_the_server_forgot_is_renewed_in_the_middle(signing: Signing) -> None:
    await signing.server()
    await signing.sign_in()
    await signing.bench.accept("archive")
    await signing.forget()
    assert (await signing.bench.call("archive_whoami")).result.text == "archive.read"


async def test_where_nothing_renews_it_a_call_fails_and_the_page_asks_again(signing: Signing) -> None:
    await signing.server(refuse_refresh=True)
    await signing.sign_in()
    bench = signing.bench
    await bench.accept("archive")
    await signing.forget()
    result = (await bench.call("archive_whoami")).result
    assert result.is_error
    assert "wants a person to sign in" in result.text
    assert "in Settings, MCP servers" in result.text
    assert len(signing.opened) == 1
    facts = await signing.stage("asks")
    assert facts.again
    assert (await signing.sign_in()).stage == "in"
    assert (await bench.call("archive_whoami")).result.text == "archive.read"


async def test_a_tool_that_needs_more_costs_its_call_and_names_what_is_added(signing: Signing) -> None:
    await signing.server(needs="archive.annotate")
    await signing.sign_in("archive.read")
    bench = signing.bench
    await bench.accept("archive")
    result = (await bench.call("archive_whoami")).result
    assert "to allow more" in result.text
    assert bench.server("archive").condition == "running"
    facts = await signing.stage("asks")
    assert [(one.name, one.new) for one in facts.scopes[:2]] == [("archive.read", False), ("archive.annotate", True)]
    await signing.sign_in("archive.read", "archive.annotate")
    assert (await bench.call("archive_whoami")).result.text == "archive.read archive.annotate"


async def test_a_slow_call_does_not_hold_up_others_of_a_server_that_is_signed_in_to(signing: Signing) -> None:
    await signing.server(json=True)
    await signing.sign_in()
    bench = signing.bench
    await bench.accept("archive")
    slow = asyncio.ensure_future(bench.call("archive_slowly"))
    await asyncio.sleep(0)
    quick = await bench.call("archive_whoami")
    assert quick.result.text == "archive.read"
    assert not slow.done()
    assert (await slow).result.text == "done"


async def test_a_sign_in_is_there_after_a_restart_and_only_for_its_own_address(signing: Signing) -> None:
    await signing.server()
    await signing.sign_in()
    bench = signing.bench
    await bench.running("archive")
    await bench.servers.restart("archive")
    await bench.running("archive")
    assert signing.facts.stage == "in"
    other = signing.base
    await signing.server(alone=True)
    assert signing.base != other
    await signing.stage("asks")
    assert all(not one["authorization"] for one in await signing.seen())
    assert signing.facts.granted == ()


async def test_a_keyring_that_does_not_take_it_keeps_it_for_the_session_and_says_so(signing: Signing) -> None:
    signing.bench.secrets.locked = True
    await signing.server()
    await signing.stage("asks")
    assert signing.facts.session_only, "it is said before, too"
    assert (await signing.sign_in()).session_only


async def test_a_keyring_that_takes_it_is_not_said_to_forget(signing: Signing) -> None:
    await signing.server()
    await signing.stage("asks")
    assert not signing.facts.session_only


async def test_who_does_not_want_to_wait_cancels_and_nobody_listens_any_more(signing: Signing) -> None:
    await signing.server()
    signing.browses = False
    await signing.stage("asks")
    await signing.bench.servers.sign_in("archive", ("archive.read",), signing._show)
    await signing.bench.until(lambda: signing.facts.address, "an address")
    assert signing.facts.stage == "waiting"
    await signing.bench.servers.cancel_sign_in("archive")
    assert signing.facts.stage == "asks"
    [back] = urllib.parse.parse_qs(urllib.parse.urlsplit(signing.opened[0]).query)["redirect_uri"]
    port = urllib.parse.urlsplit(back).port or 0
    await signing.bench.until(lambda: not listens(port), "nobody listens")
    await asyncio.to_thread(signing.browse, signing.opened[0])
    assert signing.kept is None
    assert signing.facts.stage == "asks"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"answer": {"iss": "https://wx.example"}}, "came from wx.example, but the server had named 127.0.0.1"),
        ({"answer": {"state": "another"}}, "does not belong to this sign-in"),
        ({"answer": {"code": None, "error": "access_denied"}}, "You did not agree in the browser"),
        ({"answer": {"code": None, "error": "e", "error_description": "<b>no</b>"}}, "It says: <b>no</b>"),
        ({"longer": 1_000_000}, "longer than 256 KB"),
        ({"longer": 20_000}, "a token of 20,039 characters"),
        ({"replace": {"/token": [400, '{"error": "invalid_client"}']}}, "HTTP 400, invalid_client"),
        ({"replace": {"/token": [500, "<html>"]}}, "HTTP 500"),
        ({"replace": {"/token": [200, "[1, 2"]}}, "no token that can be used"),
        ({"replace": {"/register": [403, "no"]}}, "did not register Assent (HTTP 403)"),
        ({"replace": {"/register": [201, "{}"]}}, "did not register Assent as it has to be"),
    ],
)
async def test_a_sign_in_that_goes_wrong_keeps_nothing_and_says_why(
    signing: Signing, options: dict[str, Any], words: str
) -> None:
    await signing.server(**options)
    facts = await signing.sign_in()
    assert facts.stage == "refused"
    assert words in facts.problem
    assert len(facts.problem) < 500
    assert signing.kept is None
    assert signing.bench.host.health.restarts == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bodies": {METADATA: {"issuer": "https://id.wx.example"}}}, "came from id.wx.example"),
        ({"bodies": {METADATA: {"code_challenge_methods_supported": ["plain"]}}}, "PKCE"),
        ({"bodies": {METADATA: {"token_endpoint": "http://id.wx.example/token"}}}, "not protected on the way"),
        ({"bodies": {METADATA: {"token_endpoint": "http://169.254.169.254/token"}}}, "no place to sign in at"),
        ({"bodies": {METADATA: {"authorization_endpoint": "http://id.wx.example/"}}}, "not protected on the way"),
        ({"replace": {METADATA: [200, "x"]}, "times": 1_000_000}, "longer than 256 KB"),
        ({"replace": {METADATA: [404, "x"]}}, "says nothing of itself"),
        ({"bodies": {RESOURCE: {"resource": "https://a.example/"}}}, "another server"),
    ],
)
async def test_a_server_that_names_what_it_may_not_never_gets_as_far_as_the_browser(
    signing: Signing, options: dict[str, Any], words: str
) -> None:
    await signing.server(**options)
    facts = await signing.stage("refused")
    assert words in facts.problem
    assert not [one for one in await signing.seen() if one["path"] in ("/register", "/token")]
    await signing.bench.servers.look_at_sign_in("archive")
    assert words in (await signing.stage("refused")).problem


async def test_a_server_without_registration_takes_the_client_of_mcp_yaml(signing: Signing) -> None:
    await signing.server(no_registration=True)
    facts = await signing.sign_in()
    assert "client_id into mcp.yaml" in facts.problem
    secret = "cl-0123456789-secret"
    client = {"client_id": "assent-at-harbour", "client_secret": secret}
    method = {"token_endpoint_auth_method": "client_secret_basic"}
    signing.bench.keys["assent", "archive-client"] = secret
    declared = {"client_id": "assent-at-harbour", "client_secret": "${keyring:assent/archive-client}"}
    await signing.server(no_registration=True, client={**client, **method}, declared=declared)
    assert (await signing.sign_in()).stage == "in"
    assert secret not in repr(signing.bench.servers.state)


async def test_a_server_with_a_key_of_the_person_is_never_signed_in_to(signing: Signing) -> None:
    await signing.server(declared={"bearer": "${keyring:github/ida}"})
    bench = signing.bench
    await bench.until(lambda: bench.server("archive").condition == "failed", "failed")
    assert "401" in bench.server("archive").reason
    assert signing.facts == SignInFacts()

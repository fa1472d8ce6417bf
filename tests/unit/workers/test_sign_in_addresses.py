"""Where a sign-in to an MCP server may lead: never nearer to this computer than the server itself."""

import pytest

from desktop.domain.web.nearness import Nearness, nearness
from desktop.workers.mcp_host.sign_in.addresses import refused
from desktop.workers.mcp_host.sign_in.guard import limit_of

pytestmark = pytest.mark.spec("R-MCP-2")


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("93.184.215.14", Nearness.PUBLIC),
        ("2606:2800:21f:cb07::1", Nearness.PUBLIC),
        ("10.1.2.3", Nearness.NETWORK),
        ("172.16.0.1", Nearness.NETWORK),
        ("192.168.1.1", Nearness.NETWORK),
        ("100.64.0.1", Nearness.NETWORK),
        ("fd00::2", Nearness.NETWORK),
        ("127.0.0.1", Nearness.HERE),
        ("127.8.8.8", Nearness.HERE),
        ("::1", Nearness.HERE),
        ("::ffff:127.0.0.1", Nearness.HERE),
        ("::ffff:10.0.0.1", Nearness.NETWORK),
        ("169.254.169.254", Nearness.NEVER),
        ("fe80::1%eth0", Nearness.NEVER),
        ("0.0.0.0", Nearness.NEVER),
        ("224.0.0.1", Nearness.NEVER),
        ("255.255.255.255", Nearness.NETWORK),
        ("240.0.0.1", Nearness.NETWORK),
        ("64:ff9b::a9fe:a9fe", Nearness.NEVER),
        ("64:ff9b::5db8:d70e", Nearness.NETWORK),
        ("64:ff9b:1::5db8:d70e", Nearness.NETWORK),
        ("2002:7f00:1::1", Nearness.HERE),
        ("2002:5db8:d70e::1", Nearness.NETWORK),
        ("::7f00:1", Nearness.HERE),
        ("::", Nearness.NEVER),
        ("fec0::1", Nearness.NETWORK),
        ("ff02::1", Nearness.NEVER),
    ],
)
def test_an_address_is_public_in_the_network_here_or_none_at_all(address: str, near: Nearness) -> None:
    assert nearness(address) is near


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/token",
        "https://localhost/token",
        "https://LOCALHOST./token",
        "https://app.localhost/token",
        "https://[::1]/token",
        "https://[::ffff:127.0.0.1]/token",
        "https://10.0.0.7/token",
        "https://192.168.0.1/token",
        "https://169.254.169.254/latest/meta-data",
        "https://ida:key@id.example/token",
        "http://id.example/token",
        "ftp://id.example/token",
        "file:///etc/shadow",
        "javascript:alert(1)",
        "https://",
        "https://id.example:port/",
        "//id.example/token",
        "",
    ],
)
def test_a_server_in_the_net_leads_nowhere_near_and_to_nothing_unprotected(url: str) -> None:
    assert refused(url, Nearness.PUBLIC)


def test_what_is_further_away_than_the_server_is_allowed() -> None:
    assert refused("https://id.example/token", Nearness.PUBLIC) == ""
    assert refused("https://10.0.0.7/token", Nearness.NETWORK) == ""
    assert refused("http://127.0.0.1:9000/token", Nearness.HERE) == ""
    assert "inside this computer" in refused("http://127.0.0.1:9000/token", Nearness.NETWORK)
    assert "no place to sign in" in refused("http://169.254.169.254/", Nearness.HERE)


def test_a_name_or_password_in_an_address_is_not_repeated() -> None:
    assert "hunter2" not in refused("https://ida:hunter2@id.example/", Nearness.PUBLIC)


async def test_a_name_that_leads_to_this_computer_opens_nothing_on_it_for_its_owner_says_where_it_leads() -> None:
    assert await limit_of("http://localhost:9000/mcp") is Nearness.HERE
    assert await limit_of("http://127.0.0.1:9000/mcp") is Nearness.HERE
    assert await limit_of("https://2130706433/mcp") is Nearness.NETWORK  # looked up as any name, to 127.0.0.1

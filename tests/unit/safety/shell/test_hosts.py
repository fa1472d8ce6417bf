"""With whom a command talks: what its request says (D-4), and which rules, lists and jobs stand for it."""

from __future__ import annotations

import pytest

from desktop.domain.approval.network_use import network_of
from tests.unit.safety.shell.command_patterns import Patterns
from tests.unit.safety.world import World

TALKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("curl https://a.b", ("a.b",)),
    ("curl a.b", ("a.b",)),
    ("curl -sS -m 5 user@a.b:80/x c.d", ("a.b", "c.d")),
    ("curl --max-time 5 --header 'X: y' a.b", ("a.b",)),
    ("curl -d https://c.d https://a.b", ("a.b",)),
    ("curl --proxy evil https://a.b", ("evil", "a.b")),
    ("curl -x http://u:p@evil:80 https://a.b", ("evil", "a.b")),
    ("curl -sxevil https://a.b", ("evil", "a.b")),
    ("curl --prox=evil https://a.b", ("evil", "a.b")),
    ("curl --socks5 evil https://a.b", ("evil", "a.b")),
    ("curl --head https://a.b", ("a.b",)),
    ("curl --connect-to a.b:443:evil:443 https://a.b", ("a.b", "evil")),
    ("curl --connect-to ::evil:443 https://a.b", ("evil", "a.b")),
    ("curl --resolve a.b:443:6.6.6.6 https://a.b", ("a.b", "6.6.6.6")),
    ("https_proxy=http://evil curl https://a.b", ("a.b", "evil")),
    ("ALL_PROXY=evil curl https://a.b", ("a.b", "evil")),
    ("env https_proxy=http://evil curl https://a.b", ("a.b", "evil")),
    ("export https_proxy=evil; curl https://a.b", ("evil", "a.b")),
    ("curl 'https://a.b#@evil/'", ("a.b", "evil")),
    ("curl 'https://a.b@evil/'", ("evil",)),
    ("curl 'a.b/x?u=http://c.d/'", ("a.b",)),
    ("curl 'http:/a.b'", ("a.b",)),
    ("curl https://[::1]:80/", ("[::1]",)),
    ("wget a.b", ("a.b",)),
    ("wget -e https_proxy=evil https://a.b", ("evil", "a.b")),
    ("wget -q --tries 3 https://a.b", ("a.b",)),
    ("ssh user@host", ("host",)),
    ("ssh -p 22 host ls", ("host",)),
    ("ssh -J evil host", ("evil", "host")),
    ("ssh -o HostName=evil host", ("evil", "host")),
    ("ssh -L 80:inner:80 host", ("inner", "host")),
    ("ssh -W inner:22 host", ("inner", "host")),
    ("nc evil 80", ("evil",)),
    ("nc -x proxy:1080 evil 80", ("proxy", "evil")),
    ("ping -c 1 a.b", ("a.b",)),
    ("dig a.b", ("a.b",)),
    ("dig @9.9.9.9 +short a.b MX", ("9.9.9.9", "a.b")),
    ("scp a host:b", ("host",)),
    ("scp -P 22 u@one:a two:b", ("one", "two")),
    ("rsync -a a host:b", ("host",)),
    ("rsync a host::m", ("host",)),
    ("telnet a.b 25", ("a.b",)),
    ("socat - TCP:a.b:80", ("a.b",)),
    ("http GET a.b/x y=z", ("a.b",)),
    ("git clone --depth 1 https://a.b/x", ("a.b",)),
    ("git clone git@a.b:x y", ("a.b",)),
    ("git push ssh://a.b/x HEAD:main", ("a.b",)),
    ("timeout 5 curl a.b", ("a.b",)),
    ("echo x | nc evil 80", ("evil",)),
    ("sh -c 'curl a.b'", ("a.b",)),
    ("find . -exec curl evil {} ';'", ("evil", "{}")),
    ("pip install --index-url https://a.b/x y", ("a.b",)),
    ("aria2c https://a.b/x --all-proxy=http://e", ("a.b", "e")),
)
PART = (
    "curl -L https://a.b",
    "wget https://a.b",
    "curl -K x https://a.b",
    "curl https://a.b https://$H/",
    "curl $H a.b",
    "ssh -F x host",
    "git -c http.proxy=evil fetch https://a.b/x",
    "git clone --recursive https://a.b/x",
    "make; curl a.b",
    "pip install -i https://a.b/ x",
    "curl 'https://{a,evil}.b/'",
)
NONE_NAMED = (
    "git fetch",
    "git push origin HEAD:main",
    "git fetch --depth 1 origin a:b",
    "git lfs pull",
    "git submodule update --init",
    "git remote show origin",
    "pip install x",
    "curl $H",
    "nc -l 80",
)


@pytest.mark.parametrize(("command", "hosts"), TALKS)
def test_the_hosts_of_a_command_are_those_that_it_talks_with(
    world: World, command: str, hosts: tuple[str, ...]
) -> None:
    reading = world.reader.read_now(command)
    assert reading.uses_network
    assert set(reading.hosts) == set(hosts)


@pytest.mark.parametrize("command", ["curl https://a.b", "ssh user@host", "ping a.b", "git clone git@a.b:x", "dig a.b"])
def test_where_all_hosts_are_named_the_request_says_no_more(world: World, command: str) -> None:
    said = network_of("as asked", world.reader.read_now(command), "bubblewrap").sentence
    assert "others" not in said
    assert "in its text" not in said


@pytest.mark.parametrize("command", PART)
def test_where_others_may_be_reached_the_request_says_so(world: World, command: str) -> None:
    use = network_of("as asked", world.reader.read_now(command), "bubblewrap")
    assert use.asked
    assert use.hosts
    assert ", and perhaps others that are not in its text" in use.sentence


@pytest.mark.parametrize("command", NONE_NAMED)
def test_a_command_that_names_no_host_asks_for_the_network_and_says_that(world: World, command: str) -> None:
    use = network_of("as asked", world.reader.read_now(command), "bubblewrap")
    assert (use.on, use.asked, use.hosts) == (True, True, ())
    assert "with which computers it talks is not in its text" in use.sentence


@pytest.mark.parametrize(
    "command",
    [
        "cargo build",
        "go build",
        "make",
        "cmake -B b",
        "npm ci",
        "npm run x",
        "ninja",
        "find . -exec make ';'",
        "timeout 5 make",
        "sh build.sh > out",
        "make > out",
        "git frobnicate",
        "gcc x.c",
        "./x",
    ],
)
def test_what_is_not_known_to_need_none_can_be_ticked(world: World, command: str) -> None:
    assert network_of("as asked", world.reader.read_now(command), "bubblewrap").offered


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "touch x",
        "cp a b",
        "git commit -m x",
        "git status > out",
        "echo x > out",
        "sed -i s/a/b/ x",
        "X=1",
        "git remote -v",
        "timeout 5 touch x",
        "find . -exec touch x ';'",
    ],
)
def test_what_is_known_to_need_none_is_offered_none(world: World, command: str) -> None:
    use = network_of("as asked", world.reader.read_now(command), "bubblewrap")
    assert not use.offered
    assert not use.on


COVERED = (
    ("curl https://a.b/*", "curl https://a.b/x"),
    ("curl https://a.b/*", "curl https://a.b/x https://a.b/y"),
    ("curl *", "curl https://a.b/x https://evil/y"),
    ("curl https://*.a.b/*", "curl https://c.a.b/x"),
    ("curl {https://a.b/*,https://c.d/*}", "curl https://c.d/x"),
    ("curl -s https://a.b*", "curl -s https://a.b/x"),
    ("ping -c 1 a.b*", "ping -c 1 a.b"),
    ("git push a.b:*", "git push a.b:x main"),
    ("curl --resolve a.b:443:6.6.6.6 https://a.b/*", "curl --resolve a.b:443:6.6.6.6 https://a.b/x"),
    ("scp * host:*", "scp f host:f"),
    ("curl -L https://a.b/*", "curl -L https://a.b/x"),
    ("curl -sL https://a.b/*", "curl -sL https://a.b/x"),
    ("curl *", "curl -L https://a.b/x"),
    ("curl https://*a.b/*", "curl https://xa.b/y"),
    ("wget --max-redirect=0 https://a.b/*", "wget --max-redirect=0 https://a.b/x"),
    ("wget --max-redirect=5 https://a.b/*", "wget --max-redirect=5 https://a.b/x"),
    ("wget *", "wget https://a.b/x"),
    ("wget https://a.b/*", "wget https://a.b/x --max-redirect 0"),
    ("wget https://a.b/x", "wget https://a.b/x"),
    ("git clone *", "git clone https://a.b/x"),
    ("git clone https://a.b/x", "git clone https://a.b/x"),
    ("git -c http.followRedirects=false fetch https://a.b/*", "git -c http.followRedirects=false fetch https://a.b/x"),
    ("git clone a.b:*", "git clone a.b:x"),
    ("aria2c *", "aria2c https://a.b/x"),
    ("curl * https://a.b/*", "curl -H 'Host: a.b' https://a.b/x"),
    ("git clone --recursive a.b:*", "git clone --recursive a.b:x"),
)
NOT_COVERED = (
    ("curl https://a.b/*", "curl https://a.b/x https://evil/y"),
    ("curl https://a.b/*", "curl https://a.b/x evil"),
    ("curl https://a.b/*", "curl https://a.b/x --resolve a.b:443:6.6.6.6"),
    ("curl https://a.b/*", "curl https://a.b/x --connect-to a.b:443:evil:443"),
    ("curl https://a.b/*", "curl https://a.b/x --url evil"),
    ("curl https://a.b/*", "curl https://a.b/x --ur=evil"),
    ("curl https://a.b/*", "curl https://a.b/x -x evil"),
    ("curl https://a.b/*", "curl https://a.b/x --socks5 evil"),
    ("curl https://a.b/*", "curl https://a.b/x --doh-url https://evil"),
    ("curl *", "curl --doh-url evil https://a.b"),
    ("curl *", "curl --resolve a.b:443:6.6.6.6 https://a.b"),
    ("curl *", "curl --reso a.b:1:6.6.6.6 https://a.b"),
    ("curl *", "curl --connect-to ::evil: https://a.b"),
    ("curl *", "curl --preproxy evil https://a.b"),
    ("curl *", "curl --socks4a evil https://a.b"),
    ("curl *", "curl --unix-socket /x https://a.b"),
    ("curl https://a.b*", "curl https://a.b.evil/x"),
    ("curl https://a.b*", "curl https://a.b@evil/x"),
    ("curl https://a.b/evil/*", "curl https://a.b/evil/x evil"),
    ("curl https://*.a.b/*", "curl https://evil/ https://c.a.b/"),
    ("curl https://a.b/*", "https_proxy=http://evil curl https://a.b/x"),
    ("https_proxy=* curl https://a.b/*", "https_proxy=http://evil curl https://a.b/x"),
    ("wget *", "wget -e https_proxy=evil https://a.b"),
    ("wget *", "wget -rH https://a.b"),
    ("wget https://a.b/*", "wget https://a.b/x evil"),
    ("wget https://a.b/*", "wget https://a.b/x -i f"),
    ("ping a.b*", "ping a.b evil"),
    ("scp f a.b:*", "scp f a.b:x c.d:y"),
    ("rsync -a f host:*", "rsync -a f host:x evil:y"),
    ("git clone https://a.b/*", "git clone https://a.b/x -c http.proxy=evil"),
    ("git *", "git -c http.proxy=evil fetch"),
    ("nc a.b *", "nc a.b 80 -x evil"),
    ("ssh a.b *", "ssh a.b -J evil"),
    ("scp *", "scp -J evil f a.b:x"),
    ("scp *", "scp -o ProxyJump=evil f a.b:x"),
    ("curl https://a.b/*", "curl https://a.b/x -L"),
    ("curl https://a.b/*", "curl https://a.b/x -svL"),
    ("curl https://a.b/*", "curl https://a.b/x --location"),
    ("curl https://a.b/*", "curl https://a.b/x --locat"),
    ("curl https://a.b/*", "curl https://a.b/x -H 'Host: evil'"),
    ("curl https://a.b/*", "curl https://a.b/x --header='hOST : evil'"),
    ("wget https://a.b/*", "wget https://a.b/x --header 'Host: evil'"),
    ("curl https://*a.b/*", "curl https://evil/xa.b/x"),
    ("curl https://*a.b/*", "curl https://a.b.evil/"),
    ("git fetch https://a.b/*", "git fetch https://a.b/x --multiple https://evil/x"),
    ("git fetch https://a.b/*", "git fetch https://a.b/x --recurse-submodules"),
    ("git clone https://a.b/*", "git clone https://a.b/x --recursive"),
    ("git -c * fetch https://a.b/*", "git -c url.https://evil/.insteadOf=https://a.b/ fetch https://a.b/x"),
    ("curl https://a.b/*", "curl https://a.b/x 2130706433"),
    ("curl https://a.b*", "curl https://a.b\uff0eevil/x"),
    ("curl https://a.b*", "curl https://a.b%2eevil/"),
    ("curl https://a.b/*", "curl 'https://{a,evil}.b/x'"),
    ("aria2c https://a.b/*", "aria2c https://a.b/x --all-proxy=http://evil"),
    ("wget https://a.b/*", "wget https://a.b/x"),
    ("wget https://a.b/*", "wget https://a.b/x --max-redirect=1"),
    ("wget https://a.b/*", "wget --max-redirect=0 https://a.b/x --max-redirect=2"),
    ("git clone https://a.b/*", "git clone https://a.b/x"),
    ("git fetch https://a.b/*", "git fetch https://a.b/x main"),
    ("aria2c https://a.b/*", "aria2c https://a.b/x"),
    ("lynx https://a.b/*", "lynx https://a.b/x"),
    ("http a.b/*", "http -F a.b/x"),
    ("http a.b/*", "http --download a.b/x"),
    ("whois a.b*", "whois a.b"),
    ("curl https://a.b/*", "curl https://a.b/x https:8080"),
    ("wget http://a.b/*", "wget http://a.b/x http"),
)


@pytest.mark.spec("R-PRM-11", "R-CRON-3", "R-PAT-8")
@pytest.mark.parametrize(("rule", "command"), COVERED)
def test_a_rule_a_list_and_a_job_stand_for_the_hosts_that_they_name(world: World, rule: str, command: str) -> None:
    assert Patterns(world, [rule]).covering(world.reader.read_now(command), command) == {"rule", "list", "job"}


@pytest.mark.spec("R-PRM-11", "R-CRON-3", "R-PAT-8")
@pytest.mark.parametrize(("rule", "command"), NOT_COVERED)
def test_no_rule_list_or_job_that_names_a_host_stands_for_another(world: World, rule: str, command: str) -> None:
    assert Patterns(world, [rule]).covering(world.reader.read_now(command), command) == set()


def test_a_long_command_of_hosts_is_compared_at_once(world: World) -> None:
    """What the one regular expression would try again and again is read in one go."""
    command = "curl https://a.b/x " + "a." * 20_000 + " " + "h " * 2_000 + "-" + "a" * 20_000 + "://x"
    assert Patterns(world, ["curl https://a.b/*"]).covering(world.reader.read_now(command), command) == set()
    assert world.reader.read_now("socat - " + "tcp" * 20_000).uses_network

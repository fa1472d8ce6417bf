"""What a command did beside its files: the processes that it left, and the computers that it asked for."""

import errno
import os
import random
import shutil
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.safety.confinement.asked_hosts import MAX_HOSTS, asked_hosts, kept_packets, search_domains
from tests.unit.safety.confinement.test_kinds import has
from tests.unit.safety.outcomes.conftest import filled
from tests.unit.safety.outcomes.rehearsals import Rehearsals, rehearsals
from tests.unit.safety.world import World

SLEEPS = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; '
"""Waits until the one that was started last is what it becomes."""
ASKS = 'python3 -c "import socket, sys\nfor host in sys.argv[1:]:\n  s = socket.socket(); s.connect_ex((host, 80))" '


ASKS_EACH = """import socket, struct, sys
print({socket.socket().connect_ex((host, int(sys.argv[1]))) for host in sys.argv[2:]})
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
kernel.send(struct.pack("=IHHIIBxHiII", 32, 16, 5, 0, 0, 0, 0, 1, 0, 1))
print(-struct.unpack_from("=i", kernel.recv(4096), 16)[0])
"""
"""Connects to each host; then takes the only link of its network down. The numbers of the errors."""


@pytest.fixture
def listening(world: World) -> Iterator[Rehearsals]:
    """Copies under bubblewrap, where a command has a network of its own."""
    if not has("bubblewrap") or shutil.which("python3", path="/usr/bin:/bin") is None:
        pytest.skip("this machine has no bubblewrap")
    with rehearsals(filled(world)) as made:
        if made.copies.refusal():
            pytest.skip("this machine makes no such copies")
        yield made


@pytest.mark.spec("R-OUT-2")
def test_what_is_still_alive_when_the_command_ends_is_counted_and_ended(each: Rehearsals) -> None:
    hidden = f"(setsid sleep 98 >/dev/null 2>&1 & {SLEEPS})"
    outcome, _, copy = each.run(f"sleep 97 & {SLEEPS} {hidden}; echo done; exit 3")
    assert (outcome.output, outcome.exit_code) == ("done\n", 3)
    assert copy.traces().left == ("sleep", "sleep")
    assert not [name for name in os.listdir("/proc") if name.isdigit() and _command(name) in ("sleep 97", "sleep 98")]


@pytest.mark.spec("R-OUT-2")
@pytest.mark.parametrize(("command", "code"), [("true", 0), ("sh -c 'kill -9 $$'", 137), ("kill -SEGV $$", 139)])
def test_a_command_that_leaves_nothing_is_said_to_leave_nothing(each: Rehearsals, command: str, code: int) -> None:
    outcome, _, copy = each.run(command)
    assert outcome.exit_code == code
    assert copy.traces().left == ()
    assert "Segmentation" not in outcome.output, "the shell around it adds a word"


def test_what_has_ended_and_was_not_collected_is_not_left(each: Rehearsals) -> None:
    dead = "until grep -q '^State:.Z' /proc/$(cat dead)/status; do :; done"
    ends = 'p=$$; (until [ "$(cat /proc/$p/comm)" = sleep ]; do :; done) & echo $! > dead; exec sleep 95'
    _, _, copy = each.run(f"sh -c '{ends}' & {SLEEPS} {dead}")
    assert copy.traces().left == ("sleep",)


@pytest.mark.spec("R-OUT-2")
def test_a_command_cannot_say_itself_what_it_left(each: Rehearsals) -> None:
    told = r"for one in /proc/1 /proc/self /proc/$PPID; do echo +lie > $one/fd/8; echo . > $one/fd/8; done; "
    told += "for number in $(seq 3 255); do { echo +lie >&$number; } 2>/dev/null; done; "
    _, _, copy = each.run(f"({told}) 2>/dev/null; sleep 99 & {SLEEPS} exit 0")
    assert copy.traces().left == ("sleep",)


@pytest.mark.spec("R-OUT-2")
def test_the_computers_that_it_asks_for_are_heard(listening: Rehearsals) -> None:
    """Whatever its output says: here it says nothing."""
    names = "getent ahosts one.example; getent ahosts two.example; "
    outcome, _, copy = listening.run(f"({names} {ASKS} 192.0.2.7 198.51.100.9) >/dev/null 2>&1; true")
    assert outcome.output == ""
    assert copy.traces().hosts == ("one.example", "two.example", "192.0.2.7", "198.51.100.9")
    assert not copy.traces().more


def test_what_it_says_to_itself_is_no_other_computer(listening: Rehearsals) -> None:
    serves = "python3 -m http.server 8642 --bind 127.0.0.1 >/dev/null 2>&1 & "
    asks = "import socket, time\nwhile socket.socket().connect_ex(('127.0.0.1', 8642)): time.sleep(0.02)\nprint('met')"
    outcome, _, copy = listening.run(f'{serves} python3 -c "{asks}"; getent ahosts $(hostname) localhost >/dev/null')
    assert outcome.output == "met\n"
    assert copy.traces().hosts == ()


def test_more_computers_than_are_listed_are_said_to_be_more(listening: Rehearsals) -> None:
    _, _, copy = listening.run(f"{ASKS} $(seq -f 192.0.2.%g 1 {MAX_HOSTS + 5})")
    hosts = copy.traces().hosts
    assert hosts is not None
    assert len(hosts) == MAX_HOSTS
    assert copy.traces().more


@pytest.mark.spec("R-OUT-4")
def test_nobody_answers_in_the_network_of_a_copy(listening: Rehearsals) -> None:
    asks = "import socket; print(socket.socket().connect_ex(('192.0.2.7', 80)) != 0)"
    outcome, _, _ = listening.run(f'python3 -c "{asks}"; readlink /proc/self/ns/net; ls /sys/class/net >/dev/null')
    met, network = outcome.output.splitlines()
    assert met == "True"
    assert network != os.readlink("/proc/self/ns/net")


@pytest.mark.spec("R-OUT-4")
def test_a_server_of_this_computer_hears_nothing_from_a_copy_and_its_routes_stay(listening: Rehearsals) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        (listening.world.workspace / "asks.py").write_text(ASKS_EACH)
        outcome, _, _ = listening.run(f"python3 asks.py {port} 127.0.0.1 $(hostname -I 2>/dev/null) 10.0.0.1")
        with pytest.raises(TimeoutError):
            server.accept()
    refused, changed = outcome.output.splitlines()
    assert refused == f"{{{errno.ECONNREFUSED}}}", "each address is its own, and nobody listens"
    assert int(changed) == errno.EPERM, "it cannot change its network"


def test_under_landlock_nobody_listens_and_that_is_said(world: World) -> None:
    with rehearsals(filled(world), "landlock") as here:
        if not here.works or here.copies.refusal():
            pytest.skip("this machine makes no such copies")
        _, _, copy = here.run("true")
        assert copy.traces().hosts is None


def test_whatever_a_packet_holds_it_is_read_as_text_or_not_at_all() -> None:
    rng = random.Random(7)
    begins = [b"\x45" + b"\0" * 8 + b"\x11", b"\x60" + b"\0" * 5 + b"\x11", b"\x4f", b"\x40", b"\x60"]
    asks = b"\x45" + b"\0" * 8 + b"\x11" + b"\0" * 12 + b"\0\0" + b"\0\x35" + b"\0" * 16
    for _ in range(3_000):
        packet = rng.choice([*begins, asks]) + rng.randbytes(rng.randrange(380))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with ours, theirs:
            ours.setblocking(False)
            theirs.send(packet)
            hosts, more = asked_hosts(ours.fileno())
        assert all(host.isascii() and host.isprintable() and len(host) <= 253 for host in hosts)
        assert more, "it is no socket that counts what it dropped"


def test_the_program_of_the_socket_only_jumps_forward_and_ends() -> None:
    program = kept_packets()
    steps = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    assert all(at + 1 + max(then, other) < len(steps) for at, (_, then, other, _) in enumerate(steps[:-1]))
    assert [code for code, *_ in steps[-2:]] == [6, 6]


def _command(process: str) -> str:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


@pytest.mark.spec("R-OUT-2")
def test_a_name_behind_one_of_this_computer_is_a_host_that_was_asked_for(listening: Rehearsals) -> None:
    names = f"localhost.evil.example {socket.gethostname()}.evil.example one.example one.example.evil.example"
    _, _, copy = listening.run(f"for name in {names}; do getent ahosts $name; done; true")
    assert list(copy.traces().hosts or ()) == names.lower().split()


def test_the_domains_of_this_computers_network_are_read_from_what_its_resolver_reads(tmp_path: Path) -> None:
    (tmp_path / "resolv.conf").write_text("nameserver 10.0.0.1\nsearch Lab.example. home.arpa\n# search no\n")
    assert search_domains(str(tmp_path / "resolv.conf")) == ("lab.example", "home.arpa")
    assert search_domains(str(tmp_path / "none")) == ()

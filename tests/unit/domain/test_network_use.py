"""Which commands get the network, and what their requests say (D-4)."""

import pytest

from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.approval.network_use import network_of
from desktop.domain.safety import NetworkMode, ShellReading

pytestmark = pytest.mark.spec("D-4")

CURL = ShellReading(
    Category.WRITE,
    uses_network=True,
    hosts=("a.example",),
    hosts_known=True,
    judgements=(Judgement("curl https://a.example/x", "network", "", ("a.example", "/w/x")),),
)
UNKNOWN = ShellReading(Category.WRITE, judgements=(Judgement("./build.sh", "unknown"),))
UNREADABLE = ShellReading(Category.ADMIN)
LS = ShellReading(Category.WRITE, judgements=(Judgement("ls", "reads"),))

TABLE: list[tuple[NetworkMode, ShellReading, tuple[bool, bool, bool]]] = [
    ("as asked", CURL, (True, True, False)),
    ("as asked", UNKNOWN, (False, False, True)),
    ("as asked", UNREADABLE, (False, False, True)),
    ("as asked", LS, (False, False, False)),
    *(
        (mode, reading, (mode == "always", False, False))
        for mode in ("never", "always")
        for reading in (CURL, UNKNOWN, UNREADABLE, LS)
    ),
]


@pytest.mark.parametrize(("mode", "reading", "expected"), TABLE)
def test_who_has_the_network(mode: NetworkMode, reading: ShellReading, expected: tuple[bool, bool, bool]) -> None:
    found = network_of(mode, reading, "bubblewrap")
    assert (found.on, found.asked, found.offered) == expected


def test_a_request_names_the_hosts_that_are_known() -> None:
    found = network_of("as asked", CURL, "landlock")
    assert found.hosts == ("a.example",)
    assert "uses the network: a.example." in found.sentence
    assert "cannot be told" in network_of("as asked", UNKNOWN, "landlock").sentence


def test_where_nothing_holds_a_command_no_network_is_offered() -> None:
    found = network_of("as asked", UNKNOWN, "none")
    assert (found.on, found.asked, found.offered) == (True, False, False)

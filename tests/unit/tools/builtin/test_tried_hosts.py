"""What programs really say that found no network, and the computers read off it."""

import pytest

from desktop.tools.builtin.tried_hosts import tried_hosts

SAID = [
    ("curl: (6) Could not resolve host: a.example.org\n", ("a.example.org",)),
    ("wget: unable to resolve host address 'a.example.org'\n", ("a.example.org",)),
    ("wget: unable to resolve host address ‘a.example.org’\n", ("a.example.org",)),
    (
        "fatal: unable to access 'https://a.example.org/x.git/': Could not resolve host: a.example.org\n",
        ("a.example.org",),
    ),
    ("ssh: Could not resolve hostname B.example.org: Temporary failure in name resolution\r\n", ("b.example.org",)),
    ("Error: getaddrinfo EAI_AGAIN a.example.org\n  syscall: 'getaddrinfo',\n", ("a.example.org",)),
    ("NameResolutionError: Failed to resolve 'a.example.org' ([Errno -3])\n", ("a.example.org",)),
    ("W: Temporary failure resolving 'deb.example.org'\n", ("deb.example.org",)),
    ("dial tcp: lookup proxy.example.org: no such host\n", ("proxy.example.org",)),
    ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>\n", ("",)),
    ("OSError: [Errno 101] Network is unreachable\n", ("",)),
    ("all is well at https://a.example.org\n", ()),
    ("", ()),
]


@pytest.mark.spec("R-OUT-2")
@pytest.mark.parametrize(("output", "hosts"), SAID)
def test_the_hosts_that_a_program_could_not_reach_are_named(output: str, hosts: tuple[str, ...]) -> None:
    assert tried_hosts(output) == hosts


def test_what_the_command_names_counts_where_something_could_not_be_reached() -> None:
    assert tried_hosts("Network is unreachable\n", ["a.example.org"]) == ("a.example.org",)
    assert tried_hosts("fine\n", ["a.example.org"]) == ()
    many = "".join(f"Could not resolve host: h{n}.example.org\n" for n in range(50))
    assert len(tried_hosts(many)) == 10

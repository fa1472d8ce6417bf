"""With the network on, the ports of screens are closed by one ruleset that commands share, and none gets hold of it."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.reports import PORTS_ABI
from desktop.safety.confinement.select import Kind, Machine, SystemConfinement
from tests.unit.safety.world import World

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or Machine.here().landlock_abi < PORTS_ABI, reason="this kernel closes no ports"
)
KINDS: list[Kind] = ["bubblewrap", "landlock"]
CONNECTS = """
import socket, sys
for port in sys.argv[1:]:
    try:
        socket.create_connection(("127.0.0.1", int(port)), 20).close()
        print("reached")
    except PermissionError:
        print("closed")
"""
TAKES = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
rule = ctypes.create_string_buffer(struct.pack("QQ", 2, 6000), 16)

def opens(descriptor):
    return libc.syscall(445, descriptor, 2, rule, 0) == 0

found = [f"its own {number}" for number in range(4096) if opens(number)]
for process in filter(str.isdigit, os.listdir("/proc")):
    held = libc.syscall(434, int(process), 0)
    for number in range(90, 200) if held >= 0 else ():
        copied = libc.syscall(438, held, number, 0)
        if copied >= 0 and opens(copied):
            found.append(f"{number} of {process}")
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            try:
                if opens(os.open(f"/proc/{process}/fd/{name}", os.O_RDWR)):
                    found.append(f"{process}/fd/{name}")
            except OSError:
                pass
    except OSError:
        pass
print("took", found, "of", len(os.listdir("/proc/self/fd")))
"""


@pytest.fixture(params=KINDS)
def confinement(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(request.param,))) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


def python(world: World, code: str, *arguments: str) -> ProcessSpec:
    argv = (sys.executable, "-I", "-c", code, *arguments)
    return ProcessSpec(argv, str(world.workspace), {"PATH": "/usr/bin:/bin"}, timeout_s=60)


async def said(spec: ProcessSpec) -> str:
    return (await GroupRunner().run(spec, CancellationToken())).output


def on_a_screen() -> socket.socket:
    """Listens where screens do, on whichever port is free."""
    for port in range(6063, 5999, -1):
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            continue
    pytest.fail("every port of screens is taken")


@pytest.mark.spec("R-FS-10")
@pytest.mark.parametrize("shared", [True, False], ids=["the shared ruleset", "a ruleset of its own"])
async def test_screens_are_closed_and_other_ports_open_whoever_starts_the_command(
    confinement: SystemConfinement, world: World, shared: bool
) -> None:
    """A server that the MCP host starts has no descriptor of ours."""
    with on_a_screen() as screen, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(one.getsockname()[1]) for one in (screen, other)]
        spec = confinement.wrap(python(world, CONNECTS, *ports), network=True)
        assert spec.inherited
        assert await said(spec if shared else replace(spec, inherited=())) == "closed\nreached\n"


@pytest.mark.spec("R-FS-10")
async def test_no_command_gets_hold_of_what_it_could_open_ports_with(
    confinement: SystemConfinement, world: World
) -> None:
    spec = confinement.wrap(python(world, TAKES), network=True)
    assert (await said(spec)).startswith("took [] of ")
    assert not os.get_inheritable(spec.inherited[0]), "what else the app starts does not get it either"


async def test_without_the_network_nothing_is_handed_over(confinement: SystemConfinement, world: World) -> None:
    assert confinement.wrap(python(world, TAKES), network=False).inherited == ()

"""The real services of a desktop, with their addresses in the process's own environment: the session bus with the
keyring behind it, and the screen. No confined process reaches them, with the network on or off."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.harness.services import KeyringDaemon
from tests.unit.safety import escapes
from tests.unit.safety.world import World

KINDS: list[Kind] = ["bubblewrap", "landlock"]
# newer Pythons show the source of what failed, so that the word that tells of success does not stand there as it is
BUS = (
    "dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames | "
    "grep -q freedesktop && echo REACHED",
    "dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets "
    "org.freedesktop.DBus.Introspectable.Introspect | grep -q node && echo REACHED",
    f'{sys.executable} -c \'import keyring; keyring.set_password("assent-test", "u", "x"); print("reached".upper())\'',
    "unset DBUS_SESSION_BUS_ADDRESS; dbus-send --session --print-reply --dest=org.freedesktop.DBus / "
    "org.freedesktop.DBus.ListNames | grep -q freedesktop && echo REACHED",
    "DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS dbus-send --system --print-reply "
    "--dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames | grep -q freedesktop && echo REACHED",
)
SCREEN = (
    "import os, socket\nn = os.environ['DISPLAY'].strip(':')\ns = socket.socket(socket.AF_UNIX)\n"
    "s.connect('{start}/tmp/.X11-unix/X' + n)\n"
    "s.send(bytes([108, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])); s.recv(8)[0] == 1 and print('reached'.upper())"
)


async def run(spec: ProcessSpec) -> str:
    return (await GroupRunner().run(spec, CancellationToken())).output


def spec_of(world: World, environment: dict[str, str], *argv: str) -> ProcessSpec:
    base = {"PATH": "/usr/bin:/bin", "HOME": str(world.person)}
    return ProcessSpec(argv, str(world.workspace), {**base, **environment}, timeout_s=30)


@pytest.mark.spec("R-SEC-1", "R-SEC-3")
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_confined_process_reaches_the_keyring_or_the_bus(
    world: World, keyring_daemon: KeyringDaemon, kind: Kind, network: bool
) -> None:
    environment = {k: v for k, v in keyring_daemon.environment.items() if k.startswith(("DBUS", "XDG"))}
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        for command in BUS:
            spec = spec_of(world, environment, "bash", "--norc", "-c", command)
            passed = "REACHED" in await run(confinement.wrap(spec, network=network))
            escapes.tried("confinement: desktop", passed)
            assert not passed, command


async def test_the_same_bus_answers_without_walls(world: World, keyring_daemon: KeyringDaemon) -> None:
    environment = {k: v for k, v in keyring_daemon.environment.items() if k.startswith(("DBUS", "XDG"))}
    for command in BUS[:3]:
        assert "REACHED" in await run(spec_of(world, environment, "bash", "--norc", "-c", command)), command


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "none"])
async def test_no_confined_process_reaches_the_screen(world: World, x_display: str, kind: Kind, network: bool) -> None:
    """By the socket in /tmp, by its abstract name: whoever types into windows could allow anything."""
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        reached = []
        for start in ("", "\\0"):
            code = SCREEN.format(start=start)
            spec = spec_of(world, {"DISPLAY": x_display}, sys.executable, "-I", "-c", code)
            reached.append("REACHED" in await run(confinement.wrap(spec, network=network)))
    if kind == "none":
        assert reached[0], "the screen is not there: the others would prove nothing"
        return
    for passed in reached:
        escapes.tried("confinement: desktop", passed)
    assert not any(reached)
    assert os.path.exists(Path("/tmp/.X11-unix", f"X{x_display.strip(':')}"))

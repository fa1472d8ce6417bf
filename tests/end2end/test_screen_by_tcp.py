"""The real window on a screen that listens on TCP, as with ``ssh -X`` or VcXsrv: whoever reaches it can click Allow.

Commands with the network on must not get there, by whatever way TCP is spoken.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec, SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.reports import PORTS_ABI
from desktop.safety.confinement.select import Kind, Machine, SystemConfinement
from tests.harness.services import running_x_server

ROOT = Path(__file__).resolve().parents[2]
KINDS: list[Kind] = ["bubblewrap", "landlock"]
CLICK = "DISPLAY=@HOST@:@N@ xdotool mousemove 77 78 click 1 && echo REACHED"
HELLO = """
import socket, struct
words = bytes([108, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])
@WAY@
s.settimeout(10)
s.recv(1) == bytes([1]) and print("REACHED")
"""
WAYS = {
    "multipath": "s = socket.socket(2, 1, 262); s.connect(('127.0.0.1', @PORT@)); s.send(words)",
    "shared memory": "s = socket.socket(2, 1, 256); s.connect(('127.0.0.1', @PORT@)); s.send(words)",
    "the first packet": "s = socket.socket(2); s.sendto(words, 0x20000000, ('127.0.0.1', @PORT@))",
    "a message in it": "s = socket.socket(2); s.sendmsg([words], [], 0x20000000, ('127.0.0.1', @PORT@))",
    "IPv6": "s = socket.socket(10); s.connect(('::ffff:127.0.0.1', @PORT@)); s.send(words)",
}


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The number of a display with the real app's window on it."""
    if shutil.which("xdotool") is None or sys.platform != "linux":
        pytest.skip("needs Linux and xdotool")
    with running_x_server(tcp=True) as display:
        home = tmp_path_factory.mktemp("home")
        environment = {**os.environ, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display}
        argv = [sys.executable, "-m", "desktop", "--home", str(home / "app")]
        app = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            argv = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "Assent"]
            subprocess.run(argv, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=300)
            yield display.strip(":")
        finally:
            app.terminate()
            app.wait()


def pointer(screen: str) -> str:
    """Where the pointer is, asked by the screen's own socket."""
    asked = subprocess.run(
        ["xdotool", "getmouselocation"], env={**os.environ, "DISPLAY": f":{screen}"}, capture_output=True, text=True
    )
    return asked.stdout.split(" screen")[0]


def attacks(screen: str) -> list[tuple[str, ...]]:
    """Clicks with a ready program, and the first words of the screen's protocol by every way."""
    places = {"@N@": screen, "@PORT@": str(6000 + int(screen))}
    found = [("bash", "--norc", "-c", CLICK.replace("@HOST@", host)) for host in ("127.0.0.1", "localhost")]
    found += [(sys.executable, "-I", "-c", HELLO.replace("@WAY@", way)) for way in WAYS.values()]
    return [tuple(_placed(word, places) for word in argv) for argv in found]


def _placed(text: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text


async def tried(spec: ProcessSpec) -> str:
    return (await GroupRunner().run(spec, CancellationToken())).output


def spec_of(argv: tuple[str, ...], cwd: Path) -> ProcessSpec:
    return ProcessSpec(argv, str(cwd), {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}, timeout_s=60)


async def test_without_walls_a_command_clicks_into_the_window(screen: str, tmp_path: Path) -> None:
    before = pointer(screen)
    outputs = [await tried(spec_of(argv, tmp_path)) for argv in attacks(screen)]
    assert "REACHED" in outputs[0]
    assert "REACHED" in outputs[-1]
    assert pointer(screen) == "x:77 y:78" != before
    subprocess.run(["xdotool", "mousemove", "5", "6"], env={**os.environ, "DISPLAY": f":{screen}"}, check=True)


@pytest.mark.spec("R-SEC-1")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_command_with_the_network_on_reaches_a_screen_that_listens_on_tcp(
    screen: str, tmp_path: Path, kind: Kind
) -> None:
    settings = SafetySettings(str(tmp_path), allowed=(str(tmp_path),), shell_network="always")
    if Machine.here().landlock_abi < PORTS_ABI:
        pytest.skip("this kernel cannot close ports; the confinement says so")
    before = pointer(screen)
    policy = BoundaryPolicy(str(tmp_path / "app"), lambda: settings)
    with closing(SystemConfinement(policy, lambda: settings, kinds=(kind,))) as w:
        if w.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        assert any("6000 to 6063" in held for held in w.probe().holds)
        for argv in attacks(screen):
            output = await tried(w.wrap(spec_of(argv, tmp_path)))
            assert "REACHED" not in output, argv
            assert "could not be confined" not in output
    assert pointer(screen) == before

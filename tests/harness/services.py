"""Real helper processes for tests: a keyring daemon on a private D-Bus, and an X server."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.timeouts import WAIT_S


@dataclass(frozen=True)
class KeyringDaemon:
    """An unlocked secret service. `environment` holds what a process needs to reach it, and only that."""

    environment: Mapping[str, str]
    bus_pid: int
    daemon: subprocess.Popen[bytes]


def _required(program: str) -> str:
    if not sys.platform.startswith("linux"):
        pytest.skip(f"{program} is a helper of Linux")
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is not installed; `python3 packaging/dev.py test` installs what the tests need")
    return found


def _helper(program: str) -> list[str]:
    """How it is started so that the kernel ends it with the thread that started it, also when that is killed."""
    return [_required("setpriv"), "--pdeathsig", "KILL", "--", _required(program)]


_BUS = """<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
"""Without folders of services: a bus that has them starts another keyring, over the home of whoever runs the tests, for
a caller that comes before ours has its name, and ours never gets it."""


def _start_bus(folder: Path) -> subprocess.Popen[bytes]:
    config = folder / "bus.conf"
    config.write_text(_BUS.format(path=folder / "bus"))
    command = [*_helper("dbus-daemon"), f"--config-file={config}", "--nofork", "--nopidfile"]
    bus = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + WAIT_S
    while not (folder / "bus").exists():
        if time.monotonic() > deadline or bus.poll() is not None:
            pytest.fail("the private D-Bus did not start")
        time.sleep(0.01)
    return bus


def _start_keyring(environment: dict[str, str], *, begun: bool) -> subprocess.Popen[bytes]:
    unlock = ["--unlock"] if begun else []
    command = [*_helper("gnome-keyring-daemon"), "--foreground", *unlock, "--components=secrets"]
    daemon = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert daemon.stdin is not None
    daemon.stdin.write(b"assent-tests")
    daemon.stdin.close()
    return daemon


_PROBE = """
import keyring
keyring.set_password('assent-tests', 'probe', 'yes')
assert keyring.get_password('assent-tests', 'probe') == 'yes'
keyring.delete_password('assent-tests', 'probe')
"""


_LOOK = """
import secretstorage
assert list(secretstorage.get_all_collections(secretstorage.dbus_init())) is not None
"""


def _wait_until_answers(environment: dict[str, str], script: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        probe = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        if probe.returncode == 0:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"the keyring daemon does not answer: {probe.stderr[-500:]}")
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)


@contextlib.contextmanager
def running_keyring(*, begun: bool = True) -> Iterator[KeyringDaemon]:
    """A gnome-keyring of its own, with a home, runtime folder and bus that nobody else sees. Not ``begun``: as on a
    new computer, where there is no keyring in it yet."""
    with tempfile.TemporaryDirectory(prefix="assent-keyring-") as name:
        folder = Path(name)
        for part in ("data", "runtime"):
            (folder / part).mkdir(mode=0o700)
        environment = {
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder / 'bus'}",
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_RUNTIME_DIR": str(folder / "runtime"),
            "HOME": str(folder),
        }
        bus = _start_bus(folder)
        daemon = _start_keyring(environment, begun=begun)
        try:
            _wait_until_answers(environment, _PROBE if begun else _LOOK)
            yield KeyringDaemon({"DBUS_SESSION_BUS_ADDRESS": environment["DBUS_SESSION_BUS_ADDRESS"]}, bus.pid, daemon)
        finally:
            _end(daemon)
            _end(bus)


@pytest.fixture(scope="session")
def keyring_daemon() -> Iterator[KeyringDaemon]:
    """A real, unlocked secret service for the whole run. Use its `.environment` for a child process."""
    with running_keyring() as daemon:
        yield daemon


@pytest.fixture
def keyring_session(keyring_daemon: KeyringDaemon, monkeypatch: pytest.MonkeyPatch) -> KeyringDaemon:
    """This process's own keyring calls reach the private daemon while the test runs."""
    for key, value in keyring_daemon.environment.items():
        monkeypatch.setenv(key, value)
    return keyring_daemon


@contextlib.contextmanager
def running_x_server(size: str = "1600x1000x24", *, tcp: bool = False) -> Iterator[str]:
    """An Xvfb on a free display; yields the display's name, such as `:99`. ``tcp``: it listens there, too."""
    read, write = os.pipe()
    command = [*_helper("Xvfb"), "-displayfd", str(write), "-screen", "0", size, "-noreset"]
    command += ["-listen" if tcp else "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            pytest.fail("Xvfb did not start")
        yield f":{number}"
    finally:
        _end(server)


@pytest.fixture(scope="session")
def x_display() -> Iterator[str]:
    """The display of an X server for the whole run: give it to a child as DISPLAY with QT_QPA_PLATFORM=xcb."""
    with running_x_server() as display:
        yield display

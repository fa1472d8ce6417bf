"""The screen and the session of the ordinary user: an X server, a session bus, and a keyring where there is one.

They stand outside the trees, as the hardware and the desktop of a real machine do, and belong to the same user.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trials.trees import NUMBER, TrialFailed

SIZE = "1440x900x24"
WAIT_S = 60.0
AS_USER = {"user": NUMBER, "group": NUMBER, "extra_groups": []}


@dataclass
class Desktop:
    """What a program needs to know of the session, and what it needs to see of the file system."""

    environment: dict[str, str]
    shared: list[Path] = field(default_factory=list)


@contextlib.contextmanager
def as_user() -> Iterator[None]:
    """This process is the ordinary user for a moment, as the bus and the screen ask who one is."""
    groups = os.getgroups()
    os.setgroups([])
    os.setresgid(NUMBER, NUMBER, 0)
    os.setresuid(NUMBER, NUMBER, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


def needed(program: str) -> str:
    """Where a program is. Raises TrialFailed."""
    found = shutil.which(program)
    if found is None:
        raise TrialFailed(f"{program} is not installed here.")
    return found


@contextlib.contextmanager
def running_desktop(*, bus: bool = True, keyring: bool = False, gl: bool = True, size: str = SIZE) -> Iterator[Desktop]:
    """A session: a screen always, one that draws OpenGL, a bus with accessibility, a keyring that is unlocked."""
    with contextlib.ExitStack() as stack:
        runtime = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assent-session-")))
        runtime.chmod(0o700)
        os.chown(runtime, NUMBER, NUMBER)
        display = stack.enter_context(_x_server(size, gl))
        desktop = Desktop({"DISPLAY": display, "XDG_RUNTIME_DIR": str(runtime)}, [runtime])
        desktop.shared.append(Path(f"/tmp/.X11-unix/X{display[1:]}"))
        if bus:
            address = f"unix:path={runtime / 'bus'}"
            desktop.environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
            stack.enter_context(_bus(runtime, desktop.environment))
        if keyring:
            stack.enter_context(_keyring(desktop.environment))
        yield desktop


@contextlib.contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str], *, fed: str = "", fds: Sequence[int] = ()
) -> Iterator[None]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(  # type: ignore[call-overload]
        [needed("setpriv"), "--pdeathsig", "KILL", "--", *command],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment},
        stdin=subprocess.PIPE,
        pass_fds=fds,
        **quiet,
        **AS_USER,
    )
    process.stdin.write(fed.encode())
    process.stdin.close()
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


@contextlib.contextmanager
def _x_server(size: str, gl: bool) -> Iterator[str]:
    read, write = os.pipe()
    command = [needed("Xvfb"), "-displayfd", str(write), "-screen", "0", size, "-noreset", "-nolisten", "tcp"]
    command += [] if gl else ["-extension", "GLX"]
    with _process(command, {}, fds=[write]):
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise TrialFailed("Xvfb did not start.")
        yield f":{number}"


@contextlib.contextmanager
def _bus(runtime: Path, environment: dict[str, str]) -> Iterator[None]:
    """A session bus with the accessibility service alone: a keyring only comes when a trial wants one."""
    services = runtime / "services"
    services.mkdir()
    (services / "a11y.service").write_text(
        "[D-BUS Service]\nName=org.a11y.Bus\nExec=/usr/libexec/at-spi-bus-launcher\n"
    )
    config = runtime / "bus.conf"
    config.write_text(
        f"<busconfig><type>session</type><listen>unix:path={runtime / 'bus'}</listen>"
        f"<servicedir>{services}</servicedir><policy context='default'><allow send_destination='*' eavesdrop='true'/>"
        "<allow eavesdrop='true'/><allow own='*'/></policy></busconfig>"
    )
    command = [needed("dbus-daemon"), f"--config-file={config}", "--nofork", "--nopidfile"]
    with _process(command, {**environment, "HOME": str(runtime)}):
        wait_until((runtime / "bus").exists, "the session bus")
        yield


@contextlib.contextmanager
def _keyring(environment: dict[str, str]) -> Iterator[None]:
    folder = Path(environment["XDG_RUNTIME_DIR"])
    command = [needed("gnome-keyring-daemon"), "--foreground", "--unlock", "--components=secrets"]
    with _process(command, {**environment, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}, fed="trial"):
        wait_until((folder / "keyring" / "control").exists, "the keyring")
        yield


def wait_until(true: "object", what: str, seconds: float = WAIT_S) -> float:
    """Waits until a function says yes; the seconds it took. Raises TrialFailed."""
    begun = time.monotonic()
    while not true():  # type: ignore[operator]
        if time.monotonic() - begun > seconds:
            raise TrialFailed(f"{what} did not come within {seconds:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - begun

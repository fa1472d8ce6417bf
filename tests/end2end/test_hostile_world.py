"""The real app as a process in a hostile world: no keyring, no permission, kill -9. What is said, what is kept."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.end2end import tiny
from tests.end2end.person import KEY
from tests.harness import services
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process

__all__ = ["provider", "provider_process"]
PROGRAM = "import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring={!r}))"
GRACE = 0.25
"""Seconds: what was on screen longer than this survives."""


class Facts:
    """A running app and what it says, read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, name="facts")
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["kind"] == kind]

    def wait(self, kind: str, count: int = 1) -> dict[str, Any]:
        end = time.monotonic() + WAIT_S
        while len(self.all(kind)) < count:
            gone = self.process.poll() is not None and not self._reader.is_alive()
            assert not gone, f"it ended without {kind!r}: {self.lines} {self.errors}"
            assert time.monotonic() < end, f"never {kind!r}: {self.lines}"
            time.sleep(0.005)
        return self.all(kind)[count - 1]

    def ended(self) -> int:
        """The exit code, once all it said was read."""
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        assert self.all("failed") == []
        return code

    @property
    def errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read()


@contextlib.contextmanager
def acting(
    home: Path,
    scenario: str,
    *rounds: Any,
    bound: bool = False,
    wiring: str = "tests.end2end.person",
    **environment: str,
) -> Iterator[Facts]:
    """The app with a person in it. ``bound``: permissions hold for it even if we are root."""
    home.mkdir(mode=0o700, exist_ok=True)
    script = home.with_suffix(".json")
    script.write_text(json.dumps({"rounds": rounds}))
    command = [sys.executable, "-c", PROGRAM.format(wiring), "--home", str(home)]
    more = {"ASSENT_TEST_SCENARIO": scenario, **({"ASSENT_SCRIPT": str(script)} if rounds else {}), **environment}
    with subprocess.Popen(
        tiny.bound_by_permissions(command) if bound else command,
        cwd=tiny.ROOT,
        env={**tiny.environment(), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        facts = Facts(process)
        try:
            yield facts
        finally:
            process.kill()
            process.wait()
            facts._reader.join()


def configured(home: Path) -> Path:
    """A home whose chats are answered by the script."""
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    return home


def anywhere(home: Path, text: str) -> list[str]:
    """Files below a home that hold the text."""
    return [str(p) for p in home.rglob("*") if p.is_file() and text.encode() in p.read_bytes()]


# -- keyrings ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def no_bus() -> Iterator[Mapping[str, str]]:
    yield {}


@contextlib.contextmanager
def locked_keyring() -> Iterator[Mapping[str, str]]:
    """A real daemon whose collection exists and is locked, and nobody to unlock it."""
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        folder = Path(name)
        for part in ("data", "runtime"):
            (folder / part).mkdir(mode=0o700)
        address = f"unix:path={folder / 'bus'}"
        environment = {
            "DBUS_SESSION_BUS_ADDRESS": address,
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_RUNTIME_DIR": str(folder / "runtime"),
            "HOME": str(folder),
        }
        bus = services._start_bus(folder)
        daemon = services._start_keyring(environment, begun=True)
        try:
            services._wait_until_answers(environment, services._PROBE)
            services._end(daemon)
            command = ["gnome-keyring-daemon", "--foreground", "--components=secrets"]
            daemon = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            services._wait_until_answers(environment, services._LOOK)  # else the bus may start a second one meanwhile
            yield {"DBUS_SESSION_BUS_ADDRESS": address}
        finally:
            services._end(daemon)
            services._end(bus)


@contextlib.contextmanager
def hanging_keyring() -> Iterator[Mapping[str, str]]:
    """A real daemon that stopped in its tracks: it takes calls and never answers one."""
    with services.running_keyring() as daemon:
        daemon.daemon.send_signal(signal.SIGSTOP)
        try:
            yield daemon.environment
        finally:
            daemon.daemon.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def silent_bus() -> Iterator[Mapping[str, str]]:
    """Something listens where the bus should be, and never says a word."""
    with tempfile.TemporaryDirectory(prefix="as-") as name, socket.socket(socket.AF_UNIX) as line:
        path = Path(name) / "bus"
        line.bind(str(path))
        line.listen(64)
        yield {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"}


@pytest.mark.spec("R-SEC-1", "R-SEC-2", "R-UI-7")
@pytest.mark.parametrize(
    ("world", "words"),
    [
        (no_bus, "Assent found no safe keyring"),
        (silent_bus, "Assent found no safe keyring"),
        (locked_keyring, "The keyring is locked"),
        (hanging_keyring, "did not answer within 10 seconds|has not taken the key yet"),
    ],
)
def test_without_a_keyring_that_answers_a_key_lasts_for_the_session_and_the_window_says_so_and_never_freezes(
    tmp_path: Path, provider: ProviderSpace, world: Any, words: str
) -> None:
    provider.local(list={"body": {"data": [{"id": "one"}]}})
    home = tmp_path / "home"
    told = {"ASSENT_TEST_SERVER": provider.openai_url, "ASSENT_TEST_WORDS": words}
    with world() as environment, acting(home, "keys", **told, **environment) as app:
        servers, kept = app.wait("servers"), app.wait("kept")
        assert app.ended() == 0
        if world is hanging_keyring:
            assert servers["note"] == "", "models are looked for while the keyring is still silent"
        assert re.search(words, kept["note"])  # in the form, not only where the scenario waited for it
        assert "forgotten when Assent is closed" in kept["note"]
        assert "forgotten when Assent is closed" in kept["said"]
        assert kept["place"] in ("session", "waiting"), "the keyring has it not"
        assert kept["in_field"] == "", "a key is written once and never shown"
        print(f"{world.__name__}: longest block {kept['longest'] * 1000:.0f} ms")
        assert kept["longest"] < 10, "a call to the keyring held the window"
        assert anywhere(home, KEY) == []
    if world is no_bus:
        with acting(home, "keys_again") as app:
            again = app.wait("again")
            assert app.ended() == 0
        assert "key" in again["problem"]


# -- permissions ------------------------------------------------------------------------------------------------------


def test_a_database_without_write_permission_is_named_in_the_window(tmp_path: Path) -> None:
    home = configured(tmp_path / "home")
    with acting(home, "stream", [{"text": "Hello there."}]) as app:
        app.wait("shown")
    file = home / "data" / "assent.db"
    file.chmod(0o444)
    with acting(home, "blocked", bound=True) as app:
        dialog = app.wait("dialog")
        assert app.ended() == 0
    assert str(file) in dialog["words"]
    assert "cannot be written" in dialog["words"]
    assert dialog["answers"] == ["again", "quit"]


def test_in_a_home_where_only_its_data_can_be_written_settings_and_files_are_refused_in_words_and_chats_work(
    tmp_path: Path,
) -> None:
    home = configured(tmp_path / "home")
    for name in ("data", "logs"):
        (home / name).mkdir(mode=0o700)
    for name in ("skills", "agents", "workspace"):
        (home / name).mkdir(mode=0o555)
    (home / "config.yaml").chmod(0o444)
    home.chmod(0o555)
    before = (home / "config.yaml").read_bytes()
    write = [{"call": {"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}}]
    try:
        with acting(home, "chat", write, [{"text": "Hello there."}], bound=True) as app:
            refused, called = app.wait("refused"), app.wait("called")
            assert app.ended() == 0
    finally:
        home.chmod(0o700)
    assert str(home) in refused["why"]
    assert refused["toast"]
    ((state, result),) = called["calls"]
    assert state == "failed"
    assert "does not permit" in result
    assert list((home / "workspace").iterdir()) == []
    assert (home / "config.yaml").read_bytes() == before


# -- kill -9 ----------------------------------------------------------------------------------------------------------


def killed(app: Facts) -> tuple[float, list[dict[str, Any]]]:
    """Kill it now; when that was, and what it had shown."""
    at = time.monotonic()
    app.process.send_signal(signal.SIGKILL)
    app.process.wait()
    app._reader.join()
    return at, app.all("shown")


def gone(pid: int) -> None:
    """The process does not outlive its parent."""
    end = time.monotonic() + WAIT_S
    while Path(f"/proc/{pid}").exists() and b"zombie" not in Path(f"/proc/{pid}/status").read_bytes():
        assert time.monotonic() < end, f"process {pid} lives on"
        time.sleep(0.02)


@pytest.mark.spec("R-JRN-2", "R-CAN-10")
def test_kill_nine_in_the_middle_of_an_answer_loses_nothing_that_was_seen_and_its_model_host_dies_with_it(
    tmp_path: Path,
) -> None:
    home = configured(tmp_path / "home")
    words = [{"times": -1, "steps": [{"text": "and on and on "}, {"wait": 0.002}]}]
    for moment in (0.1, 0.6):
        with acting(home, "stream", words) as app:
            child = app.wait("child")["pid"]
            app.wait("shown", 3)
            time.sleep(moment)
            at, shown = killed(app)
        gone(child)
        old = [line["characters"] for line in shown if line["at"] < at - GRACE - 2 * line["late"]]
        with acting(home, "look") as app:
            seen = app.wait("seen")
            assert app.ended() == 0
        kept = "".join(seen["texts"])
        assert len(kept) >= max(old, default=0)
        assert seen["texts"][0] == "tell me everything"
        assert ("and on and on " * 100_000).startswith(seen["texts"][1]), "nothing that nobody said"
        assert any("interrupted" in notice for notice in seen["notices"])
        assert seen["can_continue"]


@pytest.mark.spec("R-PRM-9", "R-JRN-2")
def test_kill_nine_while_a_request_waits_runs_nothing_and_the_next_start_says_so(tmp_path: Path) -> None:
    home = configured(tmp_path / "home")
    call = {"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    with acting(home, "stream", [{"text": "I will write."}, {"call": call}]) as app:
        end = time.monotonic() + WAIT_S
        while not any("waiting" in line["calls"] for line in app.all("shown")):
            assert time.monotonic() < end
            time.sleep(0.01)
        killed(app)
    with acting(home, "look") as app:
        seen = app.wait("seen")
        assert app.ended() == 0
    assert seen["texts"][:2] == ["tell me everything", "I will write."]
    assert seen["calls"] == ["aborted"]
    assert any("interrupted" in notice for notice in seen["notices"])
    assert not (home / "workspace" / "a.txt").exists()

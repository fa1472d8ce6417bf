"""The real helpers of tests/harness: they run, they are private, and they end with the test."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import keyring
import pytest

from tests.harness import services
from tests.harness.services import KeyringDaemon, running_keyring, running_x_server

ASK = "import keyring; print(keyring.get_password('assent-tests', 'key'))"


def _python(script: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


def test_the_keyring_keeps_a_secret_for_other_processes(keyring_session: KeyringDaemon) -> None:
    keyring.set_password("assent-tests", "key", "s3cret")
    try:
        assert _python(ASK, {}).stdout.strip() == "s3cret"
    finally:
        keyring.delete_password("assent-tests", "key")


def test_without_the_fixture_no_keyring_is_in_reach() -> None:
    assert _python(ASK, {}).returncode != 0


def test_a_keyring_daemon_ends_with_its_scope() -> None:
    with running_keyring() as daemon:
        assert daemon.daemon.poll() is None
    assert daemon.daemon.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(daemon.bus_pid, 0)


def test_whoever_asks_before_the_keyring_is_there_starts_no_other_one(tmp_path: Path) -> None:
    bus = services._start_bus(tmp_path)
    try:
        asked = _python(services._LOOK, {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path / 'bus'}"})
        assert asked.returncode != 0
        assert "SecretServiceNotAvailable" in asked.stderr
    finally:
        services._end(bus)


def test_the_x_server_shows_a_window() -> None:
    script = "from PySide6.QtWidgets import QApplication; print(QApplication([]).platformName())"
    with running_x_server() as display:
        done = _python(script, {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"})
    assert done.stdout.startswith("xcb"), done.stderr

"""A window that is put away in the tray, by a real tray of ours on a real bus and a real display."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='tests.end2end.person'))"
LONG = [{"text": "One. "}, {"wait": 600}, {"text": "Two."}]


@pytest.mark.spec("R-UI-8")
def test_in_the_tray_it_works_on_comes_back_by_the_icon_and_ends_by_a_signal(
    keyring_daemon: KeyringDaemon, x_display: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        **keyring_daemon.environment,
        "DISPLAY": x_display,
        "QT_QPA_PLATFORM": "xcb",
        "AGENT_HOME": str(tmp_path / "home"),
        "ASSENT_TEST_SCENARIO": "close_and_keep",
        "ASSENT_SCRIPT": str(tmp_path / "script.json"),
        "HOME": str(tmp_path / "person"),
    }
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    (tmp_path / "script.json").write_text(json.dumps({"rounds": [LONG]}))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen([sys.executable, "-m", "tests.servers.tray"], env=environment, **pipes) as tray:
        assert tray.stdout.readline().strip() == "ready"
        with subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes) as app:
            facts = map(json.loads, app.stdout)
            away = next(facts)
            words = {"label": "Keep working in the tray", "tip": "Assent. 1 run at work."}
            assert away == {**away, "kind": "away", **words}
            tray.stdin.write("press\n")
            tray.stdin.flush()
            back = next(facts)
            assert back == {**back, "kind": "back", "running": True, "icon": False}
            app.send_signal(signal.SIGTERM)
            assert app.wait(WAIT_S) == 0
        tray.stdin.close()

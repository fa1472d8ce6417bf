"""The real window on an X server of its own, in which requests come and go; attacks on it are scripts of bash."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness.services import KeyringDaemon, running_x_server
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
WIRING = "tests.end2end.asked_person"
PROGRAM = f"import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='{WIRING}'))"
AWAY = "x:3 y:3"
AWAKE = "sleep 1.2"
"""Longer than any button is deaf; where the machine is slower, an attack only comes later."""
MAXIMUM = 60


@dataclass
class Attacked:
    """The app, and what is known of its window."""

    app: subprocess.Popen[str]
    environment: dict[str, str]
    top: Path
    facts: Iterator[dict[str, Any]]

    def do(self, what: str, kind: str) -> dict[str, Any]:
        self.app.stdin.write(f"{what}\n")
        self.app.stdin.flush()
        found = next(self.facts)
        assert found["kind"] == kind, found
        return found

    def shell(self, script: str) -> None:
        subprocess.run(["bash", "-c", script], cwd=ROOT, env=self.environment, check=True, timeout=WAIT_S)

    def background(self, script: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["bash", "-c", script], env=self.environment)

    @property
    def written(self) -> list[str]:
        """What was allowed."""
        return [path.name for path in self.top.rglob("allowed-*.txt")]

    def asked(self) -> dict[str, Any]:
        """A new request stands in the window; ``W``, ``AX``, ``AY`` … are known to scripts."""
        self.do("begin", "begun")
        return self.known(self.do("ask", "asked"))

    def asked_during(self, script: str) -> None:
        """A request comes while the script runs, which knows where the one before stood. It is under way when it has
        moved the pointer."""
        attack = self.background(script)
        while self.pointer == AWAY:
            assert attack.poll() is None
        self.asked()
        assert attack.wait(WAIT_S) == 0

    @property
    def pointer(self) -> str:
        asked = subprocess.run(["xdotool", "getmouselocation"], env=self.environment, capture_output=True, text=True)
        return asked.stdout.split(" screen")[0]

    def known(self, found: dict[str, Any]) -> dict[str, Any]:
        (ax, ay), (dx, dy) = found["allow"], found["deny"]
        more = {"W": found["window"], "AX": ax, "AY": ay, "DX": dx, "DY": dy}
        for name, place in (("R", "reason"), ("E", "edit"), ("T", "text")):
            more |= {f"{name}X": found[place][0], f"{name}Y": found[place][1]}
        self.environment |= {name: str(value) for name, value in more.items()}
        return found

    def over(self) -> None:
        self.do("deny", "over")


@contextmanager
def attacked_window(keyring_daemon: KeyringDaemon, top: Path, content: str = "x\n") -> Iterator[Attacked]:
    """``content`` is what each call would write."""
    if shutil.which("xdotool") is None or sys.platform != "linux":
        pytest.skip("needs Linux and xdotool")
    home = top / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    calls = [
        {"call": {"tool": "write_file", "arguments": {"path": f"allowed-{at}.txt", "content": content}}}
        for at in range(MAXIMUM)
    ]
    rounds = [one for call in calls for one in ([call], [{"text": "Over."}])]
    (top / "script.json").write_text(json.dumps({"rounds": rounds}))
    with running_x_server() as display:
        environment = {
            **os.environ,
            **keyring_daemon.environment,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "AGENT_HOME": str(home),
            "HOME": str(top / "person"),
            "ASSENT_TEST_SCENARIO": "be_asked",
            "ASSENT_SCRIPT": str(top / "script.json"),
        }
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
        with subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes) as app:
            try:
                yield Attacked(app, environment, top, map(json.loads, app.stdout))
                app.stdin.close()
                assert app.wait(WAIT_S) == 0
            finally:
                app.kill()

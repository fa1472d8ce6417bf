"""The real window on a real X server, pressed by programs: by XTEST, as a hand would, and by events that were sent.

A press that is made for nothing, too soon or for another request approves nothing (R-PRM-14). Events that another
program sent to the window (XSendEvent) never do. What is staged really writes a file when it succeeds.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness.patience import PATIENCE_S
from tests.harness.services import KeyringDaemon, running_x_server

ROOT = Path(__file__).resolve().parents[2]
WIRING = "tests.end2end.asked_person"
PROGRAM = f"import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='{WIRING}'))"
AWAY = "x:3 y:3"
AWAKE = "sleep 1.2"
"""Longer than any button is deaf; where the machine is slower, an attack only comes later."""
MOST = 60


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
        subprocess.run(["bash", "-c", script], cwd=ROOT, env=self.environment, check=True, timeout=PATIENCE_S)

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
        assert attack.wait(PATIENCE_S) == 0

    @property
    def pointer(self) -> str:
        asked = subprocess.run(["xdotool", "getmouselocation"], env=self.environment, capture_output=True, text=True)
        return asked.stdout.split(" screen")[0]

    def known(self, found: dict[str, Any]) -> dict[str, Any]:
        (ax, ay), (dx, dy) = found["allow"], found["deny"]
        more = {"W": found["window"], "AX": ax, "AY": ay, "DX": dx, "DY": dy}
        self.environment |= {name: str(value) for name, value in more.items()}
        return found

    def over(self) -> None:
        self.do("deny", "over")


@pytest.fixture(scope="module")
def window(keyring_daemon: KeyringDaemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    if shutil.which("xdotool") is None or sys.platform != "linux":
        pytest.skip("needs Linux and xdotool")
    top = tmp_path_factory.mktemp("attacked")
    home = top / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    call = {"call": {"tool": "write_file", "arguments": {"path": "allowed-@.txt", "content": "x\n"}}}
    rounds = [one for at in range(MOST) for one in (
        [json.loads(json.dumps(call).replace("@", str(at)))], [{"text": "Over."}]
    )]  # fmt: skip
    (top / "script.json").write_text(json.dumps({"rounds": rounds}))
    with running_x_server() as display:
        environment = {
            **os.environ, **keyring_daemon.environment, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb",
            "AGENT_HOME": str(home), "HOME": str(top / "person"), "ASSENT_TEST_SCENARIO": "be_asked",
            "ASSENT_SCRIPT": str(top / "script.json"),
        }  # fmt: skip
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
        with subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes) as app:
            try:
                yield Attacked(app, environment, top, map(json.loads, app.stdout))
                app.stdin.close()
                assert app.wait(PATIENCE_S) == 0
            finally:
                app.kill()


@pytest.fixture
def attacked(window: Attacked) -> Iterator[Attacked]:
    """A window in which nothing waits, and of which it is known where a request's answers stand."""
    window.shell("xdotool mousemove 3 3")
    if "AX" not in window.environment:
        window.asked()
        window.over()
    assert window.written == []
    yield window
    window.over()
    for path in window.top.rglob("allowed-*.txt"):
        path.unlink()


def each_of(ways: dict[str, str], always: str) -> list[Any]:
    """One of them every time, all in the soak: each takes seconds."""
    return [pytest.param(way, marks=[] if way == always else [pytest.mark.soak]) for way in ways]


@pytest.mark.soak
def test_a_hand_that_means_it_is_heard(attacked: Attacked) -> None:
    """By the pointer, and by keys: so that the tests below can fail."""
    attacked.asked()
    attacked.shell(f"{AWAKE}; xdotool mousemove $AX $AY click 1; {AWAKE}")
    assert len(attacked.written) == 1
    attacked.over()
    attacked.asked()
    attacked.shell(f"{AWAKE}; xdotool key F6 key ctrl+Return; {AWAKE}")
    assert len(attacked.written) == 2


FLOODS = {
    "Return is held": "xdotool mousemove 7 7 keydown Return; sleep 2.5; xdotool keyup Return",
    "space is held": "xdotool mousemove 7 7 keydown space; sleep 2.5; xdotool keyup space",
    "Return, again and again": "xdotool mousemove 7 7 key --delay 30 $(printf 'Return %.0s' {1..80})",
    "Control and Return": "xdotool mousemove 7 7 key --delay 30 $(printf 'ctrl+Return %.0s' {1..60})",
    "F6, Control and Return": "xdotool mousemove 7 7 key --delay 20 $(printf 'F6 ctrl+Return %.0s' {1..60})",
    "Tab and space": "xdotool mousemove 7 7 key --delay 15 $(printf 'Tab space %.0s' {1..60})",
    "letters with Alt": "xdotool mousemove 7 7 key --delay 9 $(printf 'alt+%s ' {a..z} {A..Z})",
    "clicks where Allow will be": "xdotool mousemove $AX $AY click --repeat 60 --delay 40 1",
    "double clicks where Allow will be": (
        "xdotool mousemove $AX $AY; for i in $(seq 12); do xdotool click --repeat 2 --delay 30 1; sleep 0.2; done"
    ),
    "a button that is held where Allow will be": "xdotool mousemove $AX $AY mousedown 1; sleep 2.5; xdotool mouseup 1",
    "a drag from Deny to Allow": (
        "xdotool mousemove 7 7; for i in 1 2 3 4; do xdotool mousemove 3 3 mousedown 1 mousemove $AX $AY mouseup 1; "
        "sleep 0.4; done"
    ),
    "a text that is pasted": "xdotool mousemove 7 7; for i in 1 2 3; do xdotool key --delay 5 ctrl+v; sleep 0.6; done",
    "other buttons of the pointer": (
        "xdotool mousemove 7 7; sleep 1.5; xdotool mousemove $AX $AY click 2 click 3 click 8 click 9"
    ),
}


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
@pytest.mark.parametrize("flood", each_of(FLOODS, "F6, Control and Return"))
def test_what_was_under_way_when_the_request_came_allows_nothing(attacked: Attacked, flood: str) -> None:
    attacked.asked_during(FLOODS[flood])
    assert attacked.do("state", "state")["waiting"] <= 1
    assert attacked.written == []


KEYS = f"{sys.executable} -m tests.harness.send_keys $W"
SENT = {
    "a click on Allow": "xdotool mousemove $AX $AY; sleep 0.6; xdotool click --window $W 1",
    "clicks on Allow": "xdotool mousemove $AX $AY; sleep 0.6; xdotool click --repeat 5 --delay 500 --window $W 1",
    "keys to the request": f"{KEYS} F6 ctrl+Return",
    "keys to the button": f"{KEYS} F6 Tab Tab Tab Tab space",
    "keys, the window given the focus by force": f"xdotool windowfocus $W; {KEYS} F6 ctrl+Return",
    "keys, after a person pressed F6": f"xdotool key F6; sleep 0.3; {KEYS} ctrl+Return Return space",
}
"""By XSendEvent, a second after the request came: Allow hears by then."""


@pytest.mark.spec("R-PRM-14")
@pytest.mark.parametrize("way", each_of(SENT, "a click on Allow"))
def test_events_that_another_program_sends_to_the_window_allow_nothing(attacked: Attacked, way: str) -> None:
    attacked.asked()
    attacked.shell(f"{AWAKE}; {SENT[way]}; sleep 0.5")
    state = attacked.do("state", "state")
    assert (state["waiting"], state["deaf"]) == (1, False), "nothing was heard, and Allow would have heard"
    assert attacked.written == []


@pytest.mark.soak
@pytest.mark.spec("R-PRM-14", "R-PRM-8")
def test_who_takes_the_focus_away_and_gives_it_back_has_the_window_begin_anew(attacked: Attacked) -> None:
    """Another window in front, and a click that brings ours back: it allows nothing, and nor does the next at once."""
    other = attacked.background("exec xev -geometry 200x100+5+400 > /dev/null")
    try:
        attacked.asked()
        attacked.shell(
            f"O=$(xdotool search --sync --name 'Event Tester' | head -1); {AWAKE}; xdotool windowfocus --sync $O; "
            "sleep 0.2; xdotool mousemove $AX $AY windowfocus $W click 1 click 1; sleep 0.5"
        )
        assert attacked.do("state", "state")["waiting"] == 1
        assert attacked.written == []
    finally:
        other.kill()
        other.wait()


def test_there_are_enough_of_them() -> None:
    assert len(FLOODS) + len(SENT) + 1 >= 20

"""The real window on a real X server, pressed by programs: by XTEST, as a hand would, and by events that were sent.

A press that is made for nothing, too soon or for another request approves nothing (R-PRM-14). Events that another
program sent to the window (XSendEvent) never do. What is staged really writes a file when it succeeds.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end2end.attacked import AWAKE, Attacked, attacked_window
from tests.harness.services import KeyringDaemon


@pytest.fixture(scope="module")
def window(keyring_daemon: KeyringDaemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with attacked_window(keyring_daemon, tmp_path_factory.mktemp("attacked")) as window:
        yield window


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

"""kill -9 of the real app while what a command did is shown, and while a command runs in its copy."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.end2end.test_hostile_world import acting, configured, gone, killed
from tests.unit.safety.outcomes.test_here import kernel_has

WIRING = "tests.end2end.outcome_person"
COMMAND = "echo new > made.txt; mv gone.txt moved.txt; echo more >> kept.txt; sleep 1234 & echo said"
WORDS = [{"times": -1, "steps": [{"text": "and on and on "}, {"wait": 0.005}]}]


def rounds(command: str) -> list[dict[str, Any]]:
    runs = {"call": {"tool": "bash", "arguments": {"command": command}}}
    return [
        {"when": "run it", "steps": [{"text": "I run it."}, runs]},
        {"when": "talk on", "steps": WORDS},
        {"when": "said", "steps": [{"text": "All done."}]},
    ]


def filled(home: Path) -> Path:
    (asked := home.with_name("asked")).mkdir()
    if not kernel_has(asked):
        pytest.skip("this machine makes no copies")
    folder = configured(home) / "workspace"
    folder.mkdir()
    (folder / "gone.txt").write_text("old\n")
    (folder / "kept.txt").write_text("old\n")
    return folder


def mounts_in(folder: Path) -> list[str]:
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]


def below(folder: Path) -> list[int]:
    """Processes that work in it, or name it in what they were started with."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            told = Path(f"/proc/{name}/cmdline").read_bytes() + os.fsencode(os.readlink(f"/proc/{name}/cwd"))
        except OSError:
            continue
        if os.fsencode(folder) in told:
            found.append(int(name))
    return found


@pytest.mark.spec("R-OUT-1", "R-OUT-3", "R-JRN-2")
def test_kill_nine_while_what_a_command_did_is_shown_changes_nothing_and_it_is_asked_again(tmp_path: Path) -> None:
    folder = filled(tmp_path / "home")
    home, before = folder.parent, {path.name: path.read_text() for path in folder.iterdir()}
    with acting(home, "leave_open", *rounds(COMMAND), wiring=WIRING) as app:
        shown = app.wait("open")
        assert (shown["changed"], len(shown["copies"])) == (["gone.txt", "kept.txt", "made.txt", "moved.txt"], 1)
        killed(app)
    assert {path.name: path.read_text() for path in folder.iterdir()} == before
    assert mounts_in(home) == []
    for process in below(home):
        gone(process)
    with acting(home, "go_on", *rounds(COMMAND), wiring=WIRING, ASSENT_TEST_THREAD=shown["thread"]) as app:
        started, cut = app.wait("started"), app.wait("cut")
        assert (started["copies"], started["requests"]) == ([], 0), "the copy went with the start"
        assert cut["calls"] == [["aborted", ""]]
        again, done = app.wait("again"), app.wait("done")
        assert app.ended() == 0
    assert again["changed"] == shown["changed"], "it is asked about as if nothing had been"
    assert done["copies"] == []
    after = {path.name: path.read_text() for path in folder.iterdir()}
    assert after == {"made.txt": "new\n", "moved.txt": "old\n", "kept.txt": "old\nmore\n"}, "once"


@pytest.mark.spec("R-OUT-1", "R-CAN-10")
def test_kill_nine_while_a_command_runs_in_its_copy_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    folder = filled(tmp_path / "home")
    home = folder.parent
    with acting(home, "leave_running", *rounds("echo x > begun.txt; sleep 2345"), wiring=WIRING) as app:
        app.wait("running")
        running = below(home)
        killed(app)
    assert len(running) > 1
    for process in running:
        gone(process)
    assert sorted(path.name for path in folder.iterdir()) == ["gone.txt", "kept.txt"]
    with acting(home, "look_after", *rounds("true"), wiring=WIRING) as app:
        assert app.wait("started")["copies"] == []
        assert app.ended() == 0

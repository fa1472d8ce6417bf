"""`assent open LINK` as a desktop runs it, and the event that a Mac sends in its place: the window of the Assent that
is open shows the place, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end import tiny
from tests.harness.timeouts import WAIT_S

HOSTILE = (
    "assent:chat/../../settings",
    "assent:settings/approvals?value=always",
    "assent:$(touch pwned)",
    "assent:`touch pwned`;touch pwned",
    "--home=pwned",
    "--exit-after-paint",
    "assent:" + "a" * 100_000,
    "assent:\u202e\x1b[31m",
    "file:///etc/passwd",
)


def opening(home: Path, *link: str) -> list[str]:
    return [sys.executable, "-m", "desktop", "open", "--home", str(home), "--", *link]


def opened(home: Path, *link: str) -> tuple[int, str, str]:
    command = opening(home, *link)
    done = subprocess.run(command, cwd=home, env=environment(), capture_output=True, text=True, timeout=WAIT_S)
    return done.returncode, done.stdout, done.stderr


def environment() -> dict[str, str]:
    return {**tiny.environment(), "QT_QPA_PLATFORM": "offscreen"}


def page(home: Path) -> str:
    """The page that the window remembers to be shown."""
    try:
        return str(json.loads((home / "data" / "window.json").read_text("utf-8")).get("shell.page"))
    except (OSError, ValueError):
        return ""


@pytest.mark.spec("R-PKG-3")
def test_links_that_a_mac_tells_a_running_app_of_open_a_place_and_hostile_ones_nothing(short_tmp: Path) -> None:
    home = short_tmp / "home"
    home.mkdir()
    command = [sys.executable, "-m", "tests.end2end.opened_app", "--home", str(home)]
    with subprocess.Popen(command, cwd=tiny.ROOT, env=environment(), stdin=-1, stdout=-1, stderr=-1, text=True) as app:

        def opened(*links: str) -> None:
            assert app.stdin is not None
            app.stdin.write("".join(f"{link}\n" for link in links))
            app.stdin.flush()

        try:
            opened("assent:skills")  # what the app was started for
            tiny.wait_for(lambda: page(home) == "skills" or app.poll() is not None)
            before = sorted(path.name for path in home.iterdir())
            for place in ("schedules", "debates"):
                opened(*HOSTILE, "", f"assent://{place}/")
                tiny.wait_for(lambda place=place: page(home) == place)  # type: ignore[misc]
            assert sorted(path.name for path in home.iterdir()) == before
            app.terminate()
            assert tiny.ended(app) == (0, "", "")
        finally:
            app.kill()


@pytest.mark.spec("R-PKG-2")
def test_links_open_a_place_in_the_window_that_is_open_and_hostile_ones_nothing(short_tmp: Path) -> None:
    home = short_tmp / "home"
    home.mkdir()
    with subprocess.Popen(
        opening(home, "assent:skills"), cwd=home, env=environment(), stdout=-1, stderr=-1, text=True
    ) as app:
        try:
            tiny.wait_for(lambda: page(home) == "skills" or app.poll() is not None)
            assert opened(home, "assent:schedules") == (0, "", "")
            tiny.wait_for(lambda: page(home) == "schedules")
            before = sorted(path.name for path in home.iterdir())
            assert [opened(home, link) for link in HOSTILE] == [(0, "", "")] * len(HOSTILE)
            assert opened(home) == (0, "", ""), "a menu's entry without a link"
            assert opened(home, "assent:debates") == (0, "", "")
            tiny.wait_for(lambda: page(home) == "debates")
            assert sorted(path.name for path in home.iterdir()) == before
            app.terminate()
            assert tiny.ended(app) == (0, "", "")
        finally:
            app.kill()

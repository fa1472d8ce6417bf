"""The app's files are exchanged under it: it says so, and takes nothing that fails then for a bug."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.app.home.crash import CrashReporter
from desktop.app.lifecycle.exchanged import Exchange
from desktop.domain.errors import KnownError
from desktop.files.own_files import OwnFiles
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from tests.harness.timeouts import WAIT_MS

EXCHANGED = "the files of the app were exchanged"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A file of an app that runs."""
    file = tmp_path / "site-packages" / "desktop" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text("version = 1\n")
    return file


def replaced(file: Path) -> None:
    """As dpkg does it: the new file beside the old one, then in its place."""
    new = file.with_suffix(".dpkg-new")
    new.write_text(file.read_text())
    new.replace(file)


def moved_away(file: Path) -> None:
    """As pip does it: the whole folder to another name, then a new one."""
    file.parent.rename(file.parent.with_name("~esktop"))
    file.parent.mkdir()
    file.write_text("version = 2\n")


def removed(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()


@pytest.mark.spec("R-PKG-2")
@pytest.mark.expects_log(EXCHANGED)
@pytest.mark.parametrize("exchange", [replaced, moved_away, removed])
def test_whatever_way_the_files_are_exchanged_it_is_told(
    qtbot: QtBot, installed: Path, exchange: Callable[[Path], None]
) -> None:
    watch = Exchange(OwnFiles(installed))
    assert watch.error() is None
    with qtbot.waitSignal(watch.happened, timeout=WAIT_MS) as told:
        exchange(installed)
    assert told.args is not None
    assert told.args[0].code == "app.exchanged"
    assert told.args[0].next_step.startswith("Restart Assent.")


def test_other_files_beside_it_are_not_its_own(qtbot: QtBot, installed: Path) -> None:
    watch, told = Exchange(OwnFiles(installed)), []
    watch.happened.connect(told.append)
    with qtbot.waitSignal(watch._rest.timeout, timeout=WAIT_MS):
        (installed.parent / "__pycache__").mkdir()
        (installed.parent.parent / "another_package").mkdir()
    assert (watch.error(), told) == (None, [])


@pytest.mark.expects_log("main thread, after app.exchanged")
def test_what_fails_after_it_is_no_bug_to_report(tmp_path: Path, qapp: object) -> None:
    crashes = CrashReporter(tmp_path)
    crashes.excuse = lambda: KnownError("The files were exchanged.", code="app.exchanged")
    heard: list[KnownError] = []
    crashes.known.connect(heard.append)
    assert crashes.take(ImportError("cannot import name 'Pipeline'"), "main thread") is None
    assert [error.code for error in heard] == ["app.exchanged"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.expects_log("main thread, after app.exchanged")
def test_what_fails_while_it_is_told_is_not_told_again(tmp_path: Path, qapp: object) -> None:
    crashes = CrashReporter(tmp_path)
    crashes.excuse = lambda: KnownError("The files were removed.", code="app.exchanged")
    heard: list[KnownError] = []

    def shown(error: KnownError) -> None:
        heard.append(error)
        assert len(heard) < 9, "it goes on for ever"
        crashes.take(ModuleNotFoundError("No module named 'desktop.ui.shell.banner'"), "main thread")

    crashes.known.connect(shown)
    for told in (1, 2):
        crashes.take(ImportError("cannot import name 'Pipeline'"), "main thread")
        assert len(heard) == told


@pytest.mark.expects_log(EXCHANGED)
def test_what_was_exchanged_before_anybody_watched_is_told_too(qtbot: QtBot, installed: Path) -> None:
    own = OwnFiles(installed)
    replaced(installed)
    with qtbot.waitSignal(Exchange(own).happened, timeout=WAIT_MS):
        pass


async def test_the_window_says_it(start: Callable[..., Any]) -> None:
    app = await start(joined=True)
    await app.until(lambda: app.startup.findChild(Exchange) is not None, "who watches the files")
    watch = app.startup.findChild(Exchange)
    error = KnownError("The files were exchanged.", next_step="Start it again.", code="app.exchanged")
    watch.happened.emit(error)
    strips = [
        one for one in app.window.findChildren(Notice) if one.words == "The files were exchanged. Start it again."
    ]
    assert len(strips) == 1
    assert app.crashes.excuse == app.crashes.own_files.exchanged
    again = strips[0].findChild(Button)
    assert again.label == "Restart now"
    again.click()
    assert app.quits == [True]

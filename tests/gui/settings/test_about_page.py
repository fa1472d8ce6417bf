"""Settings, About: which Assent this is, what it is made of, and every licence to be read and copied (R-PKG-2)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.about import LICENCES, SampleAbout

from desktop.domain.installation import Installation
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.about.page import OWN_LICENCE, AboutViewModel, kind_words
from desktop.services.licences.reading import LicenceList
from desktop.ui.settings.about.page import AboutPage
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import until

HERE = Installation("deb", "1.2.3", "/usr/lib/assent", commit="a" * 40, built="2026-11-27T09:00:00Z")


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    made = Bridge()
    yield made
    assert await made.shutdown(2.0) == ()


def shown(qtbot: QtBot, model: Any, said: list[str]) -> AboutPage:
    made = AboutPage(model, said.append)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    made.activateWindow()
    spin()
    return made


def words(page: AboutPage) -> list[str]:
    return [label.text() for label in page.facts.findChildren(QLabel)]


def parts(page: AboutPage) -> list[str]:
    return [part.name for part in page.list.parts.parts.lines]


def open_part(page: AboutPage, name: str) -> None:
    page.show_view("parts")
    page.list.search.setFocus()
    QTest.keyClicks(page.list.search, name)
    QTest.keyClick(page.list.search, Qt.Key.Key_Down)
    QTest.keyClick(page.list.parts, Qt.Key.Key_Return)


async def test_it_says_which_assent_it_is_and_copies_that(qtbot: QtBot, theme: Theme, bridge: Bridge) -> None:
    said: list[str] = []
    page = shown(qtbot, AboutViewModel(lambda: HERE, LicenceList(LICENCES), bridge), said)
    await until(lambda: "1.2.3" in words(page))
    assert {"a" * 40, "Debian package", "/usr/lib/assent", "2026-11-27 09:00:00 UTC"} <= set(words(page))
    assert OWN_LICENCE in words(page)
    QTest.mouseClick(page.facts.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert f"Version: 1.2.3\nCommit: {'a' * 40}\n" in copied
    assert "Installed as: Debian package" in copied
    assert said == ["What this Assent is was copied"]


@pytest.mark.spec("R-PKG-2")
async def test_a_part_is_searched_opened_read_and_copied(qtbot: QtBot, theme: Theme, bridge: Bridge) -> None:
    said: list[str] = []
    page = shown(qtbot, AboutViewModel(lambda: HERE, LicenceList(LICENCES), bridge), said)
    await until(lambda: "PySide6_Essentials" in parts(page))
    open_part(page, "pyside6_ess")
    await until(lambda: "GNU LESSER GENERAL PUBLIC LICENSE" in page.open.text.toPlainText())
    assert page.open.text.toPlainText().startswith("Copyright (C) The Qt Company")
    page.open.choice.setCurrentIndex(page.open.choice.findData("GPL-3.0-only"))
    await until(lambda: page.open.text.toPlainText().split("\n\n")[1].startswith("GNU GENERAL PUBLIC LICENSE"))
    QTest.mouseClick(page.open.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Name: PySide6_Essentials")
    assert "Source: https://code.qt.io" in copied
    assert "\nGNU GENERAL PUBLIC LICENSE" in copied
    assert said == ["The licence is copied"]


def test_the_search_keeps_what_has_all_words_in_its_name_or_licence(qtbot: QtBot, theme: Theme) -> None:
    model = SampleAbout()
    page = shown(qtbot, model, [])
    page.show_view("parts")
    QTest.keyClicks(page.list.search, "MPL")
    assert "certifi" in parts(page)
    assert len(parts(page)) < model.total
    assert page.list.count.text() == f"{len(parts(page)):,} of {model.total:,}"
    QTest.keyClicks(page.list.search, " nobody")
    assert (parts(page), page.list.nothing.isVisible(), page.list.parts.isVisible()) == ([], True, False)
    QTest.keyClick(page.list.search, Qt.Key.Key_Escape)
    assert (len(parts(page)), page.list.nothing.isVisible()) == (model.total, False)


def test_escape_goes_from_a_text_back_to_the_row_it_was_opened_from(qtbot: QtBot, theme: Theme) -> None:
    page = shown(qtbot, SampleAbout(), [])
    open_part(page, "qasync")
    assert page.stack.currentWidget() is page.open
    assert page.open.back.accessibleName() == "All parts"
    QTest.keyClick(page.open.back, Qt.Key.Key_Escape)
    assert page.stack.currentWidget() is page.list
    assert page.list.parts.currentIndex().data().startswith("qasync")


async def test_a_damaged_list_is_said_with_what_to_do(
    qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path
) -> None:
    (tmp_path / "components.json").write_text("{", "utf-8")
    page = shown(qtbot, AboutViewModel(lambda: HERE, LicenceList(tmp_path), bridge), [])
    await until(lambda: "damaged" in page.list.problem.words)
    assert "Install Assent again" in page.list.problem.words
    assert "1.2.3" in words(page)


async def test_what_a_list_says_is_shown_as_it_is(qtbot: QtBot, theme: Theme, bridge: Bridge, tmp_path: Path) -> None:
    row = {"name": "<b>soup\u202e", "licence": "MIT", "used": ["MIT"], "texts": ["MIT"], "source": "<img src=x>"}
    (tmp_path / "components.json").write_text(json.dumps({"components": [row]}), "utf-8")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/MIT.txt").write_text("<h1>\u202ewords", "utf-8")
    page = shown(qtbot, AboutViewModel(lambda: HERE, LicenceList(tmp_path), bridge), [])
    await until(lambda: bool(parts(page)))
    open_part(page, "soup")
    await until(lambda: "words" in page.open.text.toPlainText())
    assert page.open.text.toPlainText() == "<h1>\\u{202e}words"
    assert page.open.title.text() == "<b>soup\\u{202e}"
    labels = [label for label in page.open.findChildren(QLabel) if label.text() == "<img src=x>"]
    assert [label.textFormat() for label in labels] == [Qt.TextFormat.PlainText]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Installation("wheel", "1", "/x", installer="uv-tool"), "Python package, installed by uv tool"),
        (lambda: Installation("wheel", "1", "/x"), "Python package"),
        (lambda: Installation("folder", "1", "/x"), "Self-contained folder"),
        (lambda: Installation("unknown", "1", "/x", trouble="it is damaged"), "Not known: it is damaged"),
    ],
)
def test_how_it_was_installed_is_said_in_words(made: Callable[[], Installation], said: str) -> None:
    assert kind_words(made()) == said

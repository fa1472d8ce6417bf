"""The window before anything is in it: its frame has the colours and places of what comes in its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.frame import make_frame
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.rail import RailButton
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin


@pytest.fixture
def set_back(theme: Theme) -> Iterator[None]:
    yield
    theme.set_choice("light")
    theme.set_scale(1.0)


def row(image: QImage, y: int) -> list[str]:
    return [image.pixelColor(x, y).name() for x in range(0, image.width(), 1)]


@pytest.mark.usefixtures("set_back")
@pytest.mark.parametrize("scale", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("choice", ["light", "dark"])
def test_no_colour_changes_when_the_rail_comes(choice: str, scale: float, theme: Theme, qtbot: QtBot) -> None:
    shell = ShellViewModel(lambda _key, _value: None)
    window = MainWindow({"box": [40, 40, 700, 700]}, make_frame(choice, scale, QApplication.palette()))
    qtbot.addWidget(window)
    window.show()
    spin()
    before = window.grab().toImage()
    theme.set_choice(choice)
    theme.set_scale(scale)
    window.furnish(theme, shell, {})
    spin()
    after = window.grab().toImage()
    free = window.rail.button("settings").geometry().top() - 4
    assert row(before, free) == row(after, free), "beside the items of the rail"
    assert len(set(row(before, free))) == 3
    assert theme.hex("rail").lower() in row(before, free)


def test_whether_the_system_is_dark_is_seen_from_its_palette(qtbot: QtBot, theme: Theme) -> None:
    shown = []
    for dark in (False, True):
        system = QPalette(QColor("#222222" if dark else "#eeeeee"))
        frame = make_frame("system", 1.0, system)
        qtbot.addWidget(frame)
        shown.append(frame.palette().window().color().lightness() < 128)
    assert shown == [False, True]


@pytest.mark.usefixtures("set_back")
def test_the_items_of_the_rail_stand_in_their_places_from_the_first_moment(theme: Theme, qtbot: QtBot) -> None:
    """At a text size at which the mark has no room in the height that a new widget has."""
    theme.set_scale(1.25)
    window = MainWindow({"box": [0, 0, 700, 780]})
    qtbot.addWidget(window)
    window.show()
    spin()
    window.furnish(theme, ShellViewModel(lambda _key, _value: None), {})
    rail = window.rail
    QApplication.processEvents()
    (mark,) = (label for label in rail.findChildren(QLabel) if label.pixmap() and not label.pixmap().isNull())
    assert mark.isVisible()
    first = rail.findChildren(RailButton)[0]
    assert mark.mapTo(rail, mark.rect().bottomLeft()).y() < first.y()


def test_a_window_that_is_closed_before_it_is_furnished_just_closes(qtbot: QtBot) -> None:
    window = MainWindow(None, make_frame("light", 1.0, QApplication.palette()))
    qtbot.addWidget(window)
    window.show()
    assert window.close()
    assert not window.isVisible()

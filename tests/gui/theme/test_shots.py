"""`dev.py shots` saves the pictures that are asked for, each without what the one before was made of."""

from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from shots import pages

from desktop.ui.theme import Theme


def test_pictures_are_saved_by_a_part_of_their_name_and_leave_no_window(
    theme: Theme, qapp: QApplication, tmp_path: Path
) -> None:
    before = qapp.topLevelWidgets()
    theme.set_choice("dark")
    assert pages.take(theme, tmp_path, ["chat-failed", "05-debate-empty", "02-network-"]) == 4
    sizes = {path.stem: QImage(str(path)).size().toTuple() for path in tmp_path.iterdir()}
    assert sizes == {
        "01-chat-failed-dark": (1280, 800),
        "02-network-200-dark": (1280, 800),
        "02-network-960-dark": (960, 600),
        "05-debate-empty-dark": (1280, 800),
    }
    assert {*qapp.topLevelWidgets()} <= {*before}
    assert pages.take(theme, tmp_path, ["no such page"]) == 0


def test_large_text_is_drawn_large(theme: Theme, tmp_path: Path) -> None:
    pages.take(theme, tmp_path, ["02-network"])
    assert QImage(str(tmp_path / "02-network-light.png")) != QImage(str(tmp_path / "02-network-200-light.png"))
    assert theme.scale == 2.0

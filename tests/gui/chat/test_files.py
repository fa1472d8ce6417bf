"""Qt's own file dialog, which stands in where the desktop has none: readable, and in our icons."""

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QLineEdit, QPushButton, QToolButton, QWidget

from desktop.ui.widgets.dialogs.files import BUTTONS, FileDialog
from tests.gui.shell.test_window import spin


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_its_columns_can_be_read_and_its_buttons_are_ours(qtbot, theme, mode):
    theme.set_choice(mode)
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    dialog = FileDialog(parent, "Export this chat")
    dialog.setViewMode(FileDialog.ViewMode.Detail)
    dialog.setDirectory("/")
    dialog.open()
    spin(100)
    header = dialog.findChild(QHeaderView)
    image = header.grab().toImage()
    shades = sorted(QColor(image.pixel(x, y)).lightness() for x in range(image.width()) for y in range(image.height()))
    assert shades[-1] - shades[0] > 80, "words and ground differ"
    ground = theme.color("raised").lightness()
    assert abs(shades[len(shades) // 2] - ground) < 12
    for name, (_, words) in BUTTONS.items():
        button = dialog.findChild(QToolButton, name)
        assert button.accessibleName() == words
    completions = dialog.findChild(QLineEdit).completer().popup()
    completions.resize(80, 80)
    assert QColor(completions.grab().toImage().pixel(40, 40)) == theme.color("raised")
    answers = [button for button in dialog.findChildren(QPushButton) if button.text()]
    assert len(answers) == 2
    assert all(button.icon().isNull() for button in answers)
    dialog.close()
    spin(50)


def test_it_begins_at_home_and_then_where_one_was_last(qtbot, theme, tmp_path, monkeypatch):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    monkeypatch.setenv("HOME", str(home))
    window = QWidget()
    qtbot.addWidget(window)
    part = QWidget(window)
    first = FileDialog(part, "Attach files or images")
    assert first.directory().absolutePath() == str(home)
    first.selectFile(str(other / "a.txt"))
    first.setDirectory(str(other))
    first.reject()
    assert FileDialog(part, "Attach files or images").directory().absolutePath() == str(home), "nothing was chosen"
    second = FileDialog(part, "Export this chat")
    second.setDirectory(str(other))
    second.done(FileDialog.DialogCode.Accepted)
    assert FileDialog(window, "Choose a folder").directory().absolutePath() == str(other)
    other.rmdir()
    assert FileDialog(window, "Choose a folder").directory().absolutePath() == str(home), "it is gone"

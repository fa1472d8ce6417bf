"""The typefaces that the app brings along are added once."""

from pathlib import Path

from PySide6.QtGui import QFontDatabase

from desktop.app.home.folder import open_home
from desktop.app.lifecycle import wiring
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.theme import Theme
from desktop.ui.theme.fonts import FILES
from desktop.ui.theme.resources import FONTS


def test_a_further_window_does_not_add_them_again(theme: Theme, tmp_path: Path) -> None:
    """Each time Qt would read every font anew that is in use."""
    file, home = str(FONTS / FILES[0]), open_home(tmp_path / "home")
    before = QFontDatabase.addApplicationFont(file)
    window = wiring.make_window(home)
    assert isinstance(window, MainWindow)
    for _ in wiring.furnish(window):
        pass
    assert QFontDatabase.addApplicationFont(file) == before + 1
    window.close_for_good()
    window.deleteLater()
    home.release()

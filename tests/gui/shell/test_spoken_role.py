"""What assistive technology is told of the rail, in a process of its own: Qt asks for a role only the first time."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ASKED_AT_ONCE = """
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget

app = QApplication([])
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.theme import Theme

QAccessible.setActive(True)
shell = ShellViewModel(lambda key, value: None)
window = MainWindow(shell.window_state())
window.furnish(Theme.install(app), shell, {page: QWidget for page in ("chats", "skills")})
for page in ("chats", "skills"):
    made = QAccessible.queryAccessibleInterface(window.rail.button(page))
    print(made.role().name, bool(made.state().selected), bool(made.state().checkable))
"""


def test_the_page_that_shows_at_the_start_is_a_tab_for_who_listens_from_the_start() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED_AT_ONCE], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["PageTab True False", "PageTab False False"], done.stderr

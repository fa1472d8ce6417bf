"""What assistive technology is told of the rail, in a process of its own: Qt asks a class for its role only once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ASKED_EARLY = """
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QMainWindow

app = QApplication([])
from desktop.ui.shell.rail import Rail
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls import spoken_role

Theme.install(app)
window = QMainWindow()
rail = Rail()
window.setCentralWidget(rail)
QAccessible.setActive(True)
rail.set_page("chats")
told = [QAccessible.queryAccessibleInterface(rail.button("chats")).role()]
spoken_role.install()
for page in ("chats", "skills"):
    made = QAccessible.queryAccessibleInterface(rail.button(page))
    told.append((made.role(), bool(made.state().selected), bool(made.state().checkable)))
print(*told, sep="\\n")
"""


def test_the_page_that_was_asked_about_before_the_first_paint_is_a_tab_from_then_on() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED_EARLY], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "Role.CheckBox",
        "(<Role.PageTab: 37>, True, False)",
        "(<Role.PageTab: 37>, False, False)",
    ], done.stderr

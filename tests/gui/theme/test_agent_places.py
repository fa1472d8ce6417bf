"""Every place in which an agent is named draws its icon (D-9): the table of the places, and each of them looked at."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QListView, QWidget
from pytestqt.qtbot import QtBot
from shots import chat as chat_shots
from shots import run_panel as run_shots

from desktop.domain.runs.tree import NodeState
from desktop.domain.threads import ThreadRecord
from desktop.presenter.chat.threads import arrange
from desktop.presenter.shell.window import PaletteRow
from desktop.ui.approvals.request.head import Crumbs
from desktop.ui.chat.composer.pickers import AgentPicker
from desktop.ui.debates.agent_choice import AgentChoice
from desktop.ui.run_panel.panel import RunPanel
from desktop.ui.shell.palette_list import PaletteDelegate, PaletteModel
from desktop.ui.theme import Theme
from desktop.ui.theme.agent_looks import AgentLook, agent_icon
from desktop.ui.widgets.controls.agent_combo import AgentCombo

pytestmark = pytest.mark.spec("D-9")

ROOT = Path(__file__).resolve().parents[3]
RED = QColor("#ff00fe")
NAMES = ("owl_agent", "Owl", "assistant", "Workbench")
"""As the samples call theirs."""


def looks() -> dict[str, AgentLook]:
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    image.fill(RED)
    return {name: AgentLook("O", image=image) for name in NAMES}


def red(widget: QWidget) -> int:
    """How many pixels of the agents' picture it shows."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return bytes(image.constBits()).count(RED.rgb().to_bytes(4, "little"))


# -- the places: each gives (what is held alive, what is looked at) ----------------------------------------------------


def page(name: str = "01-chat") -> Any:
    made: Any = chat_shots.pictures()[name]()
    made.resize(1280, 700)
    made.show()
    return made


def message() -> tuple[QWidget, QWidget]:
    made = page()
    return made, made.pane.transcript


def composer() -> tuple[QWidget, QWidget]:
    made = page()
    return made, made.pane.foot.composer.agent


def thread_row() -> tuple[QWidget, QWidget]:
    made = page("01-chat-empty")
    now = time.time()
    made._models.threads.model().show(arrange([ThreadRecord("t", "A thread", now, now, agent="owl_agent")]))
    made._models.threads.rearranged.emit()
    return made, made.threads


def trace_row() -> tuple[QWidget, QWidget]:
    made = page("10-trace")
    return made, made.trace.rows


def run_row() -> tuple[QWidget, QWidget]:
    model, _ = run_shots.sample([run_shots.node("0", "Owl", NodeState.WORKING)])
    panel = RunPanel(model)
    model.setParent(panel)
    panel.resize(384, 600)
    panel.show()
    return panel, panel.rows


def crumbs() -> tuple[QWidget, QWidget]:
    made = Crumbs(("Owl", "bash"))
    made.resize(300, 24)
    return made, made


def picker() -> tuple[QWidget, QWidget]:
    above = QWidget()
    above.resize(600, 400)
    made = AgentPicker(above, [("owl_agent", "Owl")], "owl_agent", "")
    made.adjustSize()
    return above, made.rows


def choice() -> tuple[QWidget, QWidget]:
    agents = [SimpleNamespace(name="owl_agent", title="Owl", hint="")]
    setup: Any = SimpleNamespace(definitions=agents, setup=SimpleNamespace(agent="owl_agent"))
    made = AgentChoice(setup)
    made.show()
    return made, made


def combo() -> tuple[QWidget, QWidget]:
    made = AgentCombo("Agent")
    made.fill([("Any", ""), ("Owl", "owl_agent")], "owl_agent")
    made.show()
    return made, made


def palette_row() -> tuple[QWidget, QWidget]:
    model, view = PaletteModel(), QListView()
    model.setParent(view)
    model.show([PaletteRow("x", "Start a debate: Owl", "owl_agent", "Agents", agent_icon("owl_agent", "debates"))])
    view.setModel(model)
    delegate = PaletteDelegate()
    delegate.setParent(view)
    view.setItemDelegate(delegate)
    view.resize(400, 200)
    view.show()
    return view, view.viewport()


PLACES: dict[str, Callable[[], tuple[QWidget, QWidget]]] = {
    "desktop/ui/transcript/message_frame.py": message,
    "desktop/ui/chat/composer/view.py": composer,
    "desktop/ui/chat/threads/delegate.py": thread_row,
    "desktop/ui/chat/composer/pickers.py": picker,
    "desktop/ui/trace/tree_rows.py": trace_row,
    "desktop/ui/run_panel/rows.py": run_row,
    "desktop/ui/approvals/request/head.py": crumbs,
    "desktop/ui/debates/agent_choice.py": choice,
    "desktop/ui/widgets/controls/agent_combo.py": combo,
    "desktop/app/wiring/view_models.py": palette_row,
}
ELSEWHERE = {"desktop/ui/settings/agents/page.py": "tests/gui/settings/test_agents_page.py"}
"""Looked at where its page is made of real files."""


@pytest.mark.spec("R-DEF-10")
@pytest.mark.parametrize("place", PLACES)
def test_each_place_draws_the_picture_of_the_agent_and_follows_a_change(place: str, theme: Theme, qtbot: QtBot) -> None:
    theme.set_agent_looks(looks())
    held, looked_at = PLACES[place]()
    qtbot.addWidget(held)
    assert red(looked_at) >= 60, "about 8 x 8 pixels at least"
    theme.set_agent_looks({})
    assert red(looked_at) == 0
    theme.set_agent_looks(looks())
    assert red(looked_at) >= 60
    theme.set_agent_looks({})


def test_no_place_is_missing_in_the_table() -> None:
    own = {"desktop/ui/theme/agent_looks.py"}
    files = [path for room in ("ui", "app", "presenter") for path in (ROOT / "desktop" / room).rglob("*.py")]
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}
    drawing = {name for name, text in texts.items() if re.search(r"\bagent_icon\(", text)} - own
    assert drawing == PLACES.keys() | ELSEWHERE.keys()
    assert all("agent_icon(" in (ROOT / test).read_text("utf-8") for test in ELSEWHERE.values())
    plain = [name for name, text in texts.items() if re.search(r"\bCombo\(\"Agent\"", text)]
    assert plain == [], "a choice of agents is an AgentCombo"

"""The panel shows what its view-model has, also where two results say the same."""

from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.domain.files.results import ResultFile
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.results.cards import ResultCards
from desktop.presenter.results.viewer import ResultViewModel, ShownResult
from desktop.ui.results.panel import ResultPanel
from desktop.ui.theme import Theme
from tests.harness.timeouts import WAIT_S

pytestmark = pytest.mark.spec("R-DOC-2")


class Nothing:
    """No result is kept."""

    async def of_thread(self, _thread_id: str) -> list[ResultFile]:
        return []


def waits_for(qtbot: QtBot, true: Callable[[], Any]) -> None:
    qtbot.waitUntil(true, timeout=int(WAIT_S * 1000))


async def test_changes_of_another_result_are_shown_also_where_both_say_the_same_now(qtbot: QtBot, theme: Theme) -> None:
    bridge = Bridge()
    cards = ResultCards(Nothing(), lambda _: None, bridge)  # type: ignore[arg-type]
    result = ResultViewModel(Nothing(), cards, bridge)  # type: ignore[arg-type]
    panel = ResultPanel(result)
    qtbot.addWidget(panel)
    panel.show()

    def show(key: str, before: str) -> None:
        result.shown = ShownResult(key, key, "code", (), 2, "changes", text="level: 4\n", before=before)
        result.changed.emit()

    show("a.yaml", "level: 4\n")
    waits_for(qtbot, panel.problem.isVisible)
    show("b.yaml", "level: 3\n")
    waits_for(qtbot, panel.lines.isVisible)
    assert [(row.kind, row.text) for row in panel.lines.rows if row.kind in ("add", "del")] == [
        ("del", "level: 3"),
        ("add", "level: 4"),
    ]
    await bridge.shutdown()

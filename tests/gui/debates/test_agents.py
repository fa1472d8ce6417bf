"""The agents of a debate beside its turns: the Run panel of the chats, of the run that is open here."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from shots import debates as shots

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.run_panel.words import word_of
from desktop.ui.chat.side import AGENTS
from tests.gui.debates.kit import watched
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.services.debates.kit import setup


def rows(w: Any) -> list[tuple[str, str, str]]:
    return [(line.facts.agent, line.facts.side, word_of(line)) for line in w.page.side.agents.model.lines]


def press(w: Any, path: str, key: Qt.Key) -> None:
    panel = w.page.side.agents
    panel.rows.select(path)
    panel.rows.setFocus()
    QTest.keyClick(panel.rows, key)


@pytest.mark.spec("R-SUP-6", "R-SUP-8", "R-CAN-10", "R-SES-22")
async def test_its_sides_are_seen_paused_bounded_and_cancelled_in_the_panel_beside_it(
    theme: Any, tmp_path: Path
) -> None:
    client = Script(speaks("one"), [Hang()])
    async with watched(tmp_path, client) as w:
        thread = await w.world.debates.create(setup(b={"model": "other/second"}))
        await w.open(thread)
        w.running.header.agents.click()
        panel = w.page.side.agents
        assert (panel.isVisible(), w.running.header.agents.isChecked(), panel.head.tabs) == (True, True, None)
        assert w.running.width() + panel.width() <= w.page.width()
        w.running.footer.resume.click()
        await w.until(lambda: len(rows(w)) == 3 and rows(w)[2][2] == "thinking", "both sides")
        assert rows(w) == [("debate", "", "waiting for Con"), ("Pro", "a", "waiting for Con"), ("Con", "b", "thinking")]
        panel.rows.select("0.2")
        said = panel.model.data(panel.rows.currentIndex(), Qt.ItemDataRole.AccessibleTextRole)
        assert said.startswith("Con, Side B, thinking, second, ")
        press(w, "0.1", Qt.Key.Key_Space)
        (tree,) = w.world.live._trees.values()
        assert (tree.find("0.1").paused, tree.find("0.2").paused) == (True, False)
        assert w.state.status == "running", "Space in the panel is about an agent, not about the debate"
        panel.budget.fields["max_rounds"].setFocus()
        QTest.keyClicks(panel.budget.fields["max_rounds"], "4")
        QTest.keyClick(panel.budget.fields["max_rounds"], Qt.Key.Key_Return)
        assert tree.find("0.1").budget.budget.max_rounds == 4
        press(w, "0.2", Qt.Key.Key_Delete)
        await w.status("ended")
        await w.until(lambda: panel.head.count.text() == "the run is over", "the end in the panel")
        assert rows(w)[2][2] == "cancelled"
        assert client.cancelled == 1


@pytest.mark.spec("R-SUP-8", "R-CAN-10")
async def test_the_judge_is_in_the_panel_below_the_debate_and_is_cancelled_there(theme: Any, tmp_path: Path) -> None:
    client = Script(speaks("one"), speaks("two"), [Hang()])
    async with watched(tmp_path, client) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        w.page.toggle_agents()
        w.debates.judge("test/judge")
        await w.until(lambda: rows(w) and rows(w)[-1] == ("judge", "", "thinking"), "the judge")
        await w.until(lambda: len(rows(w)) == 4, "with the sides, read from what is kept")
        assert [name for name, _, _ in rows(w)] == ["debate", "Pro", "Con", "judge"]
        judge = w.page.side.agents.model.lines[-1]
        assert (judge.level, w.page.side.agents.head.count.text()) == (1, "1 agent at work")
        press(w, judge.path, Qt.Key.Key_Delete)
        await w.until(lambda: rows(w)[-1][2] == "cancelled", "its end")
        await w.until(lambda: any("judge was stopped before it was done" in said for said in w.said), "the reason")


async def test_it_stands_beside_an_open_debate_only_and_what_it_leads_to_is_elsewhere(
    theme: Any, tmp_path: Path
) -> None:
    async with watched(tmp_path, Script(speaks("one"))) as w:
        told: list[Any] = []
        w.page.agents_shown.connect(told.append)
        w.page.toggle_agents()
        assert w.page.side.shown == ""
        thread = await w.world.debates.create(setup())
        await w.open(thread)
        w.page.toggle_agents()
        w.page.new_debate()
        assert w.page.side.shown == ""
        await w.open(thread)
        assert (w.page.side.shown, told) == (AGENTS, [True])
        led: list[tuple[str, str]] = []
        w.page.request_wanted.connect(lambda request_id: led.append(("here", request_id)))
        w.page.inbox_wanted.connect(lambda request_id: led.append(("inbox", request_id)))
        w.page.thread_wanted.connect(lambda thread_id: led.append(("thread", thread_id)))
        for request_id, at in (("r1", thread), ("r2", "a called agent's")):
            w.page.side.agents.request_wanted.emit(request(request_id, at))
        w.page.side.agents.thread_wanted.emit("log")
        assert led == [("here", "r1"), ("inbox", "r2"), ("thread", "log")]
        w.page.side.agents.head.close_button.click()
        assert (w.page.side.shown, told) == ("", [True, False])
        assert not w.running.header.agents.isChecked()


def request(request_id: str, thread_id: str) -> PermissionRequest:
    return PermissionRequest(
        request_id, "run", thread_id, "c", "bash", "", Category.WRITE, "", (), {}, (), (), {}, "d", 0.0
    )


@pytest.mark.parametrize(("width", "height", "scale"), [(1216, 800, 1.0), (900, 600, 1.0), (1216, 800, 2.0)])
def test_it_never_covers_what_steers_the_debate(qtbot: Any, theme: Any, width: int, height: int, scale: float) -> None:
    theme.set_scale(scale)
    page = shots.page()
    qtbot.addWidget(page)
    page.open("d1")
    page.resize(width, height)
    page.show()
    page.toggle_agents()
    panel, footer = page.side.agents, page.running.footer
    assert panel is not None
    assert panel.geometry().right() == width - 1
    if page.side.is_over:
        assert panel.geometry().bottom() < footer.mapTo(page, footer.rect().topLeft()).y()
        QTest.keyClick(page.running.view, Qt.Key.Key_Escape)
        assert page.side.shown == ""
    else:
        assert page.running.width() >= 700


async def test_after_a_restart_the_last_run_of_a_debate_shows_as_it_ended(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, Script(speaks("one"), speaks("two"))) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        before = {facts.path: facts for facts in w.agents._trees[w.agents._run_of[thread]]._nodes.values()}
    async with watched(tmp_path, Script()) as again:
        await again.open(thread)
        assert again.agents.tree is None, "nobody looks yet"
        again.page.toggle_agents()
        await again.until(lambda: again.agents.tree is not None, "what is kept")
        assert {line.path: line.facts for line in again.agents.lines()} == before
        assert again.page.side.agents.head.count.text() == "the run is over"
        assert not again.agents.live

"""Repositories on the Skills page, as a person uses them: keys and buttons on real git repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from tests.gui.skills.kit import SkillsBench, skill
from tests.harness.timeouts import until
from tests.unit.services.skills.repositories.kit import Repository
from tests.unit.services.skills.repositories.kit import skill as their_skill

FILES = {
    "drift/SKILL.md": their_skill("drift-check", tools="read-file"),
    "plot/SKILL.md": their_skill("gauge-plot", "Plots gauges."),
    "clean/SKILL.md": their_skill("csv-clean", "Cleans."),
    "mail/SKILL.md": "---\nname: surge-mail\n---\nx\n",
    ".mcp.json": '{"mcpServers": {"ship-tracks": {"command": "uvx", "args": ["ship-tracks"]}}}',
}
UP, DOWN, SPACE, ESC = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Escape


def words(widget: QWidget) -> str:
    """Everything that is written in a widget and seen."""
    return "\n".join(w.text() for w in widget.findChildren(QWidget) if w.isVisible() and hasattr(w, "text"))


@pytest.fixture
def gauges(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "remote" / "gauge-skills")
    made.commit(FILES)
    return made


class Opened:
    """The page with one repository added by its dialog."""

    def __init__(self, window: Any, bench: SkillsBench) -> None:
        self.window, self.bench = window, bench
        self.sides = window.page.repository
        self.list, self.item = self.sides.list, self.sides.item
        self.rows = self.list.rows

    async def rest(self) -> None:
        await self.bench.rest()

    def names(self) -> list[str]:
        return [item.name for item in self.rows.items.lines]

    def go_to(self, name: str) -> None:
        self.rows.setCurrentIndex(self.rows.items.index(self.names().index(name)))

    async def press(self, button: QWidget) -> None:
        assert button.isVisible()
        assert button.isEnabled()
        button.click()  # type: ignore[attr-defined]
        await self.rest()


async def opened(open_page: Any, bench: SkillsBench, gauges: Repository) -> Opened:
    window = await open_page(bench)
    window.facets.repositories.add.click()
    dialog = window.dialog
    dialog.field.setText("/shared/skills.lock")
    assert dialog.buttons["yes"].label == "Take what it names"
    dialog.field.clear()
    QTest.keyClicks(dialog.field, str(gauges.path))
    assert dialog.buttons["yes"].label == "Add and look"
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    await until(lambda: window.page.work.currentWidget() is window.page.repository, "the repository")
    await bench.rest()
    assert window.dialog is None
    return Opened(window, bench)


async def test_a_repository_is_added_looked_at_ticked_with_space_and_taken(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    bench.put("csv-clean", skill("csv-clean"))
    page = await opened(open_page, bench, gauges)
    assert page.names() == ["csv-clean", "drift-check", "gauge-plot", "ship-tracks", "surge-mail"]
    assert "5 in it, 0 taken" in words(page.list)
    assert not page.list.act.isVisible()
    page.go_to("surge-mail")
    QTest.keyClick(page.rows, SPACE)
    assert not page.list.act.isVisible(), "what has a problem cannot be ticked"
    page.go_to("csv-clean")
    await page.rest()
    assert "Would stand behind your own csv-clean" in words(page.item)
    await page.press(page.list.all)
    assert page.list.act.label == "Take 2", "neither a name that is taken, nor a server, nor a problem"
    page.go_to("drift-check")
    QTest.keyClick(page.rows, SPACE)
    assert page.list.act.label == "Take gauge-plot"
    await page.press(page.list.act)
    assert bench.said[-1][0] == "gauge-plot taken"
    assert "gauge-plot" in bench.names
    assert page.window.facets.repositories.rows["gauge-skills"].accessibleName() == "gauge-skills, 1"


async def test_more_reach_is_said_first_and_escape_keeps_what_there_is(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    page.go_to("drift-check")
    await page.rest()
    await page.press(page.item.take)
    gauges.commit({"drift/SKILL.md": their_skill("drift-check", tools="read-file bash")})
    await page.press(page.list.look)
    await until(lambda: not bench.repositories.busy, "the look")
    await page.rest()
    assert page.window.facets.repositories.rows["gauge-skills"].accessibleName() == "gauge-skills, 1 changed"
    shown = words(page.item)
    assert "It wants to reach more than what you took." in shown
    assert "+ bash" in shown
    assert page.item.take.label == "Take it, with its new reach"
    assert not page.list.act.isVisible(), "no button takes it in passing"
    had = (bench.shelf.place("gauge-skills") / "drift-check" / "SKILL.md").read_text()
    QTest.keyClick(page.item, ESC)
    await page.rest()
    assert bench.repositories.view is not None
    assert bench.repositories.view.changed == 0
    assert (bench.shelf.place("gauge-skills") / "drift-check" / "SKILL.md").read_text() == had
    await page.press(page.item.take)
    assert "bash" in (bench.shelf.place("gauge-skills") / "drift-check" / "SKILL.md").read_text()
    page.window.page.toast.undone.emit(bench.said[-1][1])
    await page.rest()
    assert (bench.shelf.place("gauge-skills") / "drift-check" / "SKILL.md").read_text() == had


async def test_other_words_alone_are_taken_by_one_button(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    await page.press(page.list.all)
    await page.press(page.list.act)
    gauges.commit({"plot/SKILL.md": FILES["plot/SKILL.md"].replace("well", "better")})
    await page.press(page.list.look)
    await until(lambda: not bench.repositories.busy, "the look")
    await page.rest()
    assert page.list.act.label == "Take gauge-plot, text only"
    await page.press(page.list.act)
    assert "better" in (bench.shelf.place("gauge-skills") / "gauge-plot" / "SKILL.md").read_text()


async def test_the_last_change_is_put_back_at_any_time_and_the_keys_stay_where_the_person_is(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    assert not page.list.back.isVisible(), "nothing was taken"
    page.go_to("drift-check")
    await page.rest()
    page.item.take.setFocus()
    await page.press(page.item.take)
    assert "drift-check" in bench.names
    assert page.window.page.window().focusWidget() in (page.list.rows, page.item.leave), "not at whatever came next"
    page.window.page.toast.dismiss()
    await page.press(page.list.back)
    assert "drift-check" not in bench.names
    assert page.list.back.isVisible(), "once more brings it back"
    await page.press(page.list.back)
    assert "drift-check" in bench.names


async def test_an_address_that_is_refused_stays_in_the_dialog_with_the_reason(
    open_page: Any, bench: SkillsBench
) -> None:
    window = await open_page(bench)
    window.page.add_repository()
    dialog = window.dialog
    QTest.keyClicks(dialog.field, "https://ida:secret@git.harbour.example/x")
    dialog.buttons["yes"].click()
    await until(dialog.wrong.isVisible, "the reason")
    assert "password" in dialog.wrong.words
    assert "secret" not in dialog.wrong.words
    QTest.keyClick(dialog, ESC)
    await bench.rest()
    assert window.dialog is None
    assert bench.repositories.views == ()


async def test_removing_asks_says_what_goes_and_goes_back_to_the_list(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    page.go_to("ship-tracks")
    await page.rest()
    assert "switched off" in words(page.item)
    await page.press(page.item.take)
    page.go_to("gauge-plot")
    await page.rest()
    await page.press(page.item.take)
    page.list.remove.click()
    said = words(page.window.dialog)
    assert "1 skill" in said
    assert "mcp.yaml keeps ship-tracks" in said
    QTest.keyClick(page.window.dialog, ESC)
    await page.rest()
    assert bench.repositories.views, "the safe answer keeps it"
    page.list.remove.click()
    page.window.dialog.buttons["yes"].click()
    await page.rest()
    assert page.window.page.work.currentWidget() is page.window.page.sides
    assert "gauge-plot" not in bench.names
    assert not page.window.facets.repositories.rows


async def test_a_look_that_fails_says_why_and_what_was_known_stays(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    (gauges.path / ".git" / "HEAD").write_text("ref: refs/heads/nowhere\n")
    await page.press(page.list.look)
    await until(lambda: not bench.repositories.busy, "the look")
    await page.rest()
    assert page.list.wrong.isVisible()
    assert "no commit yet" in page.list.wrong.words
    assert len(page.names()) == 5


async def test_a_filter_on_the_left_goes_back_to_the_list_of_skills(
    open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    row = page.window.facets.repositories.rows["gauge-skills"]
    assert row.isChecked()
    page.window.facets._rows["source", "mine"].click()
    assert page.window.page.work.currentWidget() is page.window.page.sides
    assert not row.isChecked()
    row.click()
    await page.rest()
    assert page.window.page.work.currentWidget() is page.sides


@pytest.mark.parametrize(("width", "narrow"), [(896, True), (1376, False)])
async def test_in_a_narrow_window_one_thing_lies_over_the_list(
    width: int, narrow: bool, open_page: Any, bench: SkillsBench, gauges: Repository
) -> None:
    page = await opened(open_page, bench, gauges)
    page.window.page.resize(width, 700)
    await until(lambda: page.sides.narrow is narrow, "the width")
    assert page.item.isVisible() is not narrow
    page.go_to("gauge-plot")
    page.rows.setFocus()
    QTest.keyClick(page.rows, Qt.Key.Key_Return)
    await page.rest()
    assert page.item.isVisible()
    assert page.item.leave.isVisible() is narrow
    QTest.keyClick(page.item, ESC)
    assert page.item.isVisible() is not narrow


async def test_what_is_hidden_in_names_and_texts_is_seen_and_nothing_becomes_markup(
    open_page: Any, bench: SkillsBench, tmp_path: Path
) -> None:
    made = Repository(tmp_path / "remote" / "odd")
    made.commit({"tide/SKILL.md": '---\nname: tide\ndescription: "<b>bold</b> \\u202Eturned"\n---\nx\n'})
    page = await opened(open_page, bench, made)
    index = page.rows.items.index(0)
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "\u202e" not in spoken
    assert "<b>bold</b>" in spoken

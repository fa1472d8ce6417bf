"""Writing a rule: checked at each key, tried on calls and tricks, saved only after a look at what gets through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.domain.approval.rules import RuleDraft, SimulatedCall
from desktop.services.rules.text import problem_of
from desktop.ui.approvals.rules.panel import problem_words, suggestion_pieces
from desktop.ui.approvals.rules.text import marked_line, reason_pieces
from desktop.ui.approvals.rules.trial import CallRow, TrialSection
from desktop.ui.theme import Theme
from tests.gui.approvals.rules_kit import Room, press, words
from tests.harness.timeouts import until
from tests.harness.windows import activated

Key = Qt.Key
WIDE = "bash(command=git *)"
NARROW = "bash(command=git status)"


@pytest.fixture
async def room(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Room]:
    made = await Room(tmp_path).open()
    qtbot.addWidget(made.page)
    made.page.resize(1216, 800)
    await activated(made.page)
    yield made
    await made.end()


@pytest.mark.spec("R-PAT-14", "R-PRM-11")
async def test_a_mistake_is_named_while_it_is_typed_and_cannot_be_saved(room: Room) -> None:
    room.page.show_rules(new=True)
    assert not room.foot.save.isEnabled()
    assert "For example" in words(room.tab.panel)
    QTest.keyClicks(room.field, "bash(command=ls")
    assert room.field.wrong
    assert "never closed" in words(room.tab.panel.form.label)
    assert not room.foot.save.isEnabled()
    QTest.keyClicks(room.field, ")")
    assert not room.field.wrong
    await room.tried()
    assert room.foot.save.isEnabled()
    room.field.setText("")
    room.field.textEdited.emit("#network")
    assert "names its tool" in words(room.tab.panel.form.label)
    press(room.field, Key.Key_Return)
    assert room.field.selectedText() == "#network"


async def test_three_counts_say_what_would_change(room: Room) -> None:
    room.called("git status", times=3)
    room.called("ls")
    await room.book.flush()
    await room.write(WIDE)
    trial = room.tab.panel.form.trial
    assert trial.first.accessibleName() == "3 would stop asking"
    assert trial.figure.text().startswith("4 recorded calls, ")
    assert trial.through.count == room.editor.through > 0
    assert trial.held.count == room.editor.simulation.held_count > 0
    for name in ("through", "held", "passing"):
        assert trial.section(name).rows, name
    await until(lambda: "These would run without asking" in words(trial), "the tricks")
    assert "Still stopped" in words(trial)


@pytest.mark.spec("R-PRM-11")
async def test_a_rule_that_tricks_get_through_is_saved_only_after_the_number_was_shown(room: Room) -> None:
    await room.write(WIDE)
    number = room.editor.through
    assert room.foot.save.label == "Save anyway…"
    room.foot.save.click()
    assert f"{number:,} tricks get through" in words(room.dialog)
    assert room.page.window().focusWidget() is room.dialog.buttons["no"], "the safe answer has the keys"
    press(room.page.window().focusWidget(), Key.Key_Escape)
    await room.rest()
    assert room.mine == {}
    assert room.editor.draft.pattern == WIDE
    room.foot.save.click()
    room.dialog.buttons["save"].click()
    await until(lambda: room.mine == {WIDE: "allow"}, "saved")
    await until(lambda: room.tab.toast.text == f"Saved: {WIDE}", "it says so")
    assert room.tab.current.pattern == WIDE
    assert not room.tab.panel.isVisible()


async def test_a_harmless_rule_is_saved_by_return_and_a_risky_one_is_not(room: Room) -> None:
    await room.write(WIDE)
    press(room.field, Key.Key_Return)
    await room.rest()
    assert (room.mine, room.dialog) == ({}, None)
    room.field.selectAll()
    QTest.keyClicks(room.field, "write-file(path=docs/notes.md)")
    await room.tried()
    assert room.editor.through == 0
    assert room.foot.save.label == "Save"
    press(room.field, Key.Key_Return)
    await until(lambda: room.mine == {"write-file(path=docs/notes.md)": "allow"}, "saved")


async def test_what_was_typed_since_the_trial_can_not_be_saved_until_it_was_tried_too(room: Room) -> None:
    await room.write(NARROW)
    assert room.foot.save.isEnabled()
    room.service.gate.clear()
    QTest.keyClicks(room.field, "x")
    room.field.setText("bash(command=git *)")
    room.field.textEdited.emit("bash(command=git *)")
    assert not room.foot.save.isEnabled()
    room.foot._save()
    room.tab.panel._entered()
    room.editor.save()
    assert room.mine == {}
    assert room.tab.panel.form.trial.busy.isVisible()
    room.service.gate.set()
    await room.tried()
    assert room.foot.save.label == "Save anyway…"


async def test_each_key_ends_the_trial_before_and_only_the_last_one_counts(room: Room) -> None:
    room.service.gate.clear()
    room.page.show_rules(new=True)
    for pattern in ("bash(command=a)", "bash(command=ab)"):
        room.field.setText(pattern)
        room.field.textEdited.emit(pattern)
        await until(lambda pattern=pattern: pattern in room.service.tried, "begun")
    for letter in "cdefgh":
        room.field.textEdited.emit(f"bash(command={letter})")
    room.service.gate.set()
    await room.tried()
    assert room.service.ended == ["bash(command=h)"]
    assert room.service.tried == ["bash(command=a)", "bash(command=ab)", "bash(command=h)"]


async def test_a_suggestion_lets_no_trick_through_and_is_taken_over_with_one_press(room: Room) -> None:
    for command in ("ls", "ls -la", "ls --all"):
        room.called(command)
    await room.book.flush()
    await room.write("bash(command=ls*)")
    found = room.editor.simulation
    if not found.suggestion:
        pytest.fail(f"no suggestion for {found.through_count} tricks and {found.passing_count} calls")
    assert room.foot.use.isVisible()
    assert "and no known trick" in words(room.foot)
    room.foot.use.click()
    assert room.field.text() == found.suggestion
    await room.tried()
    assert room.editor.through == 0
    assert room.foot.save.label == "Save"


async def test_of_programs_without_a_table_the_page_says_that_their_options_are_not_known(room: Room) -> None:
    """A rule for one of them lets all its options pass; for a known program only those that stand in the rule."""
    room.page.show_rules(new=True)
    QTest.keyClicks(room.field, "bash(command=frobnicate *)")
    await room.tried()
    assert "does not know the options of frobnicate" in words(room.tab.panel)
    room.field.setText("bash(command=git log *)")
    room.field.textEdited.emit(room.field.text())
    await room.tried()
    assert "does not know the options" not in words(room.tab.panel)


async def test_other_rules_in_force_have_the_draft_tried_again(room: Room) -> None:
    await room.write(NARROW)
    before = len(room.service.ended)
    await room.keep("bash(command=ls*)", decision="deny")
    await until(lambda: len(room.service.ended) > before, "tried again")
    await room.keep(NARROW)
    await until(lambda: room.editor.problem is not None, "there is one already")
    assert not room.foot.save.isEnabled()


@pytest.mark.spec("R-PRM-12")
async def test_editing_puts_another_rule_in_the_place_of_the_old_one(room: Room) -> None:
    await room.keep("bash(command=git push*)", "bash(command=ls*)")
    room.page.show_rules()
    room.current("bash(command=git push*)")
    room.tab.act("edit")
    room.tab.panel.form.decision._group.button(2).click()
    await room.tried()
    assert room.editor.draft.decision == "deny"
    room.foot.save.click()
    await until(lambda: room.mine.get("bash(command=git push*)") == "deny", "changed")
    assert len(room.mine) == 2


async def test_a_rule_for_this_thread_only_is_saved_for_it(room: Room) -> None:
    await room.write(NARROW)
    scope = room.tab.panel.form.scope
    assert [scope.itemText(at) for at in range(scope.count())] == ["all chats", "only “Title of t1”"]
    scope.setCurrentIndex(1)
    await room.tried()
    room.foot.save.click()
    await until(lambda: room.mine, "saved")
    (rule,) = [rule for rule in room.service.rules() if rule.editable]
    assert rule.thread_id == "t1"


async def test_discard_asks_only_when_something_typed_would_be_lost(room: Room) -> None:
    room.page.show_rules(new=True)
    room.foot.drop.click()
    assert (room.dialog, room.editor.draft) == (None, None)
    await room.write(NARROW)
    for leave in (room.foot.drop.click, room.tab.panel.close_button.click, room.tab.new):
        leave()
        assert "Discard this rule?" in words(room.dialog)
        room.dialog.answer("keep")
        assert room.editor.draft.pattern == NARROW
    room.foot.drop.click()
    room.dialog.answer("discard")
    assert room.editor.draft is None


async def test_revoking_the_rule_that_is_being_changed_asks_before_the_text_is_lost(room: Room) -> None:
    await room.keep("bash(command=ls*)")
    room.page.show_rules()
    room.current("bash(command=ls*)")
    room.tab.act("edit")
    QTest.keyClick(room.field, Key.Key_Backspace)
    room.tab.act("revoke")
    assert room.mine
    room.dialog.answer("discard")
    await until(lambda: not room.mine, "revoked")


async def test_what_cannot_be_saved_says_why_and_keeps_the_text(room: Room) -> None:
    await room.write(NARROW)
    room.service.door.clear()
    room.foot.save.click()
    assert not room.field.isEnabled()
    assert not room.foot.save.isEnabled()
    await room.service._service.save(RuleDraft(NARROW))
    room.service.door.set()
    await until(lambda: "such a rule already" in room.tab.toast.text, "why")
    assert room.editor.draft.pattern == NARROW
    assert room.field.isEnabled()


# -- what is not trusted ----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-15")
async def test_a_tricks_text_is_plain_and_visible_and_its_mark_is_always_in_sight(room: Room) -> None:
    text = "git diff " + "x" * 500 + " \u202e; rm -rf ~ <b>\x1b[2J" + "y" * 500
    start = text.index("; rm -rf ~")
    row = CallRow(SimulatedCall("bash", text, "asks", "passes", "runs `sh`", ((start, 10),)), loud=True)
    assert row.marked == ("; rm -rf ~",)
    assert row.line.startswith("…x")
    assert "\\u{202e}; rm -rf ~ <b>\\e[2Jyyy" in row.line
    assert row.line.endswith("…")
    assert len(row.line) < 200
    assert "&lt;b&gt;" in row.toolTip()
    row.resize(200, 100)
    row.grab()
    row.deleteLater()
    await asyncio.sleep(0.01)


def test_marks_stay_on_their_words_when_characters_before_them_are_written_out() -> None:
    line, ranges = marked_line("a\u200bb; c\td", ((3, 1), (5, 99)))
    assert [line[at : at + length] for at, length in ranges] == [";", "c\\td"]
    assert marked_line("abc", ((-5, 2), (1, 0), (50, 3)))[1] == ()
    assert reason_pieces("runs `sh` then") == [("runs ", ""), ("sh", "mono"), (" then", "")]


def test_a_problem_names_the_character_that_cannot_be_seen() -> None:
    text = "bash(command=a\u200b)"
    assert problem_words(text, problem_of(text, "allow")).endswith("Here: \\u{200b}")


def test_a_suggestion_shows_only_what_differs() -> None:
    pieces = suggestion_pieces("bash(command=git diff*)", "bash(command=git diff{, --stat})", 29, 31)
    assert "".join(text for text, _ in pieces) == (
        "Suggested: command=git diff{, --stat} allows 29 of these 31 calls and no known trick."
    )
    assert "bash(" in suggestion_pieces("#network", "bash(command=x)", 1, 1)[1][0]


async def test_long_sections_grow_in_steps_and_say_what_is_not_listed(room: Room, qtbot: QtBot) -> None:
    calls = tuple(SimulatedCall("bash", f"git {n}", "asks", "asks") for n in range(100))
    section = TrialSection("Still stopped", calls, 250, loud=False)
    qtbot.addWidget(section)
    section.show()
    assert len(section.rows) == 2
    assert section.more.label == "248 more"
    section.more.click()
    assert len(section.rows) == 42
    for _ in range(2):
        section.more.click()
    assert len(section.rows) == 100
    assert not section.more.isVisible()
    await until(lambda: "and 150 more like these" in words(section), "the rest")

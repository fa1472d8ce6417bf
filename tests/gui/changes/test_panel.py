"""The Changes panel: what quiets what, which buttons there are, and an undo that is shown."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from shots import changes as shots
from shots.chat import StillBridge

from desktop.domain.files.changes import FileState
from desktop.domain.files.undo import LaterChange, UndoConflict
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.changes.rows import call_rows
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.changes.panel import ChangesPanel
from desktop.ui.changes.preview import KEEP, UNDO, UndoDialog
from desktop.ui.theme import Theme
from desktop.ui.widgets.text import Text
from tests.harness.timeouts import WAIT_MS


class NotingBridge(StillBridge):
    """Notes what would have been done."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[str] = []

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str, on_error: object = None) -> None:
        self.begun.append(name)
        super().spawn(work, name=name)


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> Iterator[Callable[..., ChangesPanel]]:
    made: list[ChangesPanel] = []

    def make(sample: str = "some", width: int = 560, height: int = 800) -> ChangesPanel:
        bridge = NotingBridge()
        shown = ChangesPanel(shots.sample(sample, bridge))
        bridge.setParent(shown)
        shown._changes.setParent(shown)
        qtbot.addWidget(shown)
        made.append(shown)
        shown.resize(width, height)
        with qtbot.waitExposed(shown, timeout=WAIT_MS):
            shown.show()
        return shown

    yield make
    for one in made:
        one.hide()


def model_of(panel: ChangesPanel) -> ChangesViewModel:
    return panel._changes


def begun(panel: ChangesPanel) -> list[str]:
    return panel._changes._bridge.begun


def shown_buttons(panel: ChangesPanel) -> list[str]:
    detail = panel.detail
    buttons = (detail.call, detail.agent, detail.run, detail.since, detail.open)
    return [button.label for button in buttons if not button.isHidden()] if not detail.isHidden() else []


@pytest.mark.spec("R-UND-3")
def test_a_chosen_file_quiets_the_calls_that_did_not_touch_it(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    names = [row.name for row in shown.files.rows.lines]
    shown.files.select(names.index("docs/sources.md"))
    quiet = [row.what for row in shown.calls.rows.lines if shown.calls._painted.is_dim(row.paths)]
    assert "docs/sources.md" not in quiet
    assert len(quiet) == 6
    assert shown_buttons(shown) == ["Open"]
    shown.files.select(-1)
    assert not any(shown.calls._painted.is_dim(row.paths) for row in shown.calls.rows.lines)


@pytest.mark.spec("R-UND-2")
def test_a_call_offers_what_can_be_undone_of_it(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    shown.calls.select(1)
    assert shown_buttons(shown) == [
        "Undo this call…",
        "Undo everything by fact-checker…",
        "Undo its run…",
        "Undo since here…",
    ]
    shown.calls.select(4)
    assert shown_buttons(shown) == ["Undo this call…", "Undo its run…", "Undo since here…"]
    shown.calls.select(2)
    assert shown.detail.words.text() == "Undone at 14:09."
    assert "Undo this call…" not in shown_buttons(shown)
    shown.calls.select(6)
    assert shown_buttons(shown) == []
    shown.calls.select(7)
    assert shown_buttons(shown) == ["Undo the undo…"]


def test_what_would_stay_is_said_for_the_call_that_is_chosen_alone(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    shown.calls.select(1)
    model_of(shown).conflict_found.emit("c1", "of another call")
    assert shown.detail.words.text() == ""
    model_of(shown).conflict_found.emit("c2", "One conflict: line 44.")
    assert shown.detail.words.text() == "One conflict: line 44."


def test_the_choice_stays_when_the_rows_are_read_again(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    shown.calls.select(3)
    model_of(shown).changed.emit()
    assert shown.calls.current.change_id == "c4"


@pytest.mark.spec("R-UND-3")
def test_calls_in_a_row_by_one_agent_on_one_file_are_one_row_that_opens_to_each(
    panel: Callable[..., ChangesPanel], qtbot: QtBot
) -> None:
    shown = panel("several")
    rows = shown.calls.rows
    assert [(row.what, row.added, row.removed) for row in rows.lines] == [
        ("docs/sources.md, 3 times", 21, 13),
        ("docs/tides.md", 5, 5),
        ("docs/sources.md", 1, 1),
        ("docs/sources.md", 1, 1),
        ("docs/sources.md", 0, 0),
    ], "another file, and another agent, come in between"
    shown.calls.select(0)
    assert shown_buttons(shown)[0] == "Undo these 3 calls…"
    model_of(shown).conflict_found.emit("c1", "of the first alone")
    assert shown.detail.words.text() == ""
    qtbot.keyClick(shown.calls, Qt.Key.Key_Right)
    assert [row.time for row in rows.lines[:4]] == ["13:52", "13:52", "13:53", "13:55"]
    assert rows.lines[0].change_ids == ("c1", "c2", "c3")
    assert "unfolded" in rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    shown.calls.select(3)
    assert shown.calls.current.change_ids == ("c3",)
    assert shown_buttons(shown)[0] == "Undo this call…"
    qtbot.keyClick(shown.calls, Qt.Key.Key_Left)
    assert shown.calls.current is rows.lines[0]
    qtbot.keyClick(shown.calls, Qt.Key.Key_Left)
    assert len(rows.lines) == 5
    arrow = shown.calls.visualRect(rows.index(0)).topLeft() + QPoint(90, 16)
    qtbot.mouseClick(shown.calls.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert len(rows.lines) == 8


@pytest.mark.spec("R-UND-3")
def test_what_was_undone_or_done_by_hand_in_between_stays_a_row_of_its_own(panel: Callable[..., ChangesPanel]) -> None:
    changes = model_of(panel("several")).changes
    assert changes is not None
    undone = replace(changes, undone={"c2": 1.0})
    assert [row.what for row in call_rows(undone, {})[:3]] == ["docs/sources.md"] * 3
    path = next(one for one in changes.paths if one.path.endswith("tides.md"))
    hand = replace(path, now=FileState("file", 0o644, 1, "hand"), now_at=changes.records[0].at + 1)
    between = call_rows(replace(changes, paths=(hand,)), {})
    assert between[1].who.startswith("By hand")
    assert between[2].what == "docs/sources.md, 2 times"


def test_nothing_changed_yet_is_said(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel("empty")
    assert shown._pages.currentWidget() is shown._empty
    assert shown.first_focus() is shown.head.close_button


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(560, 800, 1.0), (528, 500, 1.0), (768, 640, 2.0), (432, 300, 1.0)]
)
def test_at_any_size_each_part_can_be_reached(
    panel: Callable[..., ChangesPanel], theme: Theme, width: int, height: int, scale: float
) -> None:
    theme.set_scale(scale)
    shown = panel(width=width, height=height)
    shown.calls.select(1)
    parts = (shown.against, shown.files, shown.by_call, shown.calls, shown.detail, shown.foot)
    assert [part.height() > 0 for part in parts] == [True] * 6
    for above, below in pairwise(parts):
        assert above.geometry().bottom() + 1 == below.geometry().top()
    reach = shown._scroll.viewport().height() + shown._scroll.verticalScrollBar().maximum()
    assert parts[-1].geometry().bottom() < reach


@pytest.mark.spec("R-UND-2")
def test_an_undo_is_shown_with_the_safe_answer_first(panel: Callable[..., ChangesPanel], qtbot: QtBot) -> None:
    shown = panel()
    dialog = UndoDialog(shown.window(), model_of(shown), shots.preview())
    dialog.open()
    assert dialog.buttons[KEEP].hasFocus() or not shown.isActiveWindow()
    assert list(dialog.buttons) == [KEEP, UNDO]
    assert dialog.buttons[UNDO].label == "Undo in 3 files"
    qtbot.waitUntil(lambda: dialog._cards.count() == 3, timeout=WAIT_MS)
    dialog.answer(KEEP)
    assert "undo" not in begun(shown)


@pytest.mark.spec("R-UND-2")
def test_a_file_whose_rights_alone_go_back_says_so_and_shows_no_lines(
    panel: Callable[..., ChangesPanel], qtbot: QtBot
) -> None:
    shown = panel()
    dialog = UndoDialog(shown.window(), model_of(shown), shots.preview())
    qtbot.waitUntil(lambda: dialog._cards.count() == 3, timeout=WAIT_MS)
    cards = [dialog._cards.itemAt(at).widget() for at in range(3)]
    said = [[text.text() for text in card.findChildren(Text)] for card in cards]
    assert said[2] == ["scripts/clean.py", "rights rwxr-xr-x → rw-r--r--"]
    assert [bool(card.findChildren(LinesView)) for card in cards] == [True, False, False]


def test_an_undo_that_would_do_nothing_has_no_button_for_it(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    preview = shots.preview()
    same = tuple(type(file)(file.path, file.now, file.now, "", "", 0, 0, file.conflicts) for file in preview.files)
    dialog = UndoDialog(shown.window(), model_of(shown), type(preview)(preview.change_ids, same))
    assert list(dialog.buttons) == [KEEP]
    assert dialog.buttons[KEEP].label == "Close"


@pytest.mark.spec("R-UND-2")
def test_later_changes_that_stand_on_it_can_be_taken_in(panel: Callable[..., ChangesPanel]) -> None:
    shown = panel()
    preview = shots.preview()
    later = LaterChange("c9", ("other", "edit-file"), 1.0)
    first = preview.files[0]
    conflicts = (UndoConflict(4, 4, (later,)), UndoConflict(9, 9, (later,)))
    files = (type(first)(first.path, first.now, first.then, first.now_text, first.then_text, 1, 1, conflicts),)
    dialog = UndoDialog(shown.window(), model_of(shown), type(preview)(preview.change_ids, files))
    assert not dialog.more.isHidden()
    assert dialog.more.label == "Undo that change, too…"
    dialog.more.click()
    assert begun(shown)[-1] == "show an undo"

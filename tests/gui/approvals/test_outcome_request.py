"""A request about what a command did in a copy: rows and ticks, figures that follow them, answers, the keyboard."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton
from shots.outcomes import ROOT, SampleCopy, nothing_changed, outcome_request

from desktop.domain.files.changes import ABSENT, MOST_KEPT, FileChange, FileState
from desktop.domain.files.outcomes import LineFigures, OutcomeReading
from desktop.presenter.approvals.outcome_rows import OutcomeRows, TickedFile, TickedFolder, outcome_tree
from desktop.ui.approvals.request.outcome_body import OutcomeBody
from desktop.ui.approvals.request.outcome_card import CopyDialog
from desktop.ui.approvals.request.outcome_list import ROW, OutcomeList
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.text import Text
from tests.gui.approvals.conftest import DialogBench, settled
from tests.harness.timeouts import until

FILE = FileState("file", 0o644, 3, "d")


def body(bench: DialogBench) -> OutcomeBody:
    return bench.dialog.view.findChild(OutcomeBody)


def listed(bench: DialogBench) -> list[str]:
    model = bench.dialog.view.findChild(OutcomeList).model()
    return [model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]


async def opened(bench: DialogBench) -> None:
    """The chosen file is before the person."""
    rows = body(bench).rows
    await until(lambda: any(leaf.opened for leaf in rows.leaves), "a file is shown")


def button(bench: DialogBench, name: str) -> QPushButton:
    return next(one for one in bench.dialog.findChildren(QPushButton) if one.accessibleName() == name)


@pytest.mark.spec("R-OUT-2")
async def test_it_says_what_was_done_in_figures_and_rows_that_a_screen_reader_hears(bench: DialogBench) -> None:
    await bench.ask(outcome_request())
    card = body(bench).card
    assert card is not None
    assert (card.count.text(), card.summary.text()) == ("41 files", "31 made, 7 changed, 2 deleted, 1 renamed")
    assert "ticked, changed, data/stations.json, 12 lines added, 12 removed" in listed(bench)
    assert any("renamed, all-02.csv, out/all.csv" in row for row in listed(bench))
    assert any(row.startswith("ticked, folder gauge-07/, 31 made, folded") for row in listed(bench))
    assert bench.dialog.asks == "Take over what it did?"


@pytest.mark.spec("R-OUT-2")
@pytest.mark.parametrize(
    ("known", "running", "tried"),
    [
        (
            {"left": ("node", "node", "ssh\u202eagent"), "heard": True},
            "ended 3 processes that it left: 2 × node, ssh\\u{202e}agent",
            "It tried api.tides.example and was refused: a copy has no network.",
        ),
        (
            {"left": (), "heard": True, "tried": [f"h{n}" for n in range(12)]},
            "left nothing running",
            "It tried h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 2 more and was refused: a copy has no network.",
        ),
        (
            {"left": None, "heard": False},
            "nothing of it goes on",
            "By its output it tried api.tides.example and was refused: a copy has no network.",
        ),
    ],
)
async def test_it_says_what_it_left_and_whom_it_asked_and_how_that_is_known(
    bench: DialogBench, known: dict[str, object], running: str, tried: str
) -> None:
    request = outcome_request()
    await bench.ask(replace(request, preview={**request.preview, **known}))
    said = [label.text() for label in body(bench).run.findChildren(Text)]
    assert running in said
    assert any(tried in notice.accessibleName() for notice in body(bench).findChildren(Notice))


@pytest.mark.spec("R-OUT-3")
async def test_figures_and_button_follow_the_ticks_and_at_none_the_button_is_off(bench: DialogBench) -> None:
    await bench.ask(outcome_request())
    rows, answers = body(bench).rows, bench.dialog.view.answers
    assert answers is not None
    assert answers.allow.label == "Take over these 41"
    gauge = next(row.node for row in rows.rows if isinstance(row.node, TickedFolder) and row.node.label == "gauge-07/")
    rows.tick(gauge, False)
    assert (answers.allow.label, answers.allow.isEnabled()) == ("Take over 10", True)
    assert body(bench).card.count.text() == "10 of 41 files"
    assert rows.lines() == LineFigures(7629 - 31 * 241, 214)
    rows.tick(None, False)
    assert not answers.allow.isEnabled()
    rows.tick(None, True)
    assert answers.allow.label == "Take over these 41"


@pytest.mark.spec("R-OUT-3")
async def test_the_keyboard_folds_ticks_and_takes_over_what_is_ticked(bench: DialogBench) -> None:
    question = await bench.ask(outcome_request())
    await bench.awake()
    rows, view = body(bench).rows, bench.dialog.view.findChild(OutcomeList)
    view.setFocus()
    at = next(row for row in range(view.model().rowCount()) if "gauge-07/" in listed(bench)[row])
    view.setCurrentIndex(view.model().index(at))
    before = view.model().rowCount()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.model().rowCount() == before + 31
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.model().rowCount() == before
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert rows.count == 10
    await bench.awake()
    QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    decision = await question
    assert decision.choice == "allow_once"
    taken = set(decision.taken or ())
    assert f"{ROOT}/out/summary.csv" in taken
    assert {f"{ROOT}/out/all.csv", f"{ROOT}/out/all-02.csv"} <= taken, "both ends of a rename"
    assert not any("out/gauge-07" in path for path in taken)


async def test_all_of_it_is_taken_over_by_name_of_nothing(bench: DialogBench) -> None:
    question = await bench.ask(outcome_request())
    await bench.awake()
    bench.dialog.view.answers.allow.click()
    assert (await question).taken is None


@pytest.mark.spec("R-OUT-2")
async def test_what_is_no_text_counts_only_once_it_was_opened(bench: DialogBench) -> None:
    await bench.ask(outcome_request(binary=True))
    rows, view = body(bench).rows, bench.dialog.view.findChild(OutcomeList)
    assert (rows.count, rows.waiting) == (41, 2)
    picture = next(leaf for leaf in rows.leaves if leaf.path.endswith("gaps.png"))
    rows.tick(picture, True)
    assert not picture.ticked
    at = next(n for n, row in enumerate(rows.rows) if row.node is picture)
    view.setCurrentIndex(view.model().index(at))
    await until(lambda: picture.opened, "the picture was looked at")
    assert (picture.ticked, rows.count, rows.waiting) == (True, 42, 1)


@pytest.mark.spec("R-OUT-3")
async def test_what_changed_meanwhile_is_left_out_until_a_person_has_chosen(bench: DialogBench) -> None:
    question = await bench.ask(outcome_request(meanwhile=True))
    words = [notice.words for notice in bench.dialog.findChildren(Notice)]
    assert "2 real files changed while you looked. Nothing was taken over. The other 39 are as they were." in words
    await opened(bench)
    rows, answers = body(bench).rows, bench.dialog.view.answers
    assert answers is not None
    assert (rows.count, rows.undecided, answers.allow.label) == (39, 1, "Take over the other 39")
    second = next(leaf for leaf in rows.leaves if leaf.meanwhile and not leaf.opened)
    rows.open(second)
    assert (rows.undecided, second.ticked) == (0, False)
    rows.tick(second, True)
    await bench.awake()
    answers.allow.click()
    taken = (await question).taken
    assert taken is not None
    assert second.path in taken


@pytest.mark.spec("R-OUT-2")
async def test_the_copy_of_a_file_can_be_opened_and_only_looked_at(bench: DialogBench) -> None:
    await bench.ask(outcome_request())
    await opened(bench)
    card = body(bench).card
    assert card is not None
    await until(card.look.isEnabled, "it was read")
    card.look.click()
    (shown,) = bench.window.findChildren(CopyDialog)
    leaf = card._node
    assert [row.text for row in shown.view.rows] == card._copy.sides(leaf.change).after.splitlines()
    assert list(shown.buttons) == ["close"]
    QTest.keyClick(shown.buttons["close"], Qt.Key.Key_Escape)
    assert shown.isHidden()
    assert bench.dialog.view.request is not None, "the request still waits"


@pytest.mark.spec("R-OUT-3")
async def test_whose_call_changed_a_real_file_meanwhile_stands_beside_it(bench: DialogBench) -> None:
    request = outcome_request(meanwhile=True)
    left_by = {f"{ROOT}/out/summary.csv": "", f"{ROOT}/data/stations.json": "writer"}
    await bench.ask(replace(request, preview={**request.preview, "left_by": left_by}))
    details = {leaf.path: leaf.detail for leaf in body(bench).rows.leaves if leaf.meanwhile}
    assert details[f"{ROOT}/out/summary.csv"].endswith(", not by an agent")
    assert details[f"{ROOT}/data/stations.json"].endswith(", by writer")


@pytest.mark.spec("R-OUT-3")
async def test_of_a_file_that_changed_meanwhile_each_side_can_be_seen_and_one_be_chosen(bench: DialogBench) -> None:
    await bench.ask(outcome_request(meanwhile=True))
    await opened(bench)
    card, rows, answers = body(bench).card, body(bench).rows, bench.dialog.view.answers
    assert card is not None
    assert answers is not None
    model = card.list.model()
    leaf = next(leaf for leaf in rows.leaves if leaf.path.endswith("summary.csv"))
    at = next(at for at in range(model.rowCount()) if model.index(at).data(ROW).node is leaf)
    card.list.setCurrentIndex(model.index(at))
    await until(lambda: leaf.opened, "it is before the person")
    sides = card._copy.sides(leaf.change)
    assert (card.choice.isHidden(), card.sides.isHidden(), card.bar.isHidden()) == (True, False, False)
    both = [row.text for row in card.diff_view.rows]
    assert any(text.startswith("the copy, made from the file as it was") for text in both)
    for at, text in ((1, sides.before), (2, sides.after)):
        card.sides.findChildren(QAbstractButton)[at].click()
        assert [row.text for row in card.diff_view.rows] == text.splitlines()
    button(bench, "Replace it with the copy’s").click()
    assert (leaf.ticked, rows.count, card.bar.replace.isEnabled(), card.bar.keep.isEnabled()) == (True, 40, False, True)
    button(bench, "Keep the real one").click()
    assert (leaf.ticked, rows.count) == (False, 39)
    plain = next(at for at in range(model.rowCount()) if _is_plain(model.index(at).data(ROW).node))
    card.list.setCurrentIndex(model.index(plain))
    assert (card.choice.isHidden(), card.sides.isHidden(), card.bar.isHidden()) == (False, True, True)
    await settled()


def _is_plain(node: object) -> bool:
    return isinstance(node, TickedFile) and not node.meanwhile


@pytest.mark.spec("R-OUT-4")
async def test_another_run_with_the_network_or_in_a_new_copy_is_a_press_away(bench: DialogBench) -> None:
    question = await bench.ask(outcome_request())
    button(bench, "Run it again with network…").click()
    decision = await question
    assert (decision.choice, decision.with_network) == ("again", True)
    question = await bench.ask(replace(outcome_request(meanwhile=True), request_id="r99", digest="d99"))
    await until(lambda: not bench.dialog.view.answers.deny.deaf, "the hand has gone")
    button(bench, "Run it again in a new copy").click()
    decision = await question
    assert (decision.choice, decision.with_network) == ("again", False)


async def test_one_that_changed_nothing_is_about_its_output(bench: DialogBench) -> None:
    question = await bench.ask(nothing_changed())
    await bench.awake()
    answers = bench.dialog.view.answers
    assert answers is not None
    assert answers.allow.label == "Pass on its output"
    answers.allow.click()
    assert (await question).choice == "allow_once"


async def test_escape_drops_it(bench: DialogBench) -> None:
    question = await bench.ask(outcome_request())
    await bench.awake()
    QTest.keyClick(bench.dialog.view.answers.deny, Qt.Key.Key_Escape)
    assert (await question).choice == "deny"


async def test_the_other_answers_are_a_press_away(bench: DialogBench) -> None:
    await bench.ask(outcome_request())
    answers = bench.dialog.view.answers
    assert answers is not None
    assert answers.allow_run.isHidden()
    answers.unfold.click()
    assert not answers.allow_run.isHidden()
    assert not answers.edit.isHidden()
    await settled()


def tree(files: Mapping[str, int]) -> OutcomeReading:
    changes = tuple(FileChange(f"/w/{path}", ABSENT, FILE) for path in sorted(files))
    return OutcomeReading(changes, figures={change.path: LineFigures(1, 0) for change in changes})


def labels(rows: OutcomeRows) -> list[str]:
    return ["  " * row.depth + row.node.label for row in rows.rows if not isinstance(row.node, str)]


def test_folders_with_several_changes_fold_and_a_chain_of_folders_is_one_row() -> None:
    few = OutcomeRows(outcome_tree(tree(dict.fromkeys(("a/b/c/1", "a/b/c/2", "a/b/c/3", "d/1", "d/2", "e"), 1)), "/w"))
    assert labels(few) == ["a/b/c/", "  1", "  2", "  3", "d/1", "d/2", "e"]
    many = OutcomeRows(outcome_tree(tree({f"x/{n // 40}/{n}": 1 for n in range(400)}), "/w"))
    assert labels(many)[:2] == ["x/", "  0/"]
    assert len(labels(many)) == 11


def test_paths_outside_the_folder_are_shown_whole() -> None:
    changes = tuple(FileChange(f"/tmp/agent/{n}", ABSENT, FILE) for n in range(3))
    rows = OutcomeRows(outcome_tree(OutcomeReading((*changes, FileChange("/w/in", ABSENT, FILE))), "/w"))
    assert labels(rows) == ["/tmp/agent/", "  0", "  1", "  2", "in"]


def test_a_folder_that_goes_with_its_files_is_in_what_is_taken_over() -> None:
    folder = FileState("folder", 0o755)
    changes = (FileChange("/w/old", folder, ABSENT), *(FileChange(f"/w/old/{n}", FILE, ABSENT) for n in range(3)))
    rows = OutcomeRows(
        outcome_tree(OutcomeReading(changes, figures={f"/w/old/{n}": LineFigures(0, 1) for n in range(3)}), "/w")
    )
    rows.tick(rows.leaves[0], False)
    assert set(rows.taken() or ()) == {"/w/old", "/w/old/1", "/w/old/2"}


@pytest.mark.spec("R-UND-1")
async def test_more_than_can_be_undone_says_so_before_the_answer(bench: DialogBench) -> None:
    request = outcome_request()
    for many, said in ((MOST_KEPT, False), (MOST_KEPT + 1, True)):
        preview = {**request.preview, "reading": tree({str(n): 1 for n in range(many)}), "copy": SampleCopy({})}
        made = OutcomeBody(replace(request, preview=preview))
        words = "To take over more than 20,000 of these cannot be undone"
        assert any(words in notice.words for notice in made.findChildren(Notice)) is said
        await until(lambda made=made: made.rows is not None, "it is laid out")
        made.deleteLater()


async def test_ten_thousand_files_are_laid_out_and_ticked(bench: DialogBench) -> None:
    reading = tree({f"made/{n // 100:03}/{n}": 1 for n in range(10_000)})
    request = outcome_request()
    preview = {**request.preview, "reading": reading, "copy": SampleCopy({}), "cwd": "/w"}
    await bench.ask(replace(request, preview=preview))
    await until(lambda: body(bench).rows is not None, "it is laid out")
    rows, view = body(bench).rows, bench.dialog.view.findChild(OutcomeList)
    card = body(bench).card
    assert card is not None
    await until(lambda: len(card.diff_view.rows) == 10_000, "the folder is listed")
    assert not card.result_view.rows, "the same again, which nobody looks at"
    card.choice.findChildren(QAbstractButton)[1].click()
    assert len(card.result_view.rows) == 10_000
    made = rows.rows[0].node
    assert isinstance(made, TickedFolder)
    assert (rows.count, made.label, made.ticked) == (10_000, "made/", "all")
    rows.unfold(made, True)
    assert view.model().rowCount() == 101
    first = rows.rows[1].node
    assert isinstance(first, TickedFolder)
    rows.tick(first, False)
    assert (rows.count, made.ticked, first.ticked) == (9_900, "some", "none")
    rows.unfold(first, True)
    assert isinstance(rows.rows[2].node, TickedFile)
    assert view.model().index(2).data(ROW) is rows.rows[2]

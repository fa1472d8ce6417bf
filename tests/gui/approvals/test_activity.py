"""The Activity tab over a real log in a real store: filters, pages, one entry in full, the check, the export."""

import sqlite3
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.approvals_activity import entries, hostile, rows

from desktop.app.commands.audit_check import follow
from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.approvals.activity import DELETED, KEPT, ActivityViewModel, midnight
from desktop.presenter.approvals.call_words import one_line
from desktop.presenter.events.bridge import Bridge
from desktop.store import Store
from desktop.ui.approvals.activity.tab import Activity
from desktop.ui.approvals.activity.table import ROW, ActivityModel, columns
from desktop.ui.approvals.activity.words import EntryFact, as_text, decision_word, facts, rule_of, spoken, when
from desktop.ui.theme import Theme
from tests.gui.approvals.conftest import settled
from tests.harness.timeouts import until
from tests.harness.windows import activated


class Log:
    """A store with a log, and the tab over it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.bridge = Bridge()
        self.model = ActivityViewModel(self.bridge, store.audit)
        self.tab = Activity(self.model, lambda thread_id: f"Title of {thread_id}")
        self.said: list[str] = []
        self.model.said.connect(self.said.append)
        self.model.failed.connect(self.said.append)

    async def write(self, *made: AuditEntry) -> None:
        for entry in made:
            await self.store.audit.add(entry=entry)

    async def until(self, true, what: str) -> None:
        await until(true, what)

    async def shown(self) -> None:
        await activated(self.tab)
        await self.quiet()

    async def quiet(self) -> None:
        """Nothing is read, checked or written any more."""
        await settled()
        await self.until(lambda: not self.tab.bar._pause.isActive() and not self.bridge.task_names, "quiet")
        await settled()

    @property
    def words(self) -> list[str]:
        """What the rows say aloud."""
        role = Qt.ItemDataRole.AccessibleTextRole
        return [self.tab.model.data(self.tab.model.index(at), role) for at in range(self.tab.model.rowCount())]

    @property
    def rows(self) -> list[AuditRow]:
        return [self.tab.model.index(at).data(ROW) for at in range(self.tab.model.rowCount())]

    @property
    def calls(self) -> list[str]:
        return [row.entry.call_id for row in self.rows if not row.note]

    def select(self, call_id: str) -> AuditRow:
        at = next(at for at, row in enumerate(self.rows) if row.entry.call_id == call_id)
        self.tab.list.setCurrentIndex(self.tab.model.index(at))
        QTest.keyClick(self.tab.list, Qt.Key.Key_Return)
        row: AuditRow = self.tab.list.current  # type: ignore[assignment]
        return row

    @property
    def detail(self) -> str:
        """What the entry's pane says."""
        return "\n".join(label.text() for label in self.tab.detail.findChildren(QLabel) if label.isVisible())


@pytest.fixture
async def log(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Log]:
    store = Store(tmp_path / "a.db")
    await store.open()
    made = Log(store)
    qtbot.addWidget(made.tab)
    made.tab.resize(1216, 752)
    yield made
    made.tab.hide()
    await made.bridge.shutdown(5.0)
    await store.close()
    await settled()


def call(number: int, **more) -> AuditEntry:
    return replace(entries()[1], call_id=f"call{number}", at=time.time() - 1000 + number, **more)


@pytest.mark.spec("R-PRM-12", "R-PRM-13")
async def test_every_call_stands_there_with_its_decision_who_decided_and_what_came_of_it(log: Log) -> None:
    await log.write(*reversed(entries()))
    await log.shown()
    assert any("refused by The boundary, denied: read-file /etc/passwd" in line for line in log.words)
    assert any("refused by The blocklist, denied: bash rm -rf out" in line for line in log.words)
    assert any("allowed by A rule, failed, exit code 1: bash pytest" in line for line in log.words)
    assert any("allowed by Reads run: list-directory data/" in line for line in log.words)
    assert any("edited by You, asked again" in line for line in log.words)
    assert "The chain begins: From here on each line is chained" in log.words[-1]
    assert log.tab.bar.count.text() == "11 entries"


async def test_words_are_sought_once_typing_pauses_and_escape_takes_them_back(log: Log) -> None:
    await log.write(*reversed(entries()))
    await log.shown()
    QTest.keyClicks(log.tab.filter, "PYTEST")
    await log.quiet()
    assert log.calls == ["c7"]
    QTest.keyClick(log.tab.filter, Qt.Key.Key_Down)
    assert log.tab.list.currentIndex().row() == 0
    log.tab.filter.setText("no such thing anywhere")
    await log.quiet()
    assert log.tab._stack.currentWidget().accessibleName().startswith("Nothing found")
    QTest.keyClick(log.tab.filter, Qt.Key.Key_Escape)
    await log.quiet()
    assert len(log.calls) == 10


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("decision", "denied", ["c0"]),
        ("decision", "unanswered", ["c8"]),
        ("decision", "edited", ["c2"]),
        ("category", "read", ["c4", "c5", "c9"]),
        ("tool", "list-directory", ["c9"]),
        ("by", "rule", ["c7"]),
        ("thread_id", "t1", [f"c{n}" for n in range(10)]),
    ],
)
async def test_each_choice_narrows_the_list_and_one_button_takes_all_away(log: Log, name, value, found) -> None:
    await log.write(*reversed(entries()))
    await log.shown()
    chooser = log.tab.bar.choosers[name]
    chooser.setCurrentIndex(chooser.findData(value))
    await log.quiet()
    assert log.calls == found
    log.tab.bar.clear_button.click()
    await log.quiet()
    assert len(log.calls) == 10
    assert not log.tab.bar.clear_button.isVisible()
    assert chooser.currentData() == ""


async def test_days_are_those_of_the_place_where_one_is(log: Log) -> None:
    today = midnight(time.time())
    ages = {
        "now": today + 1,
        "yesterday": today - 60,
        "week": midnight(today - 6 * 86_400 + 43_200) + 1,
        "older": today - 8 * 86_400,
    }
    await log.write(*(replace(entries()[0], at=at, call_id=name) for name, at in ages.items()))
    await log.shown()
    for value, found in (("today", ["now"]), ("week", ["week", "yesterday", "now"]), ("", list(reversed(ages)))):
        log.tab.bar.days.set_value(value)
        log.tab.bar.days.chosen.emit(value)
        await log.quiet()
        assert log.calls == found


async def test_an_empty_log_says_so(log: Log) -> None:
    await log.shown()
    assert log.tab._stack.currentWidget().accessibleName().startswith("Nothing here yet")


async def test_older_entries_come_as_one_scrolls_down_and_what_is_selected_stays(log: Log) -> None:
    for number in range(0, 900):
        log.store.audit.note(entry=call(number))
    await log.shown()
    first = log.tab.model.rowCount()
    assert 200 <= first < 900
    log.select(log.calls[3])
    chosen = log.tab.list.current
    bar = log.tab.list.verticalScrollBar()

    def scrolled_to_the_end() -> bool:
        bar.setValue(bar.maximum())  # again and again: rows that came are laid out a little later
        return log.tab.model.rowCount() == 901

    await log.until(scrolled_to_the_end, "all rows")
    assert log.calls == [f"call{n}" for n in reversed(range(900))]
    assert log.tab.list.current == chosen
    assert log.tab.bar.count.text() == "901 entries"


async def test_a_long_way_down_few_rows_are_held_and_the_way_back_up_shows_them_all_again(log: Log) -> None:
    """A list lays out all of its rows whenever there are others: it may hold only so many."""
    for number in range(KEPT + 700):
        log.store.audit.note(entry=call(number))
    await log.shown()
    log.select(f"call{KEPT + 698}")
    bar = log.tab.list.verticalScrollBar()
    seen: set[str] = set()

    def gone_to(place: str, call_id: str) -> bool:
        seen.update(log.calls)
        assert log.tab.model.rowCount() <= KEPT
        bar.setValue(bar.maximum() if place == "end" else 0)
        numbers = [row.number for row in log.rows]
        assert numbers == list(range(numbers[0], numbers[0] - len(numbers), -1)), "no row is missing or stands twice"
        return call_id in log.calls

    await log.until(lambda: gone_to("end", "call0"), "the oldest")
    assert len(seen) == KEPT + 700
    assert log.tab.list.current is None
    assert f"call{KEPT + 698}" in log.detail, "the entry that is read stays"
    await log.until(lambda: gone_to("top", f"call{KEPT + 699}"), "the newest")
    await log.until(lambda: gone_to("end", "call0"), "the oldest again")
    log.tab.list.setFocus()
    QTest.keyClick(log.tab.list, Qt.Key.Key_Home)
    await log.until(lambda: log.calls[0] == f"call{KEPT + 699}" and log.tab.list.at_top, "the newest at once")


async def test_what_is_written_meanwhile_comes_in_while_the_top_is_in_sight(log: Log) -> None:
    await log.write(call(1))
    await log.shown()
    log.select("call1")
    number = await log.store.audit.add(entry=call(2, outcome=""))
    log.store.audit.settle(number=number, outcome="done")
    log.bridge.sink(
        ToolCallFinished(
            run_id="r",
            thread_id="t",
            message_id="m",
            call_id="call2",
            tool="bash",
            state="done",
            text="",
            is_error=False,
            code="",
            elapsed_ms=1,
        )
    )
    await log.until(lambda: log.calls == ["call2", "call1"], "the new entry")
    assert log.tab.list.current.entry.call_id == "call1"  # type: ignore[union-attr]
    assert "done" in log.words[0]


async def test_who_looks_at_the_newest_stays_there_whatever_was_marked_before(log: Log) -> None:
    await log.write(*(call(number) for number in range(60)))
    await log.shown()
    log.select("call10")
    log.tab.list.scrollToTop()
    await log.write(call(60))
    log.tab._grown()
    await log.until(lambda: log.calls[0] == "call60", "the new entry")
    assert log.tab.list.at_top
    assert log.tab.list.current.entry.call_id == "call10"  # type: ignore[union-attr]


@pytest.mark.spec("R-PRM-13", "R-PRM-15")
async def test_one_entry_is_shown_in_full_beside_the_list_and_followed_with_the_arrows(log: Log) -> None:
    await log.write(*reversed(entries()))
    await log.shown()
    assert not log.tab.detail.isVisible()
    log.select("c1")
    assert log.tab.detail.geometry().left() >= 700
    for words in (
        "Allowed once, by: You",
        "path: docs/runbook/nightly.md",
        "The model had asked for",
        "Workbench › march-cleanup",
        "Title of t1",
        "after 12.4 s",
        "run1",
        "9f2c",
    ):
        assert words in log.detail, words
    QTest.keyClick(log.tab.list, Qt.Key.Key_Up)
    await settled()
    assert "Not before the review." in log.detail
    assert "admin: it sends data to another machine" in log.detail
    QTest.keyClick(log.tab.list, Qt.Key.Key_Escape)
    assert not log.tab.detail.isVisible()
    assert log.tab.window().focusWidget() is log.tab.list


async def test_where_it_is_narrow_the_entry_lies_over_the_list_and_escape_gives_it_back(log: Log) -> None:
    await log.write(call(1))
    log.tab.resize(700, 500)
    await log.shown()
    log.select("call1")
    assert log.tab.detail.geometry() == log.tab.rect()
    assert log.tab.window().focusWidget() is log.tab.detail.close_button
    QTest.keyClick(log.tab.detail.close_button, Qt.Key.Key_Escape)
    assert not log.tab.detail.isVisible()


async def test_an_entry_is_copied_as_it_is_shown(log: Log) -> None:
    await log.write(call(1, summary='{"path": "a\u202eb"}'))
    await log.shown()
    row = log.select("call1")
    QTest.keyClick(log.tab.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied == as_text(facts(row, "Title of t1", {}))
    assert "path: a\\u{202e}b" in copied
    assert log.tab.toast.text == "The entry is copied"


async def test_the_rule_that_decided_is_asked_for_by_its_id(log: Log) -> None:
    await log.write(*entries())
    await log.shown()
    wanted: list[str] = []
    log.tab.rule_wanted.connect(wanted.append)
    log.select("c0")
    assert not log.tab.detail.rule.isVisible()
    log.select("c7")
    log.tab.detail.rule.click()
    assert wanted == ["rule-3"]
    made = {"rule_ids": ["r1", "r2"], "pattern": "p"}
    kept = (made, {"pattern": "p"}, {"tool": "x"}, "odd", None)
    assert [rule_of(call(1, extra={"rule": rule})) for rule in kept] == ["r1", "p", "", "", ""]


async def test_a_thread_that_is_gone_is_told_where_one_wanted_to_go_there(log: Log) -> None:
    await log.write(call(1))
    await log.shown()
    log.select("call1")
    log.tab.detail.open_thread.click()
    await log.quiet()
    assert log.said == [DELETED]


# -- the chain ------------------------------------------------------------------------------------------------------


async def test_the_log_is_checked_when_asked_and_says_that_it_is_whole(log: Log) -> None:
    await log.write(*(call(n) for n in range(30)))
    await log.shown()
    assert "Not checked since" in log.tab.foot.words.text()
    log.tab.foot.check.click()
    assert log.tab.foot.check.label == "Stop"
    await log.quiet()
    assert "31 lines, all as they were written." in log.tab.foot.words.text()
    assert not log.tab.notice.isVisible()


async def test_a_check_can_be_stopped(log: Log) -> None:
    for number in range(3000):
        log.store.audit.note(entry=call(number))
    await log.shown()
    log.tab.foot.check.click()
    log.tab.foot.check.click()
    await log.quiet()
    assert log.tab.foot.words.text().startswith("The check was stopped after ")
    assert log.tab.foot.check.label == "Check the log"


@pytest.mark.spec("R-PRM-13")
async def test_a_broken_chain_is_told_plainly_with_the_entries_and_since_when(log: Log) -> None:
    await log.write(*(call(n) for n in range(30)))
    await log.store.audit.choices()
    connection = sqlite3.connect(log.store.path, isolation_level=None)
    for name in ("audit_is_never_changed", "audit_is_never_cut"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE audit SET line = replace(line, 'nightly', 'daily') WHERE seq = 9")
    connection.execute("DELETE FROM audit WHERE seq BETWEEN 20 AND 22")
    connection.close()
    await log.shown()
    log.tab.foot.check.click()
    await log.quiet()
    assert log.tab.notice.isVisible()
    assert "This log is not as Assent wrote it." in log.tab.notice.notice.words
    assert "Everything before entry 9, written until" in log.tab.notice.notice.words
    log.tab.notice.details.click()
    assert "Entry 9 is not what Assent wrote" in log.detail
    assert "Entries 20 to 22 are missing (between" in log.detail
    assert "The database no longer refused changes to the log" in log.detail
    assert not log.tab.detail.open_thread.isVisible()
    log.tab.detail.copy_button.click()
    assert "Entries 20 to 22 are missing" in QGuiApplication.clipboard().text()


@pytest.mark.spec("R-PRM-13")
async def test_what_the_filter_lets_through_is_exported_and_can_be_proved(log: Log, tmp_path: Path) -> None:
    await log.write(*reversed(entries()))
    await log.shown()
    log.tab.bar.choosers["decision"].setCurrentIndex(3)
    await log.quiet()
    for name in ("log.jsonl", "log.CSV"):
        log.tab.foot.write(str(tmp_path / name))
        await log.quiet()
        assert log.tab.toast.text == f"1 entry written to {name}"
    report = follow((tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True))
    assert (report.chain.whole, report.shown) == (True, 1)
    assert (tmp_path / "log.CSV").read_text("utf-8-sig").count("\n") == 2
    log.tab.foot.write(str(tmp_path / "no such folder" / "log.csv"))
    await log.quiet()
    assert "could not be written" in log.said[-1]
    assert log.tab.foot.export.label == "Export…"


async def test_an_export_can_be_stopped_and_leaves_nothing(log: Log, tmp_path: Path) -> None:
    for number in range(3000):
        log.store.audit.note(entry=call(number))
    await log.shown()
    log.tab.foot.write(str(tmp_path / "log.jsonl"))
    assert log.tab.foot.export.label == "Stop the export"
    log.tab.foot.export.click()
    await log.quiet()
    assert log.said == ["The export was stopped. Nothing was written."]
    assert not (tmp_path / "log.jsonl").exists()


async def test_a_log_that_cannot_be_read_says_why(log: Log) -> None:
    await log.shown()
    connection = sqlite3.connect(log.store.path, isolation_level=None)
    connection.execute("ALTER TABLE audit RENAME TO gone")
    connection.close()
    log.bridge.failed.connect(lambda _error: log.said.append("bug"))
    log.model.read()
    await log.quiet()
    assert log.said == ["bug"]
    connection = sqlite3.connect(log.store.path, isolation_level=None)
    connection.execute("ALTER TABLE gone RENAME TO audit")
    connection.close()


# -- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-15")
def test_nothing_hidden_and_nothing_endless_is_shown_of_any_row(qtbot: QtBot, theme: Theme) -> None:
    model = ActivityModel({})
    model.replace(hostile())
    for at in range(model.rowCount()):
        index = model.index(at)
        texts = [
            model.data(index, role)
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)
        ]
        texts += [fact.text for fact in facts(index.data(ROW), "a title", {})]
        for text in texts:
            assert not has_hidden(text), text[:80]
            assert len(text) <= 8000
    assert spoken(hostile()[0], {}).count("\n") == 0


async def test_a_hostile_entry_breaks_no_pane(log: Log) -> None:
    await log.write(*(row.entry for row in hostile()[:1]), call(1))
    await log.shown()
    log.tab.list.setCurrentIndex(log.tab.model.index(1))
    log.tab.show_row(log.tab.list.current)  # type: ignore[arg-type]
    await settled()
    assert not has_hidden(log.detail)
    assert log.tab.detail.width() <= 400
    tagged = [label for label in log.tab.findChildren(QLabel) if label.textFormat() != Qt.TextFormat.PlainText]
    assert tagged == []


@pytest.mark.parametrize(
    ("choice", "by", "word"),
    [
        ("allow_run", "user", "allowed"),
        ("deny_run", "user", "denied"),
        ("odd", "user", "odd"),
        ("allow_edited", "user", "edited"),
        ("unanswered", "cancelled", "not answered"),
        ("deny", "closed", "not answered"),
        ("deny", "rule", "denied"),
    ],
)
def test_a_stored_choice_is_said_in_a_word(choice: str, by: str, word: str) -> None:
    assert decision_word(AuditEntry(0.0, "r", "t", "c", (), "bash", "admin", choice, by, "")) == word


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        ('{"path": "a/b", "content": "x"}', "a/b"),
        ('{"n": 1, "deep": [2]}', "n: 1, deep: [2]"),
        ("not json", "not json"),
        ('{"command": "echo cut off', "echo cut off"),
        ("[1]", "[1]"),
        ('{"path": 7}', "path: 7"),
        ("", ""),
        ("[" * 5000, "[" * 5000),
    ],
)
def test_a_row_says_what_a_call_was_about(summary: str, line: str) -> None:
    assert one_line(summary) == line


@pytest.mark.parametrize("at", [0.0, -1e18, 1e300, float("inf"), float("nan")])
def test_a_time_that_there_is_not_stops_nothing(at: float) -> None:
    assert isinstance(when(at), str)
    assert facts(AuditRow(1, "call", call(1, extra={"waited_s": at})), "", {})[0] == EntryFact(
        "Decision", "Allowed once, by: You"
    )


def test_columns_give_way_one_after_another_and_what_it_was_about_keeps_its_room(qtbot: QtBot, theme: Theme) -> None:
    from_wide = []
    for width in range(1200, 300, -20):
        at = columns(QRect(0, 0, width, 36))
        from_wide.append([bool(rect.width()) for rect in (at.who, at.category, at.outcome, at.tool)])
        assert at.what.width() >= theme.px(180)
    assert from_wide[0] == [True] * 4
    assert from_wide[-1] == [False] * 4
    assert all(sorted(shown) == shown for shown in from_wide)  # none is there while one before it is not


def test_the_same_rows_again_move_nothing(qtbot: QtBot, theme: Theme) -> None:
    model, resets = ActivityModel({}), []
    model.replace(rows())
    model.modelReset.connect(lambda: resets.append(1))
    changed = (replace(rows()[0], outcome_at=1.0), *rows()[1:])
    model.replace(changed)
    assert not resets
    assert model.index(0).data(ROW).outcome_at == 1.0
    model.add((), 0, newer=False)
    assert model.rowCount(QModelIndex()) == len(changed)

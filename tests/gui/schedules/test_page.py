"""The Schedules page over sample jobs: keys, limits that cannot be read, room, and what is read again when."""

import time
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from shots.samples import SampleSetup
from shots.schedules import AGENTS, SampleService, _Now

from desktop.domain.jobs import Job, JobPolicy, JobRow, JobRun
from desktop.presenter.schedules.page import JobsViewModel
from desktop.presenter.schedules.words import AT_EDGE, gathered, moment, policy_words, state_of
from desktop.ui.schedules.page import SchedulesPage
from tests.harness.timeouts import WAIT_MS


class RecordingService(SampleService):
    """Remembers what was done, and how often it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.deleted: list[str] = []
        self.saved: list[Job] = []
        self.readings = 0
        self.tell: Any = None
        self.more_runs: list[JobRun] = []
        self.meanwhile: Any = None

    def on_change(self, listener: Any) -> None:
        self.tell = listener

    async def jobs(self) -> Any:
        self.readings += 1
        return tuple(row for row in await super().jobs() if row.job.job_id not in self.deleted)

    async def runs(self, job_id: str, limit: int = 100) -> Any:
        return [*self.more_runs, *await super().runs(job_id, limit)]

    async def delete(self, job_id: str) -> None:
        self.deleted.append(job_id)

    async def restore(self, job: Job) -> None:
        self.deleted.remove(job.job_id)

    async def save(self, job: Job) -> Job:
        self.saved.append(job)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return replace(job, job_id=job.job_id or "new")


@pytest.fixture
def page(theme: Any, qtbot: Any) -> Any:
    service = RecordingService()
    made = SchedulesPage(JobsViewModel(service, _Now()), lambda: AGENTS, SampleSetup())  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.service, made.jobs = service, made._jobs
    made.resize(1200, 800)
    made.show()
    yield made
    made.jobs._timer.stop()
    made.hide()


def test_delete_takes_the_job_that_is_marked_and_a_change_moves_no_mark(page):
    assert page.jobs.kept.job_id == "1"
    page.rows.setFocus()
    QTest.keyClick(page.rows, Qt.Key.Key_Down)
    page.jobs.refresh()
    assert page.rows.currentIndex().row() == 1
    QTest.keyClick(page.rows, Qt.Key.Key_Delete)
    assert page.service.deleted == ["2"]
    assert page.jobs.kept.job_id == "1"
    assert "Clean the archive is deleted." in page.toast.text
    QTest.keyClick(page.rows, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.rows.model().rowCount() == 3


def test_a_deleted_job_is_shown_again_where_it_was_after_undo(page):
    page.jobs.delete("1")
    assert page.jobs.kept.job_id == "2"
    page.toast._undone()
    assert page.jobs.kept.job_id == "1"
    assert page.rows.currentIndex().row() == 0
    page.jobs.delete("3")
    page.toast._undone()
    assert page.jobs.kept.job_id == "1", "it was not open, so it is only marked"
    assert page.rows.currentIndex().row() == 2
    page.jobs.delete("1")
    page.jobs.edit(name="Being written")
    page.toast._undone()
    assert page.jobs.draft.name == "Being written", "what is not saved stays"
    assert page.rows.currentIndex().row() == 0


def test_after_the_open_job_was_deleted_the_next_one_is_open(page):
    QTest.keyClick(page.rows, Qt.Key.Key_Delete)
    assert page.service.deleted == ["1"]
    assert page.jobs.kept.job_id == "2"


@pytest.mark.parametrize(("name", "text"), [("deadline_s", "soon"), ("max_tokens", "1.000"), ("max_cost", "abc")])
def test_a_limit_that_cannot_be_read_stays_wrong_and_keeps_the_job_from_being_saved(page, name, text):
    field = page.form.limits[name]
    field.clear()
    QTest.keyClicks(field, text)
    page.jobs.check()
    assert field.wrong
    assert "Write a" in field.accessibleDescription()
    assert page.save.isEnabled()
    page.save.click()
    assert page.service.saved == []
    assert "not saved" in page.toast.text
    field.clear()
    field.textEdited.emit("")
    page.jobs.save()
    assert [getattr(job.policy, name) for job in page.service.saved] == [None]


def test_what_was_typed_just_now_is_saved_by_ctrl_s(page):
    page.activateWindow()
    page.form.name.setFocus()
    page.form.name.selectAll()
    QTest.keyClicks(page.form.name, "Tides")
    assert page.save.isEnabled()
    QTest.keyClick(page.form.name, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert [(job.job_id, job.name) for job in page.service.saved] == [("1", "Tides")]
    assert not page.dirty
    QTest.keyClicks(page.form.name, " today")
    assert page.form.name.text() == "Tides today"
    page.form.message.setFocus()
    page.form.message.setPlainText("When?")
    page.form.message.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(page.form.message, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.form.message, " And how high?")
    assert page.form.message.toPlainText() == "When? And how high?", "the caret stays where it was"
    QTest.keyClick(page.form.message, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(page.form.name, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert len(page.service.saved) == 3, "nothing is left to save"


def test_what_is_typed_while_a_new_job_is_being_saved_belongs_to_the_same_job(page):
    page.jobs.open("")
    page.jobs.edit(name="Tides", message="When?", schedule="@daily")
    page.service.meanwhile = lambda: page.jobs.edit(name="Tides of tomorrow")
    page.jobs.save()
    assert page.jobs.draft.name == "Tides of tomorrow"
    assert page.dirty
    page.jobs.save()
    assert [(job.job_id, job.name) for job in page.service.saved] == [("", "Tides"), ("new", "Tides of tomorrow")]
    page.jobs.open("")
    page.jobs.edit(name="Another", message="What?", schedule="@daily")
    page.service.meanwhile = lambda: page.jobs.open("")
    page.jobs.save()
    assert page.jobs.draft.job_id == "", "one that is begun meanwhile is another"


def test_without_a_job_the_keys_are_where_the_first_is_begun_and_go_to_the_list_once_there_are_some(page):
    assert page.first_focus() is page.rows
    page.service.deleted += ["1", "2", "3"]
    page.jobs.open("")
    page.jobs.refresh()
    page._stack.setCurrentIndex(0)
    assert page.first_focus() is page._first
    page.activateWindow()
    page.first_focus().setFocus()
    QTest.keyClick(page._first, Qt.Key.Key_Return)
    assert page.first_focus() is page.form.name
    assert page.form.name.hasFocus()
    page._stack.setCurrentIndex(0)
    page._first.setFocus()
    page.service.deleted.clear()
    page.jobs.refresh()
    assert page.rows.hasFocus()


def test_limits_are_shown_as_they_are_read(page):
    page.jobs.edit_policy(max_tokens=1_000_000, max_cost=0.2, deadline_s=900.0)
    page.form.fill()
    assert [field.text() for field in page.form.limits.values()] == ["12", "1,000,000", "$0.20", "15 min"]
    for field in page.form.limits.values():
        field.textEdited.emit(field.text())
    policy = page.jobs.draft.policy
    assert (policy.max_rounds, policy.max_tokens, policy.max_cost, policy.deadline_s) == (12, 1_000_000, 0.2, 900)


def test_discarding_forgets_what_could_not_be_read(page):
    page.form.limits["max_tokens"].textEdited.emit("many")
    assert page.dirty
    page.jobs.discard()
    assert not page.dirty


def test_changes_are_read_together_and_only_while_the_page_is_shown(page, qtbot):
    before = page.service.readings
    for _ in range(50):
        page.service.tell()
    qtbot.waitUntil(lambda: page.service.readings > before, timeout=WAIT_MS)
    assert page.service.readings == before + 1
    page.hide()
    page.service.tell()
    QTest.qWait(300)  # nothing can be waited for where nothing comes
    assert page.service.readings == before + 1
    page.show()
    assert page.service.readings == before + 2


def test_the_list_folds_where_there_is_no_room_for_a_job_beside_it(page):
    page.resize(520, 420)
    assert page.folding.is_folded
    assert page.folding.button.isVisibleTo(page)
    for button in (page.attempt, page.pause, page.remove, page.save):
        right = button.mapTo(page, button.rect().topRight()).x()
        assert 0 < right < page.width(), button.accessibleName()
    page.folding.button.click()
    assert page.rows.isVisibleTo(page)
    page.rows.clicked.emit(page.rows.model().index(1, 0))
    assert page.jobs.kept.job_id == "2"
    assert not page.rows.isVisibleTo(page)


def test_the_keys_stay_at_a_run_when_another_one_is_added(page, qtbot):
    qtbot.waitUntil(page.history.isVisible, timeout=WAIT_MS)
    opens = [one for one in page.history.findChildren(type(page.save)) if one.label == "Open"]
    opens[1].setFocus()
    named = opens[1].accessibleName()
    page.service.more_runs = [JobRun("new", "1", time.time(), "done", time.time(), time.time() + 3, "t9", "r9")]
    page.jobs.refresh()
    focused = page.focusWidget()
    assert focused is not opens[1]
    assert focused.accessibleName() == named
    qtbot.waitUntil(focused.isVisible, timeout=WAIT_MS)


def test_times_that_were_left_out_in_a_row_stand_in_one_row():
    left = [JobRun(str(at), "1", 1000.0 - at, "overrun", detail="Still at work.") for at in range(300)]
    done = JobRun("d", "1", 500.0, "done")
    rows = gathered([*left, done, left[0], replace(left[0], status="missed")])
    assert [row.status for row in rows] == ["overrun", "done", "overrun", "missed"]
    assert rows[0].planned_at == 1000.0
    assert rows[0].detail == "300 times in a row: Still at work."


def test_a_row_of_the_list_is_drawn_for_each_job(page):
    assert [type(row) for row in page.jobs.rows] == [JobRow] * 3
    assert page.rows.model().rowCount() == 3


def test_a_time_of_another_zone_is_said_in_both_and_one_of_this_machine_s_once():
    now = datetime(2026, 11, 21, 15, 0).timestamp()
    at = datetime(2026, 11, 22, 0, 0).timestamp()
    here = datetime.fromtimestamp(at).astimezone().utcoffset().total_seconds()
    assert moment(at, now, "Asia/Tokyo", here + 9 * 3600) == "Tomorrow 00:00 (09:00 in Tokyo)"
    assert moment(at, now, "America/New_York", here - 5 * 3600) == "Tomorrow 00:00 (19:00 Sat in New York)"
    assert moment(at, now, "Europe/Berlin", here) == moment(at, now, "", None) == "Tomorrow 00:00"
    row = JobRow(Job("1", "n", "m", "0 9 * * *", zone="Asia/Tokyo"), at, None, next_ahead_s=here + 9 * 3600)
    assert state_of(row, now) == "Next: Tomorrow 00:00 (09:00 in Tokyo)"
    assert state_of(replace(row, problem="No such zone."), now) == "Cannot run: No such zone."
    assert state_of(replace(row, running=True, waiting=True), now) == "Waiting for its turn"


def test_times_that_have_passed_are_looked_up_again(page):
    times = [time.time() - 1, time.time() + 900]
    page.jobs.next_times = tuple(times)
    page.jobs._tick()
    assert page.jobs.next_times[0] > time.time()
    assert page.form.next.text().startswith("Next: ")


def test_a_job_that_cannot_run_says_why_over_its_form(page):
    assert page.problem.isHidden()
    page.jobs.rows = tuple(replace(row, problem="No zone is called Foo/Bar.") for row in page.jobs.rows)
    page._state()
    assert page.problem.words == "It cannot run. No zone is called Foo/Bar."
    assert page.problem.isVisibleTo(page)


@pytest.mark.spec("R-CRON-2", "R-CRON-3")
def test_only_read_takes_the_admin_names_out_and_the_list_brings_them_back(page):
    page.form.kind.chosen.emit("reads")
    assert (page.jobs.draft.policy.allowed_tools, page.jobs.draft.policy.allow_admin) == (None, ())
    assert not page.form.admin.isVisibleTo(page)
    page.form.kind.chosen.emit("listed")
    assert page.jobs.draft.policy.allow_admin == ("bash",)
    assert page.jobs.draft.policy.allowed_tools == page.jobs.kept.policy.allowed_tools


def test_no_jobs_yet_is_said_only_once_the_jobs_were_read(theme: Any, qtbot: Any) -> None:
    class NoJobs(RecordingService):
        async def jobs(self) -> Any:
            return ()

    class Later(_Now):
        def __init__(self) -> None:
            super().__init__()
            self.waiting: list[Any] = []

        def spawn(self, work: Any, **options: Any) -> Any:
            self.waiting.append((work, options))

        def go_on(self) -> None:
            waiting, self.waiting = self.waiting, []
            for work, options in waiting:
                super().spawn(work, **options)

    bridge = Later()
    made = SchedulesPage(JobsViewModel(NoJobs(), bridge), lambda: AGENTS, SampleSetup())  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.show()
    assert not made._empty.isVisible()
    bridge.go_on()
    assert made._empty.isVisible()
    made._jobs._timer.stop()


def test_what_was_tomorrow_is_called_today_after_midnight(page):
    told = []
    page.jobs.checked.connect(lambda: told.append("form"))
    page.jobs.changed.connect(lambda: told.append("list"))
    page.jobs.next_times = (time.time() + 3600,)
    page.jobs._tick()
    assert told == [], "nothing is said anew while the day is the same"
    page.jobs._day = (2000, 1, 1)
    page.jobs._tick()
    assert sorted(told) == ["form", "list"]


@pytest.mark.spec("R-PRJ-1")
def test_the_folder_of_a_job_is_shown_and_written_into_its_draft(page):
    page.jobs.draft = replace(page.jobs.draft, project="/home/ida/tides")
    page.form.fill()
    assert page.form.project.text() == "/home/ida/tides"
    page.form._choose_project("/home/ida/report")
    assert page.jobs.draft.project == "/home/ida/report"


@pytest.mark.spec("R-ASK-1")
def test_a_job_is_put_at_the_edge_of_its_folder_and_says_so(page):
    assert not page.form.edge.isChecked()
    page.form.edge.click()
    assert page.jobs.draft.policy.at_edge
    assert page.form.summary.text().startswith(AT_EDGE)
    page.jobs.discard()
    assert not page.form.edge.isChecked()
    assert policy_words(JobPolicy(at_edge=True), admin_allowed=False) == f"{AT_EDGE} Beside that it only reads."


@pytest.mark.spec("R-MOD-1")
def test_how_its_model_answers_is_part_of_the_job_and_what_is_wrong_stands_at_its_field(page):
    form, jobs = page.form, page.jobs
    fields = form.settings
    assert (fields.is_open, jobs.draft.settings) == (False, {})
    fields.fold.click()
    temperature = fields.places["temperature"].control
    QTest.keyClicks(temperature, "0.3")
    QTest.keyClick(temperature, Qt.Key.Key_Return)
    assert jobs.draft.settings == {"temperature": 0.3}
    temperature.clear()
    QTest.keyClicks(temperature, "warm")
    QTest.keyClick(temperature, Qt.Key.Key_Return)
    assert jobs.draft.settings == {"temperature": "warm"}
    assert "a number from 0 to 2" in temperature.accessibleDescription()
    assert fields.first_wrong() is temperature
    temperature.clear()
    QTest.keyClick(temperature, Qt.Key.Key_Return)
    assert jobs.draft.settings == {}
